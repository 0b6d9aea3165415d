// The page: totals, the table of kernels, and the kernel that is chosen.

import {readAddress, writeAddress} from './address.js';
import {el} from './dom.js';
import {kernelView} from './kernel_view.js';
import {bytesText, timeText, wordsOf} from './numbers.js';
import {findingsTable, pathPart, sumsTable} from './sums.js';
import {kernelTable} from './table.js';

/** The reports that the page holds, one a line. @returns {any[]} */
function readReports() {
  const text = document.getElementById('reports')?.textContent ?? '';
  return text.split('\n').filter((line) => line.trim() !== '').map((line) => JSON.parse(line));
}

/** @param {any} report */
function totalsOf(report) {
  const {totals} = report;
  const list = [
    ['Time', `≥\u00a0${timeText(totals.microseconds)}`, 'the least that the machine takes for all kernels'],
    ['Wasted', bytesText(totals.bytes_wasted), `moved and asked for by no ${wordsOf(report).lane}`],
    ['Moved', bytesText(totals.bytes_moved), 'in sectors, with XLA’s threads'],
    ['Read once', bytesText(totals.bytes_read), 'elements of operands'],
    ['Written', bytesText(totals.bytes_written), 'elements of results'],
    ['Kernels', totals.kernels.toLocaleString('en'), `${totals.distinct_kernels.toLocaleString('en')} distinct${totals.loops > 0 ? `, and ${totals.loops.toLocaleString('en')} loops, whose kernels they are` : ''}`],
  ];
  const open = [];
  if (totals.without_sectors > 0) open.push(`the sectors of ${totals.without_sectors} kernels are not known and not in the sums`);
  if (totals.not_exact > 0) open.push(`${totals.not_exact} kernels are not exact`);
  if (totals.with_unknown_runs > 0) open.push(`how often ${totals.with_unknown_runs} kernels run is not known`);
  return el('div', {}, ...report.about.map((/** @type {string} */ text) => el('p', {className: 'note'}, text)), el('dl', {className: 'figures totals'}, ...list.map(([name, value, note]) =>
    el('div', {title: note}, el('dt', {}, name), el('dd', {}, value)))),
    open.length > 0 ? el('p', {className: 'note'}, `${open.join('; ')}.`) : '', adviceOf(report));
}

/**
 * What to do, the first three, with what each saves.
 * @param {any} report
 */
function adviceOf(report) {
  if (!report.advice?.length) return '';
  const savedBy = (/** @type {any} */ advice) => [
    advice.microseconds > 0 ? timeText(advice.microseconds) : '',
    advice.traffic > 0 ? `${bytesText(advice.traffic)} moved` : '',
    advice.memory > 0 ? `${bytesText(advice.memory)} of memory` : '',
  ].filter(Boolean).join(', ');
  const placeOf = (/** @type {any} */ advice) =>
    [advice.source_file ? `${advice.source_file}${advice.source_line ? `:${advice.source_line}` : ''}` : '', advice.op_name].filter(Boolean).join(' ');
  return el('section', {className: 'advice'}, el('h4', {}, 'What to do, each by itself, and what it saves'),
    el('ol', {className: 'findings'}, ...report.advice.slice(0, 3).map((/** @type {any} */ advice) =>
      el('li', {title: placeOf(advice)}, el('b', {}, savedBy(advice)), ` ${advice.text}`))));
}

/**
 * The table of kernels and the other tables, as tabs.
 * @param {any} report
 * @param {HTMLElement} kernels
 * @param {(analysis: number) => void} onChoose
 */
function sideParts(report, kernels, onChoose) {
  const parts = [
    ...(report.path ? [{name: 'Path', make: () => pathPart(report.path)}] : []),
    {name: 'Kernels', make: () => kernels},
    {name: 'What is wrong', make: () => findingsTable(report, onChoose)},
    {name: 'Modules', make: () => sumsTable(report, 'by_module')},
    {name: 'Source', make: () => sumsTable(report, 'by_source')},
    ...(report.by_loop.length > 0 ? [{name: 'Loops', make: () => sumsTable(report, 'by_loop')}] : []),
  ];
  const panel = el('div', {role: 'tabpanel', className: 'part', id: 'part'});
  const buttons = parts.map(({name, make}, i) => el('button', {type: 'button', role: 'tab', id: `part-${i}`, 'aria-controls': 'part', onclick: () => open(i),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
      if (by === 0) return;
      open((i + by + parts.length) % parts.length);
      buttons[(i + by + parts.length) % parts.length].focus();
    }}, name));
  function open(/** @type {number} */ i) {
    buttons.forEach((button, b) => {
      button.setAttribute('aria-selected', String(b === i));
      button.tabIndex = b === i ? 0 : -1;
    });
    panel.setAttribute('aria-labelledby', `part-${i}`);
    panel.replaceChildren(parts[i].make());
  }
  open(0);
  return [el('div', {role: 'tablist', className: 'tabs', 'aria-label': 'parts of the report'}, ...buttons), panel];
}

