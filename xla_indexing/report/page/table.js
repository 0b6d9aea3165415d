// The table of kernels: sorted, filtered, and as long as one wants to see it.

import {cut, el} from './dom.js';
import {bytesText, countText, least, timesRuns} from './numbers.js';

/** Rows that are shown at a time. */
const PAGE = 100;

/** The margin within which accesses count as coalesced is the report's; here it is said of each. */
const isUncoalesced = (/** @type {any} */ analysis) => analysis.accesses.some((/** @type {any} */ a) => a.coalesced === false);

/** @type {{name: string, title: string, key: (row: any, report: any) => number | string, text: (row: any, report: any) => string}[]} */
const COLUMNS = [
  {name: 'kernel', title: 'Kernel', key: (row) => row.instruction, text: (row) => row.instruction},
  {name: 'wasted', title: 'Wasted', key: (row) => -least(row.bytes_wasted),
    text: (row, report) => (report.analyses[row.analysis].has_sectors ? bytesText(row.bytes_wasted) : '?')},
  {name: 'moved', title: 'Moved', key: (row, report) => -least(timesRuns(report.analyses[row.analysis].bytes_moved ?? 0, row.runs)),
    text: (row, report) => (report.analyses[row.analysis].has_sectors ? bytesText(timesRuns(report.analyses[row.analysis].bytes_moved, row.runs)) : '?')},
  {name: 'efficiency', title: 'Effic.', key: (row, report) => efficiency(report.analyses[row.analysis]) ?? 2,
    text: (row, report) => {
      const value = efficiency(report.analyses[row.analysis]);
      return value === null ? '?' : `${Math.round(value * 100)}%`;
    }},
  {name: 'runs', title: 'Runs', key: (row) => -least(row.runs), text: (row) => countText(row.runs)},
  {name: 'reads', title: 'Reads', key: (row, report) => -(report.analyses[row.analysis].reads_per_element ?? 0),
    text: (row, report) => {
      const reads = report.analyses[row.analysis].reads_per_element;
      return reads === null ? '–' : Number(reads.toPrecision(3)).toLocaleString('en');
    }},
  {name: 'kind', title: 'Kind', key: (row, report) => report.analyses[row.analysis].kind, text: (row, report) => report.analyses[row.analysis].kind},
];

/** @param {any} analysis */
function efficiency(analysis) {
  if (!analysis.has_sectors || typeof analysis.sectors !== 'number' || typeof analysis.least_sectors !== 'number') return null;
  return analysis.sectors === 0 ? 1 : analysis.least_sectors / analysis.sectors;
}

/**
 * @param {any} report
 * @param {(index: number) => void} onChoose with the position in the report's rows
 */
export function kernelTable(report, onChoose) {
  let sort = COLUMNS[1];
  let isUp = true;
  let shown = PAGE;
  let chosen = -1;
  const filters = {text: '', opcode: '', uncoalesced: false, reread: false, inexact: false};
  const body = el('tbody');
  const count = el('span', {className: 'note', 'aria-live': 'polite'});
  const more = el('button', {type: 'button', onclick: () => { shown += PAGE * 10; draw(); }});
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
    return [row.instruction, row.computation, row.op_name, row.source_file, ...row.findings, ...row.operands]
      .some((text) => text.toLowerCase().includes(filters.text));
  };

  function draw() {
    /** @type {number[]} */
    const order = report.kernels.map((/** @type {any} */ _, /** @type {number} */ i) => i).filter((/** @type {number} */ i) => matches(report.kernels[i]));
    const keys = report.kernels.map((/** @type {any} */ row) => sort.key(row, report));
    order.sort((a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : a - b) * (isUp ? 1 : -1));
    heads.forEach((head, i) => head.setAttribute('aria-sort', COLUMNS[i] === sort ? (isUp ? 'ascending' : 'descending') : 'none'));
    body.replaceChildren(...order.slice(0, shown).flatMap((i) => {
      const row = report.kernels[i];
      const choose = () => onChoose(i);
      const line = (/** @type {string} */ className, /** @type {HTMLElement[]} */ cells) =>
        el('tr', {className, 'data-kernel': i, 'aria-selected': String(i === chosen), onclick: choose}, ...cells);
      const first = line('name', [el('th', {scope: 'rowgroup', className: 'kernel', colSpan: COLUMNS.length - 1},
        el('button', {type: 'button', className: 'link', title: `${row.computation}/${row.instruction}`, onclick: (/** @type {Event} */ event) => {
          event.stopPropagation();
          choose();
        }}, cut(row.instruction, 80)))]);
      const figures = line('counts', COLUMNS.slice(1).map((column) => el('td', {className: column.name}, column.text(row, report))));
      if (row.findings.length === 0) return [first, figures];
      return [first, figures, line('finding', [el('td', {colSpan: COLUMNS.length - 1, title: row.findings[0]}, cut(row.findings[0], 200))])];
    }));
    count.textContent = `${order.length.toLocaleString('en')} of ${report.kernels.length.toLocaleString('en')} rows`;
    more.hidden = order.length <= shown;
    more.textContent = `show ${Math.min(order.length - shown, PAGE * 10)} more`;
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
