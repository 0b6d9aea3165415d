// The table of kernels: sorted, filtered, and as long as one wants to see it.

import {cut, el} from './dom.js';
import {bytesText, countText, isLarge, least, movedText, shareText, timeText, wastedText} from './numbers.js';
import {nameOf} from './sums.js';

/** Groups that are shown at a time, and those of one group. */
const PAGE = 100;

/** The margin within which accesses count as coalesced is the report's; here it is said of each. */
const isUncoalesced = (/** @type {any} */ analysis) => analysis.accesses.some((/** @type {any} */ a) => a.coalesced === false);

/** @type {{name: string, title: string, key: (group: any, report: any) => number | string, text: (group: any, report: any) => string}[]} */
const COLUMNS = [
  {name: 'kernel', title: 'Kernel', key: nameOf, text: nameOf},
  {name: 'time', title: 'Time', key: (group) => -group.totals.microseconds, text: (group) => timeText(group.totals.microseconds)},
  {name: 'share', title: '%', key: (group) => -group.totals.microseconds,
    text: (group, report) => shareText(group.totals.microseconds, report.totals.microseconds).replace('%', '')},
  {name: 'moved', title: 'Moved', key: (group) => -group.totals.traffic, text: (group) => movedText(group.totals)},
  {name: 'wasted', title: 'Wasted', key: (group) => -least(group.totals.bytes_wasted), text: (group) => wastedText(group.totals)},
  {name: 'runs', title: 'Runs', key: (group) => -least(group.runs), text: (group) => countText(group.runs)},
  {name: 'kind', title: 'Kind', key: (group, report) => report.analyses[group.analysis].kind, text: (group, report) => report.analyses[group.analysis].kind},
];

/**
 * @param {any} report
 * @param {(index: number) => void} onChoose with the position in the report's rows
 */
