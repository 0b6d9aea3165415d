// The tab `tiles`: what tile of each operand a tile of the result needs.

import {el, slider} from './dom.js';
import {Grid} from './grid.js';
import {colourOf, letterOf, swatchOf} from './paths.js';
import {conditionHolds, tileValue} from './tile_maths.js';

/** @param {any} view */
export function tilesTab(view) {
  const {drawing, paths} = view;
  const outputs = drawing ? [...new Set(paths.reads.map((/** @type {any} */ path) => path.output))] : [];
  if (outputs.length === 0) return el('p', {className: 'note'}, 'There are no maps to tile.');
  const body = el('div');
  const choice = el('select', {'aria-label': 'array of the result', onchange: () => show(Number(choice.value))},
    ...outputs.map((o) => el('option', {value: o}, view.nameOfArray(o))));

  function show(/** @type {number} */ output) {
    const array = drawing.arrays[output];
    const sizes = array.dimensions.map((/** @type {number} */ n) => Math.max(1, Math.min(n, n > 256 ? 64 : Math.ceil(n / 4))));
    const indices = array.dimensions.map(() => 0);
    const ofOutput = paths.reads.filter((/** @type {any} */ path) => path.output === output);
    const grids = new Map();
    const gridOf = (/** @type {number} */ number) => {
      if (!grids.has(number)) {
        const of = drawing.arrays[number];
        grids.set(number, new Grid(of.dimensions, view.nameOfArray(number), of.shape, {onSlice: () => draw()}));
      }
      return grids.get(number);
    };
    const list = el('ul', {className: 'conditions'});
    const controls = el('div', {className: 'controls pairs'});
    /** @type {any[]} */
    const ofIndices = [];
    array.dimensions.forEach((/** @type {number} */ n, /** @type {number} */ d) => {
      if (n <= 1) return;
      controls.append(slider(`tile size of d${d}`, 1, n, sizes[d], (value) => {
        sizes[d] = value;
        indices[d] = Math.min(indices[d], Math.ceil(n / value) - 1);
        draw();
      }).element);
      const index = slider(`tile along d${d}`, 0, n - 1, 0, (value) => {
        indices[d] = Math.min(value, Math.ceil(n / sizes[d]) - 1);
        index.set(indices[d]);
        draw();
      });
      ofIndices.push(index);
      controls.append(index.element);
    });
    const figures = el('div', {className: 'grids'});
    figures.append(gridOf(output).element);
    for (const path of ofOutput) if (!grids.has(path.operand)) figures.append(gridOf(path.operand).element);

    // Whether a square of a grid has an element of { offset + i * stride : i < size } in each dimension.
    const touches = (/** @type {any} */ grid, /** @type {any[]} */ box, /** @type {number} */ row, /** @type {number} */ column) =>
      box.every((range, dim) => {
        let [from, to] = [grid.position[dim], grid.position[dim]];
        if (dim === grid.row) [from, to] = [row * grid.rowStep, (row + 1) * grid.rowStep - 1];
        if (dim === grid.column) [from, to] = [column * grid.columnStep, (column + 1) * grid.columnStep - 1];
        const ends = [range.offset, range.offset + (range.size - 1) * range.stride];
        const [low, high] = [Math.min(...ends), Math.max(...ends)];
        if (to < low || from > high) return false;
        const stride = Math.abs(range.stride) || 1;
        const next = low + Math.ceil((Math.max(from, low) - low) / stride) * stride;
        return next <= Math.min(to, high);
      });

    function draw() {
      /** @type {Map<number, {box: any[], colour: string}[]>} */
      const boxes = new Map();
      const accent = getComputedStyle(document.documentElement).getPropertyValue('--accent').trim();
      boxes.set(output, [{colour: accent, box: array.dimensions.map((/** @type {number} */ n, /** @type {number} */ d) => (
        {offset: indices[d] * sizes[d], size: Math.min(sizes[d], n - indices[d] * sizes[d]), stride: 1}))}]);
      list.replaceChildren();
      for (const path of ofOutput) {
        const tile = path.drawn.tile;
        const letter = letterOf(path.number);
        const name = view.nameOfArray(path.operand);
        const swatch = swatchOf(path.number);
        if (!tile) {
          list.append(el('li', {}, swatch, ` ${letter} ${name}: there is no symbolic tile`));
          continue;
        }
        // Runtime variables have the values that belong to the first element of the tile.
        const first = [...indices.map((index, d) => index * sizes[d]), ...path.map.ranges.map((/** @type {any} */ range) => Number(range.low))];
        const at = {sizes, indices, runtimes: view.runtimes.valuesAt(path.bindings, first)};
        const box = tile.offsets.map((/** @type {any} */ offset, /** @type {number} */ i) => (
          {offset: tileValue(offset, at), size: tileValue(tile.sizes[i], at), stride: tileValue(tile.strides[i], at)}));
        const isKnown = box.every((/** @type {any} */ range) => range.offset !== null && range.size !== null && range.stride !== null);
        const text = isKnown ? box.map((/** @type {any} */ r) => `${r.offset}${r.size === 1 ? '' : `..+${r.size}${r.stride === 1 ? '' : ` by ${r.stride}`}`}`).join(', ') : 'no closed form';
        const failing = tile.conditions.map((/** @type {any} */ condition, /** @type {number} */ i) => (
          {holds: conditionHolds(condition, at), text: tile.texts[i] ?? 'a condition'}));
        const bad = failing.find((/** @type {any} */ c) => c.holds === false);
        const open = failing.find((/** @type {any} */ c) => c.holds === null);
        const verdict = path.reason ? `≥ ${path.reason}` : bad ? `✗ not a box: it would take ${bad.text}` :
          open ? `? decided point by point: ${open.text}` : '✓ exactly what full tiles read';
        list.append(el('li', {className: bad ? 'bad' : ''}, swatch, ` ${letter} `, el('b', {}, name), ` (${text}) `, el('span', {}, verdict)));
        if (isKnown && !bad) {
          if (!boxes.has(path.operand)) boxes.set(path.operand, []);
          boxes.get(path.operand).push({box, colour: colourOf(path.number)});
        }
      }
      for (const [number, grid] of grids) {
        const of = boxes.get(number) ?? [];
        // The slice of the first tile.
        if (of.length > 0 && number !== output) grid.moveTo(of[0].box.map((r) => r.offset));
        if (number === output) grid.moveTo(of[0].box.map((r) => r.offset));
        grid.colours = (/** @type {number} */ row, /** @type {number} */ column) =>
          of.filter(({box}) => touches(grid, box, row, column)).map(({colour}) => colour);
        grid.draw();
      }
    }
    body.replaceChildren(controls, list, figures);
    view.onRuntime = draw;
    draw();
  }
  show(outputs[0]);
  return el('div', {}, outputs.length > 1 ? el('label', {}, 'result ', choice) : '', body);
}
