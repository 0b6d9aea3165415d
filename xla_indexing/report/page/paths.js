// The ways in which a kernel's arrays are read: one for each map, with a letter and a colour.

import {el} from './dom.js';
import {parseMap} from './maps.js';

/**
 * @typedef {{number: number, output: number, operand: number, text: string, reason: string,
 *   bindings: Binding[], map: IndexingMap | null, drawn: any}} Path
 */

/** Colours that people tell apart whatever they see of red and green; letters for everybody. */
export const COLOURS = 6;

/** @param {number} number */
export function letterOf(number) {
  return number < 26 ? String.fromCharCode(65 + number) : letterOf(Math.floor(number / 26) - 1) + letterOf(number % 26);
}

/** @param {number} number */
export const colourOf = (number) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--path-${number % COLOURS}`).trim();

/** The colour as a square, which follows the page from the screen to paper. @param {number} number */
export const swatchOf = (number) => el('span', {className: 'swatch', style: `background:var(--path-${number % COLOURS})`});

/** A map that cannot be read is shown as text only. @param {string} text */
function tryParse(text) {
  try {
    return text ? parseMap(text) : null;
  } catch (error) {
    console.warn(String(error));
    return null;
  }
}

/**
 * The maps of a drawing: from the result (`reads`), and from the operands (`writes`).
 * @param {any} drawing
 * @param {Runtimes} runtimes
 * @returns {{reads: Path[], writes: Path[]}}
 */
export function pathsOf(drawing, runtimes) {
  /** @type {{reads: Path[], writes: Path[]}} */
  const paths = {reads: [], writes: []};
  for (const entry of drawing.entries) {
    for (const kind of /** @type {const} */ (['reads', 'writes'])) {
      for (const drawn of entry[kind]) {
        const map = tryParse(drawn.map);
        paths[kind].push({
          number: paths[kind].length, output: entry.output, operand: entry.operand, text: drawn.map,
          reason: drawn.reason ?? '', bindings: map ? runtimes.bind(map, drawn.bindings ?? []) : [], map, drawn});
      }
    }
  }
  return paths;
}
