// What is shown of the kernel that is chosen.

import {cut, el} from './dom.js';
import {drawGraph} from './graph.js';
import {elementsPart} from './elements.js';
import {imageOf} from './images.js';
import {bytesText, countText, timeText, timesRuns, wordsOf} from './numbers.js';
import {pathsOf} from './paths.js';
import {readsTab} from './reads_tab.js';
import {Runtimes} from './runtimes.js';
import {textTab} from './text_tab.js';
import {tilesTab} from './tiles_tab.js';
import {warpTab} from './warp_tab.js';

/** @type {Record<string, {title: string, make: (view: any) => HTMLElement}>} */
const TABS = {
  warp: {title: 'Warp', make: warpTab},
  reads: {title: 'Reads', make: readsTab},
  tiles: {title: 'Tiles', make: tilesTab},
  text: {title: 'Text', make: textTab},
};

/** Rows of a computation that are named. */
const MOST_LINKS = 40;

export const TAB_NAMES = Object.keys(TABS);

/** @param {any} report @param {any} row */
function figuresOf(report, row) {
  const analysis = report.analyses[row.analysis];
  const isMoved = analysis.has_sectors;
  const aRun = row.runs === 1 ? '' : ' a run';
  const list = [
    [`Time${aRun}`, `≥\u00a0${timeText(analysis.microseconds)}`, `the least that ${report.machine} takes`],
    [`Wasted${aRun}`, isMoved ? bytesText(analysis.bytes_wasted) : 'not known', `moved and asked for by no ${wordsOf(report).lane}`],
    [`Moved${aRun}`, isMoved ? bytesText(analysis.bytes_moved) : 'not known', `${isMoved ? countText(analysis.sectors) : '?'} sectors`],
    [`At least${aRun}`, isMoved ? bytesText(timesRuns(analysis.least_sectors, report.sector_bytes)) : 'not known',
      `${isMoved ? countText(analysis.least_sectors) : '?'} sectors`],
    [`Read once${aRun}`, bytesText(analysis.bytes_read), 'of operands'],
    [`Written${aRun}`, bytesText(analysis.bytes_written), 'of the result'],
    ['Reads', analysis.reads_per_element === null ? '–' : Number(analysis.reads_per_element.toPrecision(4)).toLocaleString('en'),
      'of an element, where most'],
    ['Runs', countText(row.runs), row.runs_reason || 'in a run of the module'],
    ['Kind', analysis.kind, analysis.blocks ? `${countText(analysis.blocks)} blocks of ${analysis.threads_per_block} threads` : 'no emitter makes it'],
  ];
  if (analysis.loop) list.splice(-1, 0, ['Iterations', countText(analysis.loop.iterations), 'of the body, in a run of the loop']);
  return el('dl', {className: 'figures'}, ...list.map(([name, value, note]) =>
    el('div', {title: note}, el('dt', {}, name), el('dd', {}, value))));
}

/**
 * The rows of a computation, as buttons that choose them: those of a loop's body, the loop that a body belongs to.
 * @param {any} report
 * @param {string} title
 * @param {(row: any) => boolean} isMeant
 * @param {(index: number) => void} onChoose
 */
function linksTo(report, title, isMeant, onChoose) {
  /** @type {number[]} */
  const rows = report.kernels.flatMap((/** @type {any} */ row, /** @type {number} */ i) => (isMeant(row) ? [i] : []));
  if (rows.length === 0) return '';
  const links = rows.slice(0, MOST_LINKS).flatMap((i) => [
    el('button', {type: 'button', className: 'link', onclick: () => onChoose(i)}, cut(report.kernels[i].instruction, 60)), ' ']);
  return el('p', {className: 'links'}, `${title}: `, ...links, rows.length > MOST_LINKS ? `and ${rows.length - MOST_LINKS} more` : '');
}

/**
 * @param {any} report
 * @param {any} row
 * @param {{onPin: (point: any) => void, onTab: (tab: string) => void, onChoose: (index: number) => void}} events
 */
