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
  if (count.most === null) return low === 0 ? '?' : `≥ ${text(low)}`;
  const [a, b] = [text(low), text(count.most)];
  return a === b ? a : `${a} to ${b}`;
}

/** @param {Count | undefined} count */
export const bytesText = (count) => range(count, bytesOf);

/** @param {Count | undefined} count */
export const countText = (count) => range(count, (n) => n.toLocaleString('en'));

/** @param {Count} count @param {Count} times @returns {Count} */
export function timesRuns(count, times) {
  if (typeof count === 'number' && typeof times === 'number') return count * times;
  const most = (/** @type {Count} */ c) => (typeof c === 'number' ? c : c.most);
  const [a, b] = [most(count), most(times)];
  return {least: least(count) * least(times), most: a === 0 || b === 0 ? 0 : a === null || b === null ? null : a * b};
}