export function kernelTable(report, onChoose) {
  let sort = COLUMNS[1];
  let isUp = true;
  /** @type {Map<number, number[]>} of each analysis */
  const rowsOf = new Map();
  report.kernels.forEach((/** @type {any} */ row, /** @type {number} */ i) => rowsOf.set(row.analysis, [...(rowsOf.get(row.analysis) ?? []), i]));
  const large = report.groups.filter((/** @type {any} */ group) => isLarge(group.totals, report)).length;
  /** @type {Set<number>} analyses of the groups that are open */
  const open = new Set();
  let shown = Math.max(1, Math.min(large, PAGE));
  let chosen = -1;
  const filters = {text: '', opcode: '', uncoalesced: false, reread: false, inexact: false};
  const body = el('tbody');
  const count = el('span', {className: 'note', 'aria-live': 'polite'});
  const more = el('button', {type: 'button', onclick: () => { shown = Math.max(shown, PAGE) + PAGE * 10; draw(); }});
  const opcodes = [...new Set(report.kernels.map((/** @type {any} */ row) => row.opcode))].sort();
  const check = (/** @type {string} */ label, /** @type {'uncoalesced' | 'reread' | 'inexact'} */ name, /** @type {string} */ title) =>
    el('label', {title}, el('input', {type: 'checkbox', id: `filter-${name}`, onchange: (/** @type {any} */ event) => {
      filters[name] = event.target.checked;
      shown = PAGE;
      draw();
    }}), ` ${label}`);
  const controls = el('div', {className: 'filters'},
    el('input', {type: 'search', id: 'filter-text', placeholder: 'name, source, finding', 'aria-label': 'filter by text', oninput: (/** @type {any} */ event) => {
      filters.text = event.target.value.toLowerCase();
      shown = PAGE;
      draw();
    }}),
    el('select', {id: 'filter-opcode', 'aria-label': 'filter by opcode', onchange: (/** @type {any} */ event) => {
      filters.opcode = event.target.value;
      shown = PAGE;
      draw();
    }}, el('option', {value: ''}, 'all opcodes'), ...opcodes.map((opcode) => el('option', {value: opcode}, opcode))),
    check('uncoalesced', 'uncoalesced', 'some access takes more sectors than the margin allows'),
    check('re-read', 'reread', 'elements are read more than once, or something inside is recomputed'),
    check('not exact', 'inexact', 'something is over-approximate or undecided'), count);
  const heads = COLUMNS.map((column, i) => el('th', {scope: 'col', className: column.name, colSpan: i === 0 ? COLUMNS.length - 1 : 1},
    el('button', {type: 'button', onclick: () => {
      isUp = sort === column ? !isUp : true;
      sort = column;
      draw();
    }}, column.title)));

  const matches = (/** @type {any} */ row) => {
    const analysis = report.analyses[row.analysis];
    if (filters.opcode && row.opcode !== filters.opcode) return false;
    if (filters.uncoalesced && !isUncoalesced(analysis)) return false;
    if (filters.reread && !(analysis.reads_per_element > 1 || analysis.recomputed.length > 0)) return false;
    if (filters.inexact && analysis.exact && typeof row.runs === 'number') return false;
    if (!filters.text) return true;
    return [row.instruction, row.computation, row.op_name, row.source_file, ...row.findings.map((/** @type {any} */ finding) => finding.text), ...row.operands]
      .some((text) => text.toLowerCase().includes(filters.text));
  };

  const line = (/** @type {number} */ i, /** @type {string} */ className, /** @type {HTMLElement[]} */ cells) =>
    el('tr', {className, 'data-kernel': i, 'aria-selected': String(i === chosen), onclick: () => onChoose(i)}, ...cells);
  const link = (/** @type {number} */ i, /** @type {string} */ text) => el('button', {
    type: 'button', className: 'link', title: `${report.kernels[i].computation}/${report.kernels[i].instruction}`, onclick: (/** @type {Event} */ event) => {
      event.stopPropagation();
      onChoose(i);
    }}, text);

  /** @param {any} group @param {number[]} rows */
  function linesOf(group, rows) {
    const first = rows[0];
    const all = COLUMNS.length - 1;
    const opener = el('button', {type: 'button', className: 'open', 'aria-expanded': String(open.has(group.analysis)), 'aria-label': `the ${rows.length} kernels`,
      onclick: (/** @type {Event} */ event) => {
        event.stopPropagation();
        if (!open.delete(group.analysis)) open.add(group.analysis);
        draw();
      }}, `×${rows.length}`);
    const name = link(first, cut(report.kernels[first].instruction, 80));
    const lines = [
      line(first, 'name', [el('th', {scope: 'rowgroup', className: 'kernel', colSpan: all}, el('div', {className: 'group'}, name, rows.length > 1 ? opener : ''))]),
      line(first, 'counts', COLUMNS.slice(1).map((column) => el('td', {className: column.name}, column.text(group, report)))),
    ];
    const about = [group.op_name, group.findings.length > 0 ? `${bytesText(group.findings[0].bytes)} ${group.findings[0].text}` : ''].filter(Boolean);
    lines.push(...about.map((text) => line(first, 'finding', [el('td', {colSpan: all, title: text}, cut(text, 200))])));
    if (open.has(group.analysis)) {
      lines.push(...rows.slice(0, PAGE).map((i) => line(i, 'member', [el('td', {colSpan: all}, link(i, cut(report.kernels[i].instruction, 80)),
        el('div', {className: 'note'}, cut(report.kernels[i].op_name, 200)))])));
      if (rows.length > PAGE) lines.push(el('tr', {className: 'member'}, el('td', {colSpan: all}, `and ${rows.length - PAGE} more: a filter finds them`)));
    }
    return lines;
  }

  function draw() {
    const found = report.groups.map((/** @type {any} */ group) => ({group, rows: (rowsOf.get(group.analysis) ?? []).filter((i) => matches(report.kernels[i]))}))
      .filter((/** @type {any} */ {rows}) => rows.length > 0);
    const keyed = found.map((/** @type {any} */ of, /** @type {number} */ i) => ({...of, i, key: sort.key(of.group, report)}));
    keyed.sort((/** @type {any} */ a, /** @type {any} */ b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.i - b.i) * (isUp ? 1 : -1));
    heads.forEach((head, i) => head.setAttribute('aria-sort', COLUMNS[i] === sort ? (isUp ? 'ascending' : 'descending') : 'none'));
    body.replaceChildren(...keyed.slice(0, shown).flatMap((/** @type {any} */ {group, rows}) => linesOf(group, rows)));
    const kernels = keyed.reduce((/** @type {number} */ sum, /** @type {any} */ {rows}) => sum + rows.length, 0);
    count.textContent = `${kernels.toLocaleString('en')} of ${report.kernels.length.toLocaleString('en')} rows in ${keyed.length.toLocaleString('en')} groups`;
    const rest = keyed.slice(shown).filter((/** @type {any} */ {group}) => report.analyses[group.analysis].loop === undefined);
    const time = rest.reduce((/** @type {number} */ sum, /** @type {any} */ {group}) => sum + group.totals.microseconds, 0);
    more.hidden = keyed.length <= shown;
    more.textContent = `show ${(keyed.length - shown).toLocaleString('en')} more groups: ${shareText(time, report.totals.microseconds)} of the time`;
  }
  draw();
  return {
    element: el('div', {className: 'kernels'}, controls,
      el('div', {className: 'scroll'}, el('table', {}, el('caption', {}, 'Kernels; bytes are of all runs'), 
        el('colgroup', {}, ...COLUMNS.slice(1).map(({name}) => el('col', {className: name}))),
        el('thead', {}, el('tr', {}, heads[0]), el('tr', {}, ...heads.slice(1))), body)), more),
    choose: (/** @type {number} */ i) => {
      chosen = i;
      for (const tr of body.children) tr.setAttribute('aria-selected', String(Number(/** @type {HTMLElement} */ (tr).dataset.kernel) === i));
    },
  };
}