function start() {
  const reports = readReports();
  const main = /** @type {HTMLElement} */ (document.getElementById('main'));
  if (reports.length === 0) {
    main.append(el('p', {}, 'There is no module in this report.'));
    return;
  }
  const address = readAddress(location.hash);
  address.module = Math.min(address.module, reports.length - 1);
  // The first kernel that the table shows.
  const firstOf = (/** @type {any} */ report) =>
    report.kernels.findIndex((/** @type {any} */ row) => row.analysis === report.groups[0]?.analysis);
  if (location.hash.length < 2) address.kernel = firstOf(reports[address.module]);
  /** @type {ReturnType<typeof kernelView> | null} */
  let shown = null;
  /** @type {ReturnType<typeof kernelTable>} */
  let table;
  const pane = el('div', {className: 'pane', id: 'kernel'});
  const side = el('div', {className: 'side'});
  const keep = () => history.replaceState(null, '', writeAddress(address));

  function choose(/** @type {number} */ index) {
    const report = reports[address.module];
    const row = report.kernels[index];
    if (!row) return;
    if (address.kernel !== index) address.pin = null;
    address.kernel = index;
    shown = kernelView(report, row, {
      onPin: (point) => { address.pin = point; keep(); },
      onTab: (tab) => { address.tab = tab; keep(); },
      onChoose: choose,
    });
    pane.replaceChildren(shown.element);
    pane.scrollTop = 0;
    shown.openTab(address.tab);
    table.choose(index);
    if (address.pin) {
      const array = shown.view.drawing?.arrays[address.pin.array];
      const fits = array && array.dimensions.length === address.pin.element.length &&
          array.dimensions.every((/** @type {number} */ n, /** @type {number} */ i) => (address.pin?.element[i] ?? n) < n);
      if (fits) shown.elements.point(address.pin.array, address.pin.element, true);
      else address.pin = null;
    }
    keep();
  }

  function chooseModule(/** @type {number} */ module, /** @type {number} */ kernel) {
    address.module = module;
    const report = reports[module];
    document.title = `${report.module.slice(0, 200)}: memory traffic`;
    table = kernelTable(report, choose);
    const modules = reports.length < 2 ? '' : el('label', {}, 'module ', el('select', {onchange: (/** @type {any} */ event) => {
      address.pin = null;
      const chosen = Number(event.target.value);
      chooseModule(chosen, firstOf(reports[chosen]));
    }}, ...reports.map((r, i) => el('option', {value: i, selected: i === module}, r.module.slice(0, 80)))));
    side.replaceChildren(el('h1', {title: report.module}, report.module.slice(0, 200)), modules, totalsOf(report),
      ...sideParts(report, table.element, (analysis) => choose(report.kernels.findIndex((/** @type {any} */ row) => row.analysis === analysis))));
    pane.replaceChildren(el('p', {className: 'note'}, 'No kernel moves data.'));
    choose(Math.min(Math.max(0, kernel), report.kernels.length - 1));
  }

  main.append(side, pane);
  chooseModule(address.module, address.kernel);
  window.addEventListener('hashchange', () => {
    const next = readAddress(location.hash);
    Object.assign(address, next, {module: Math.min(next.module, reports.length - 1)});
    chooseModule(address.module, address.kernel);
  });
  window.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') shown?.elements.unpin?.();
  });
  // What is drawn as pixels has the colours of the time when it was drawn.
  for (const media of ['(prefers-color-scheme: dark)', 'print']) {
    matchMedia(media).addEventListener('change', () => shown?.redraw());
  }
  // For tests and for those who look with the console.
  Object.assign(window, {xlaReport: {
    reports, choose, point: (array, element, pin = false) => shown?.elements.point(array, element, pin), lit: () => shown?.elements.lit(),
  }});
}

start();
