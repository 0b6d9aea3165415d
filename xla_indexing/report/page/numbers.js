// Counts of the report, which are numbers or {least, most}, as text.

/** @typedef {number | {least: number | null, most: number | null}} Count */

/** @param {Count | undefined} count */
export const least = (count) => (typeof count === 'number' ? count : count?.least ?? 0);

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** Rounded as the text of the report is. @param {number} bytes */
function bytesOf(bytes) {
  let value = bytes;
  let unit = 0;
  while (value >= 1023.95 && unit + 1 < UNITS.length) {
    value /= 1024;
    ++unit;
  }
  // A number and its unit stay on one line.
  return unit === 0 ? `${bytes}\u00a0B` : `${(Math.floor(value * 10 + 0.5) / 10).toFixed(1)}\u00a0${UNITS[unit]}`;
}

/** @param {Count | undefined} count @param {(n: number) => string} text */
function range(count, text) {
  if (count === undefined) return '?';
  if (typeof count === 'number') return text(count);
  const low = count.least ?? 0;
  if (count.most === null) return low === 0 ? '?' : `≥\u00a0${text(low)}`;
  const [a, b] = [text(low), text(count.most)];
  return a === b ? a : `${a} to ${b}`;
}

/** @param {Count | undefined} count */
export const bytesText = (count) => range(count, bytesOf);

/** @param {Count | undefined} count */
export const countText = (count) => range(count, (n) => n.toLocaleString('en'));

/** As the text of the report has it. @param {number} microseconds */
export function timeText(microseconds) {
  const [unit, scale] = microseconds >= 999950 ? ['s', 1e6] : microseconds >= 999.95 ? ['ms', 1e3] : microseconds >= 0.99995 ? ['µs', 1] : ['ns', 1e-3];
  return `${(microseconds / scale).toFixed(1)}\u00a0${unit}`;
}

/** @param {number} part @param {number} whole */
export const shareText = (part, whole) => (whole > 0 ? `${(100 * part / whole).toFixed(1)}%` : '–');

/** What sums have moved: at least the traffic where some sectors are not known. @param {any} totals */
export const movedText = (totals) => bytesText(totals.without_sectors === 0 ? totals.bytes_moved : {least: totals.traffic, most: null});

/** @param {any} totals */
export const wastedText = (totals) => (totals.without_sectors < totals.kernels ? bytesText(totals.bytes_wasted) : '?');

/** Whether something takes or moves a share of the whole that is worth a row. @param {any} totals @param {any} report */
export const isLarge = (totals, report) =>
  totals.microseconds >= 0.01 * report.totals.microseconds || totals.traffic >= 0.01 * report.totals.traffic;

/** @param {Count} count @param {Count} times @returns {Count} */
export function timesRuns(count, times) {
  if (typeof count === 'number' && typeof times === 'number') return count * times;
  const most = (/** @type {Count} */ c) => (typeof c === 'number' ? c : c.most);
  const [a, b] = [most(count), most(times)];
  return {least: least(count) * least(times), most: a === 0 || b === 0 ? 0 : a === null || b === null ? null : a * b};
}

/**
 * What elements are called that are accessed together: lanes of a warp, and of a CPU, which has none, neighbours.
 * @param {any} report
 */
export function wordsOf(report) {
  return report.platform === 'cpu' || report.machine === 'cpu'
    ? {tab: 'Neighbours', warp: 'group', lane: 'neighbour', lanes: 'neighbours', all: 'elements of the group'}
    : {tab: 'Warp', warp: 'warp', lane: 'lane', lanes: 'lanes', all: 'lanes of the warp'};
}