export function kernelView(report, row, events) {
  const analysis = report.analyses[row.analysis];
  const drawing = analysis.drawing ?? null;
  const nameOfSource = (/** @type {any} */ drawn) => {
    const name = row.operands[drawn.operand ?? -1];
    return cut(name === undefined ? drawn.source : drawn.leaf ? `${name}#${drawn.leaf}` : name, 200);
  };
  const runtimes = new Runtimes(nameOfSource);
  const paths = drawing ? pathsOf(drawing, runtimes) : {reads: [], writes: []};
  /** @type {string | null} */
  let tab = null;
  const view = {
    report, row, analysis, drawing, paths, runtimes, nameOfSource,
    /** What a path maps to from an element. */
    imageOf: (/** @type {any} */ path, /** @type {number[]} */ element) => imageOf(path.map, element, path.bindings, runtimes),
    nameOfArray: (/** @type {number} */ i) => {
      const array = drawing.arrays[i];
      if (array.operand < 0) {
        const several = drawing.arrays.filter((/** @type {any} */ a) => a.operand < 0).length > 1;
        return several ? `${cut(row.instruction, 200)} #${array.leaf}` : cut(row.instruction, 200);
      }
      const name = cut(row.operands[array.operand] ?? `operand ${array.operand}`, 200);
      return drawing.arrays.filter((/** @type {any} */ a) => a.operand === array.operand).length > 1 ? `${name} #${array.leaf}` : name;
    },
    // The waste of a drawn access: that of the access of the report with the same map.
    wasteOf: (/** @type {number} */ i) => {
      const drawn = drawing.accesses[i];
      const array = drawing.arrays[drawn.array];
      const same = analysis.accesses.find((/** @type {any} */ access) => access.map === drawn.map && access.leaf === array.leaf &&
        (access.access === 'write') === (drawn.write ?? false) && (drawn.write || access.operand_id === array.operand));
      const waste = same?.bytes_wasted ?? 0;
      return typeof waste === 'number' ? waste : waste.least ?? 0;
    },
    onPin: events.onPin,
    /** What the open tab does where values have changed; a tab sets it. @type {() => void} */
    onRuntime: () => {},
  };
  const elements = elementsPart(view);

  const source = [row.source_file ? `${row.source_file}${row.source_line ? `:${row.source_line}` : ''}` : '', row.op_name].filter(Boolean);
  const findings = el('ul', {className: 'findings'}, ...row.findings.map((/** @type {any} */ finding) =>
    el('li', {}, el('b', {}, bytesText(finding.bytes)), ` ${finding.text}`)));
  const notKnown = el('ul', {className: 'findings open'}, ...row.not_known.map((/** @type {string} */ text) => el('li', {}, `not exact: ${text}`)));

  const panel = el('div', {role: 'tabpanel', id: 'panel', tabIndex: 0});
  const buttons = TAB_NAMES.map((name) => el('button', {
    type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': 'panel', 'data-tab': name,
    onclick: () => openTab(name),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
      if (by === 0) return;
      const next = TAB_NAMES[(TAB_NAMES.indexOf(name) + by + TAB_NAMES.length) % TAB_NAMES.length];
      openTab(next);
      document.getElementById(`tab-${next}`)?.focus();
    }}, name === 'warp' ? wordsOf(view.report).tab : TABS[name].title));
  function openTab(/** @type {string} */ name) {
    tab = name in TABS ? name : TAB_NAMES[0];
    for (const button of buttons) {
      const isOpen = button.dataset.tab === tab;
      button.setAttribute('aria-selected', String(isOpen));
      button.tabIndex = isOpen ? 0 : -1;
    }
    panel.setAttribute('aria-labelledby', `tab-${tab}`);
    view.onRuntime = () => {};
    panel.replaceChildren(TABS[tab].make(view));
    events.onTab(tab);
  }

  const element = el('article', {className: 'kernel'},
    el('h2', {title: row.instruction}, row.instruction),
    el('p', {className: 'what'}, el('code', {}, `${row.opcode} ${row.shape}`), ` in ${row.computation}`),
    source.length > 0 ? el('p', {className: 'source'}, source.join('  ')) : '',
    figuresOf(report, row),
    row.opcode === 'fusion' && analysis.kernel && analysis.kernel !== `${row.computation}/${row.instruction}`
      ? el('p', {className: 'note'}, `Instructions inside have the names that they have in ${analysis.kernel}, which is equal up to names.`) : '',
    row.notes.length > 0 ? el('ul', {className: 'notes'}, ...row.notes.map((/** @type {string} */ text) => el('li', {}, text))) : '',
    row.body === undefined ? '' : linksTo(report, 'In its body', (other) => other.computation === row.body, events.onChoose),
    linksTo(report, `${row.computation} is the body of`, (other) => other.body === row.computation, events.onChoose),
    row.findings.length > 0 ? findings : el('p', {className: 'good'}, analysis.has_sectors && !analysis.loop ? 'Nothing is known to be wrong.' : ''),
    notKnown,
    el('div', {className: 'picture'},
      el('section', {}, el('h3', {}, 'Dataflow'), drawing ? drawGraph(drawing, row) : el('p', {className: 'note'}, 'not drawn')),
      el('section', {}, el('h3', {}, 'Elements'), elements.element)),
    el('div', {role: 'tablist', className: 'tabs', 'aria-label': 'more about this kernel'}, ...buttons), panel);
  return {element, view, elements, openTab, redraw: () => { elements.redraw?.(); if (tab) openTab(tab); }};
}
