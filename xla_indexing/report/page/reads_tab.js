// The tab `reads`: how many elements of the result read each element of an operand, and how often.

import {el} from './dom.js';
import {Grid} from './grid.js';
import {isBoxOnly, sizeOfImage} from './images.js';

/** Steps of the scale. */
const STEPS = 6;
/** Milliseconds for which squares are counted before the page may do something else. */
const SLICE = 100;

/** @param {any} view */
export function readsTab(view) {
  const {drawing, paths} = view;
  const operands = drawing ? drawing.arrays.map((/** @type {any} */ _, /** @type {number} */ i) => i)
    .filter((/** @type {number} */ i) => drawing.arrays[i].operand >= 0) : [];
  if (operands.length === 0) return el('p', {className: 'note'}, 'It reads no arrays.');
  const out = el('div', {className: 'grids'});
  /** @type {(() => void)[]} */
  const recolour = [];
  view.onRuntime = () => recolour.forEach((colour) => colour());
  for (const number of operands) {
    const array = drawing.arrays[number];
    const from = paths.writes.filter((/** @type {any} */ path) => path.operand === number);
    const maps = from.filter((/** @type {any} */ path) => path.map !== null);
    const isBound = maps.length < from.length || maps.some((/** @type {any} */ path) => path.reason !== '');
    const legend = el('p', {className: 'legend'});
    const grid = new Grid(array.dimensions, view.nameOfArray(number), array.shape, {
      onPoint: (element) => grid.say(element ? `[${element.join(', ')}] is read ${says(element)}` : ''),
      onSlice: () => colour()});
    const readsOf = (/** @type {number[]} */ element) => {
      let count = 0;
      let isBox = false;
      for (const path of maps) {
        const image = view.imageOf(path, element);
        if (!image) continue;
        count += sizeOfImage(image);
        isBox = isBox || isBoxOnly(image);
      }
      return {count, isBox};
    };
    const says = (/** @type {number[]} */ element) => {
      const {count, isBox} = readsOf(element);
      return `${isBound || isBox ? 'at most ' : ''}${count.toLocaleString('en')} ${count === 1 ? 'time' : 'times'}`;
    };
    let latest = 0;
    // Counts all squares, and colours them at the end.
    const colour = () => {
      const mine = ++latest;
      /** @type {Map<string, number>} */
      const counts = new Map();
      const all = grid.rows * grid.columns;
      let high = 0;
      delete grid.canvas.dataset.most;
      const count = (/** @type {number} */ square) => {
        const started = performance.now();
        for (; square < all && performance.now() - started < SLICE; ++square) {
          const [row, column] = [Math.floor(square / grid.columns), square % grid.columns];
          const reads = readsOf(grid.elementOf(row, column)).count;
          counts.set(`${row},${column}`, reads);
          high = Math.max(high, reads);
        }
        if (square === all) {
          if (square > 0 && grid.status.textContent.startsWith('counting')) grid.say('');
          show(counts, high);
          return;
        }
        grid.say(`counting: ${square} of ${all} squares`);
        // Not where it is counted anew, or the tab was left.
        setTimeout(() => (mine === latest && grid.element.isConnected ? count(square) : undefined), 0);
      };
      count(0);
    };
    const show = (/** @type {Map<string, number>} */ counts, /** @type {number} */ high) => {
      const style = getComputedStyle(document.documentElement);
      const shade = (/** @type {number} */ count) => {
        if (count === 0) return [];
        const at = high <= 1 ? STEPS - 1 : Math.round((Math.log(count) / Math.log(high)) * (STEPS - 1));
        return [style.getPropertyValue(`--heat-${at}`).trim()];
      };
      grid.colours = (row, column) => shade(counts.get(`${row},${column}`) ?? 0);
      grid.draw();
      grid.canvas.dataset.most = String(high);
      legend.replaceChildren(el('span', {className: 'swatch empty'}), ' not read ');
      if (high > 0) {
        const steps = [...new Set(Array.from({length: STEPS}, (_, i) => Math.round(high ** (i / (STEPS - 1)))))];
        for (const count of steps) {
          legend.append(el('span', {className: 'item'}, el('span', {className: 'swatch', style: `background:${shade(count)[0]}`}), ` ${count.toLocaleString('en')}`));
        }
      }
      if (isBound) legend.append(' at most: a map is not exact');
    };
    if (!grid.isEmpty()) {
      colour();
      recolour.push(colour);
    }
    grid.element.append(legend);
    out.append(grid.element);
  }
  return el('div', {}, el('p', {className: 'note'},
    'How many elements of the result read an element, summed over the ways in which they do. A square of several elements shows its first.' +
    (view.runtimes.sources.size > 0 ? ' Values that only the running program knows are those above.' : '')), out);
}
