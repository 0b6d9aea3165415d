// The tabs next to the kernels: what is wrong, sums by module of the model, by source and by loop, and the path of a
// dependence.

import {cut, el} from './dom.js';
import {bytesText, isLarge, movedText, shareText, timeText, wastedText} from './numbers.js';

/** Rows that are shown before all are asked for. */
const FEW = 20;

/**
 * Rows of which those that matter are shown, and a button for the others.
 * @param {any[]} rows
 * @param {number} columns
 * @param {(row: any) => boolean} matters
 * @param {(row: any) => HTMLElement} draw
 * @param {(rest: any[]) => string} restText
 */
function few(rows, columns, matters, draw, restText) {
  const body = el('tbody');
  const split = rows.findIndex((row, i) => i >= FEW || !matters(row));
  const count = split < 0 ? rows.length : split;
  body.append(...rows.slice(0, count).map(draw));
  if (count < rows.length) {
    const more = el('tr', {className: 'more'}, el('td', {colSpan: columns}, el('button', {type: 'button', onclick: () => {
      more.replaceWith(...rows.slice(count).map(draw));
    }}, restText(rows.slice(count)))));
    body.append(more);
  }
  return body;
}

/** @param {any} report @param {'by_module' | 'by_source' | 'by_loop'} by */
export function sumsTable(report, by) {
  const whole = report.totals;
  const draw = (/** @type {any} */ sum) => el('tr', {},
    el('th', {scope: 'row', title: sum.name}, cut(sum.name, 300), el('div', {className: 'note'}, `${sum.kernels.toLocaleString('en')} kernels`)),
    el('td', {}, timeText(sum.microseconds), el('div', {className: 'note'}, shareText(sum.microseconds, whole.microseconds))),
    el('td', {}, movedText(sum)), el('td', {}, wastedText(sum)));
  const total = (/** @type {any[]} */ rest) => rest.reduce((sum, row) => sum + row.microseconds, 0);
  return el('div', {className: 'scroll sums'}, el('table', {},
    el('thead', {}, el('tr', {}, ...['Name', 'Time', 'Moved', 'Wasted'].map((name) => el('th', {scope: 'col'}, name)))),
    few(report[by], 4, (sum) => isLarge(sum, report), draw,
      (rest) => `${rest.length.toLocaleString('en')} more: ${shareText(total(rest), whole.microseconds)} of the time`)));
}

/** @param {any} report @param {(analysis: number) => void} onChoose */
export function findingsTable(report, onChoose) {
  /** @type {{group: any, finding: any}[]} */
  const all = report.groups.flatMap((/** @type {any} */ group) => group.findings.map((/** @type {any} */ finding) => ({group, finding})));
  all.sort((a, b) => b.finding.bytes - a.finding.bytes);
  if (all.length === 0) return el('p', {className: 'good'}, 'Nothing is known to be wrong.');
  const {traffic} = report.totals;
  const total = (/** @type {any[]} */ rest) => rest.reduce((sum, {finding}) => sum + finding.bytes, 0);
  return el('div', {className: 'scroll sums'}, el('table', {className: 'wrong'},
    el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'What is wrong'), el('th', {scope: 'col'}, 'Bytes'))),
    few(all, 2, ({finding}) => finding.bytes >= 0.01 * traffic, ({group, finding}) => el('tr', {},
      el('th', {scope: 'row'}, el('button', {type: 'button', className: 'link', title: group.name, onclick: () => onChoose(group.analysis)}, nameOf(group)),
        el('div', {className: 'why'}, finding.text)),
      el('td', {}, bytesText(finding.bytes), el('div', {className: 'note'}, shareText(finding.bytes, traffic)))),
      (rest) => `${rest.length.toLocaleString('en')} more: ${shareText(total(rest), traffic)} of the bytes`)));
}

/** The first kernel of a group and how many there are. @param {any} group */
export const nameOf = (group) => cut(group.name.slice(group.name.indexOf('/') + 1), 80) + (group.totals.kernels > 1 ? ` ×${group.totals.kernels}` : '');

const ANSWERS = {yes: 'The element depends on the last one', no: 'The element does not depend on it', undecided: 'That is not decided'};

/** The elements on the way from a result to an argument, as boxes with arrows. @param {any} path */
export function pathPart(path) {
  const answer = ANSWERS[/** @type {'yes' | 'no' | 'undecided'} */ (path.answer)];
  const box = (/** @type {any} */ step) => {
    const places = [
      step.op_name,
      step.source_file === '' ? '' : `${step.source_file}:${step.source_line}`,
      step.iterations.length > 0 ? `in iteration ${step.iterations.join(', ')}` : '',
      step.repeats > 1 ? `and in ${step.repeats - 1} before it` : '',
      step.runtime_values.length > 0 ? `where ${step.runtime_values.map((/** @type {any} */ v) => `${v.name} is ${v.value}`).join(', ')}` : '',
      step.reason === '' ? '' : `perhaps: ${step.reason}`,
    ];
    return el('li', {className: step.reason === '' ? '' : 'open'},
      el('code', {}, `${cut(step.instruction, 80)}[${step.element.join(', ')}]`), ` ${step.opcode}`,
      ...places.filter((text) => text !== '').map((text) => el('div', {className: 'note'}, cut(text, 300))));
  };
  return el('div', {className: 'scroll'},
    el('p', {className: 'what'}, `${answer}${path.reason === '' ? '' : `: ${path.reason}`}.`),
    el('ol', {className: 'chain'}, ...path.steps.map(box)));
}
