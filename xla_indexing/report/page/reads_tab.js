// The tab `reads`: how many elements of the result read each element of an operand, and how often.

import {el} from './dom.js';
import {Grid} from './grid.js';
import {isBoxOnly, sizeOfImage} from './images.js';

/** Steps of the scale. */
const STEPS = 6;

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
    const colour = () => {
      /** @type {Map<string, number>} */
      const counts = new Map();
      let [low, high] = [Infinity, 0];
      for (let row = 0; row < grid.rows; ++row) {
        for (let column = 0; column < grid.columns; ++column) {
          const {count} = readsOf(grid.elementOf(row, column));
          counts.set(`${row},${column}`, count);
          [low, high] = [Math.min(low, count), Math.max(high, count)];
        }
      }
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
