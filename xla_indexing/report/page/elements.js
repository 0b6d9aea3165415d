// The arrays of a kernel as grids: pointing at an element of the result lights up what it reads, pointing
// at an element of an operand lights up what reads it.

import {el, slider} from './dom.js';
import {Grid} from './grid.js';
import {cellsOf, forEachElement, isBoxOnly, sizeOfImage} from './images.js';
import {colourOf, letterOf, swatchOf} from './paths.js';

/** The most elements that are looked at to say whether some are in the slice that is shown. */
const MOST_LISTED = 100000;
/** The most values of the running program that are shown for an element. */
const MOST_VALUES = 6;

/** @typedef {{array: number, element: number[]}} Point */

/** @param {any} view */
export function elementsPart(view) {
  const {drawing, paths} = view;
  const out = el('div', {className: 'elements'});
  if (!drawing || drawing.arrays.length === 0) {
    out.append(el('p', {className: 'note'}, 'No arrays are drawn.'));
    return {element: out, lit: () => [], point: () => {}, restore: () => {}};
  }
  /** @type {Point | null} */
  let pinned = null;
  /** @type {Point | null} */
  let shown = null;

  const events = (/** @type {number} */ array) => ({
    onPoint: (/** @type {number[] | null} */ element, /** @type {'hover' | 'pin'} */ kind) => {
      if (kind === 'pin' && element) {
        const same = pinned && pinned.array === array && pinned.element.join() === element.join();
        pinned = same ? null : {array, element};
        view.onPin(pinned);
        show(pinned ?? {array, element});
      } else if (!pinned) {
        show(element ? {array, element} : null);
      }
    },
    onSlice: () => redraw(array),
  });
  /** @type {Grid[]} */
  const grids = drawing.arrays.map((/** @type {any} */ array, /** @type {number} */ i) =>
    new Grid(array.dimensions, view.nameOfArray(i), array.shape, events(i)));

  // The images of the element that is shown, by the array they are in.
  /** @type {Map<number, {path: any, image: any}[]>} */
  let images = new Map();

  function find() {
    images = new Map();
    if (!shown) return;
    const isResult = drawing.arrays[shown.array].operand < 0;
    for (const path of isResult ? paths.reads : paths.writes) {
      const [from, to] = isResult ? [path.output, path.operand] : [path.operand, path.output];
      if (from !== shown.array || !path.map) continue;
      const image = view.imageOf(path, shown.element);
      if (!image) continue;
      if (!images.has(to)) images.set(to, []);
      images.get(to)?.push({path, image});
    }
  }

  // The colour of a path from an operand is that of the first path to it that is the same way back.
  const colourOfPath = (/** @type {any} */ path) => {
    if (paths.reads.includes(path)) return colourOf(path.number);
    const back = paths.reads.filter((/** @type {any} */ p) => p.output === path.output && p.operand === path.operand);
    const among = paths.writes.filter((/** @type {any} */ p) => p.output === path.output && p.operand === path.operand);
    return colourOf(back[Math.min(among.indexOf(path), back.length - 1)]?.number ?? path.number);
  };

  function redraw(/** @type {number} */ array) {
    const grid = grids[array];
    const of = images.get(array) ?? [];
    const layers = of.map(({path, image}) => ({colour: colourOfPath(path), cells: cellsOf(image, grid.drawn())}));
    grid.colours = (row, column) => layers.filter(({cells}) => cells.has(`${row},${column}`)).map(({colour}) => colour);
    const isMarked = shown !== null && shown.array === array &&
        grid.drawn().fixed.every((value, dim) => value === null || value === shown?.element[dim]);
    grid.marked = isMarked ? shown?.element ?? null : null;
    grid.draw();
    if (shown && shown.array === array) {
      grid.say(`[${shown.element.join(', ')}]${pinned ? ', pinned' : ''}`);
    } else if (of.length > 0) {
      const isBox = of.some(({image}) => isBoxOnly(image));
      const isOver = of.some(({path}) => path.reason !== '');
      const counts = of.map(({path, image}) => `${paths.reads.includes(path) ? letterOf(path.number) + ': ' : ''}${sizeOfImage(image).toLocaleString('en')}`);
      const some = layers.some(({cells}) => cells.size > 0);
      grid.say(`${counts.join(', ')} ${of.length === 1 && sizeOfImage(of[0].image) === 1 ? 'element' : 'elements'}` +
          `${isBox ? ', at most: too many to enumerate' : isOver ? ', at most: the map is not exact' : ''}${some ? '' : '; none in this slice'}`);
    } else {
      grid.say(shown ? 'nothing' : '');
    }
    grid.canvas.dataset.lit = String(layers.reduce((n, {cells}) => n + cells.size, 0));
  }

  // Where nothing of an image is in the slice that is shown, the slice moves.
  function follow(/** @type {number} */ array) {
    const of = images.get(array) ?? [];
    const grid = grids[array];
    if (of.length === 0 || of.some(({image}) => cellsOf(image, grid.drawn()).size > 0)) return;
    forEachElement(of[0].image, 1, (element) => grid.moveTo(element));
  }

  function show(/** @type {Point | null} */ point) {
    shown = point;
    if (point && grids[point.array]) grids[point.array].moveTo(point.element);
    update();
    showValues();
  }

  function update() {
    find();
    grids.forEach((_, array) => {
      if (!shown || array !== shown.array) follow(array);
      redraw(array);
    });
  }

  const legend = el('ul', {className: 'legend'});
  for (const path of paths.reads) {
    legend.append(el('li', {}, swatchOf(path.number), ` ${letterOf(path.number)} `,
      `${view.nameOfArray(path.operand)} `, el('code', {title: path.text}, path.text.split(', domain:')[0] || `unknown: ${path.reason}`),
      path.text && path.reason ? el('span', {className: 'note', title: path.reason}, ' ≥ not exact') : ''));
  }
  // What only the running program knows: a slider for each value that all elements share, and for those that
  // the element that is shown has for itself.
  const controls = el('div', {className: 'controls'});
  const ownValues = el('div', {className: 'controls values'});
  const sources = [...view.runtimes.sources.values()];
  const valueSlider = (/** @type {any} */ source, /** @type {number[]} */ element) =>
    slider(element.length === 0 ? source.name : `${source.name}[${element.join(', ')}]`, source.low, source.high,
      view.runtimes.valueOf(source, element), (value) => {
        view.runtimes.choose(source, element, value);
        update();
        view.onRuntime();
      }).element;
  const several = sources.filter((source) => !source.isSingle);
  if (several.length > 0) {
    controls.append(el('p', {className: 'note'},
      `The values of ${[...new Set(several.map(({name}) => name))].join(', ')} are known only when the program runs, each ` +
      'element’s its own. Until you choose others they are made up, and count up from the least. Pin an element to choose the value that it uses.'));
  }
  // A constant element is the same in all maps.
  for (const path of [...paths.reads, ...paths.writes]) {
    for (const binding of path.bindings) {
      if (!binding.source.isSingle || controls.querySelector(`[data-source="${CSS.escape(binding.source.key)}"]`)) continue;
      controls.append(el('div', {'data-source': binding.source.key}, valueSlider(binding.source, view.runtimes.at(binding, []).element)));
    }
  }

  /** The elements of sources that the shown element's maps read, apart from those for which ranges decide. */
  function valuesOfShown() {
    /** @type {Map<string, {source: any, element: number[]}>} */
    const found = new Map();
    const add = (/** @type {any} */ source, /** @type {number[]} */ element) => found.set(`${source.key}@${element}`, {source, element});
    if (!shown) return [];
    const array = drawing.arrays[shown.array];
    for (const source of several) {
      if (source.operand >= 0 && source.operand === array.operand && source.leaf === array.leaf) add(source, shown.element);
    }
    for (const path of array.operand < 0 ? paths.reads : paths.writes) {
      if ((array.operand < 0 ? path.output : path.operand) !== shown.array || !path.map) continue;
      const point = [...shown.element, ...path.map.ranges.map(() => 0)];
      for (const binding of path.bindings) {
        const {element, value} = view.runtimes.at(binding, point);
        point.push(value);
        if (!binding.source.isSingle && binding.ranges.length === 0) add(binding.source, element);
      }
    }
    return [...found.values()];
  }

  function showValues() {
    const values = valuesOfShown();
    const left = values.length > MOST_VALUES ? [el('p', {className: 'note'}, `and ${values.length - MOST_VALUES} more`)] : [];
    ownValues.replaceChildren(...values.slice(0, MOST_VALUES).map(({source, element}) => pinned ? valueSlider(source, element) :
      el('p', {className: 'note value'}, `${source.name}[${element.join(', ')}] = ${view.runtimes.valueOf(source, element)}`)), ...left);
  }

  const figures = el('div', {className: 'grids'}, ...grids.map((grid, i) => {
    grid.element.classList.toggle('result', drawing.arrays[i].operand < 0);
    return grid.element;
  }));
  out.append(el('p', {className: 'note'}, 'Point at an element, or choose one with the arrow keys: what it reads, or what reads it, lights up. Click or Enter pins it.'),
    legend, controls, several.length > 0 ? ownValues : '', figures);
  if (drawing.left_out) out.append(el('p', {className: 'note'}, `Not drawn: ${drawing.left_out.join('; ')}.`));
  show(null);
  return {
    element: out,
    redraw: () => show(shown),
    /** Shows or pins an element. */
    point: (/** @type {number} */ array, /** @type {number[]} */ element, pin = false) => {
      pinned = pin ? {array, element} : null;
      show({array, element});
    },
    unpin: () => {
      pinned = null;
      view.onPin(null);
      show(null);
    },
    /** The elements that are lit, of each map that maps to an array. */
    lit: (limit = MOST_LISTED) => [...images].flatMap(([array, of]) => of.map(({path, image}) => {
      /** @type {number[][]} */
      const elements = [];
      const all = forEachElement(image, limit, (element) => elements.push(element));
      return {array, path: path.number, text: path.text, elements, isAll: all && !isBoxOnly(image)};
    })),
  };
}
