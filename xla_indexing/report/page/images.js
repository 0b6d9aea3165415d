// What a map maps to from one element: sets of elements, kept as products.
//
// With dimensions fixed, a result depends on some of the range variables, also through the runtime
// variables whose elements depend on them (runtimes.js). Results and constraints that share range
// variables form a *part*; the image is the product of the parts' sets. A part is enumerated where its
// range variables have at most MAX_POINTS values together, and is otherwise the box of the values that
// its results may have, and said to be one.

import {evaluateExpr, isWithin, usedVariables} from './maps.js';

/**
 * @typedef {{results: number[], tuples: number[][], isBox: boolean,
 *   box: {low: number, high: number}[]}} ImagePart  `tuples`: distinct values of the results; of a
 *   box, none, and `box` holds the interval of each
 * @typedef {{parts: ImagePart[], rank: number}} Image
 */

/** The most values of range variables that are enumerated for one part. */
export const MAX_POINTS = 1 << 16;

/**
 * The parts of a map: which results, range variables, runtime variables and constraints go together.
 * @param {IndexingMap} map
 * @param {Binding[]} bindings of its runtime variables
 */
function partsOf(map, bindings) {
  const first = map.dims.length;
  const behind = first + map.ranges.length;
  const owner = map.ranges.map((_, i) => i);
  const find = (/** @type {number} */ i) => {
    while (owner[i] !== i) i = owner[i];
    return i;
  };
  const rangesIn = (/** @type {Expr} */ expr) => [...usedVariables(expr)].flatMap((v) =>
    v < first ? [] : v < behind ? [v - first] : bindings[v - behind].ranges);
  const join = (/** @type {number[]} */ list) => {
    for (const i of list) owner[find(i)] = find(list[0]);
  };
  map.results.forEach((result) => join(rangesIn(result)));
  map.constraints.forEach((constraint) => join(rangesIn(constraint.expr)));
  bindings.forEach((binding) => join(binding.ranges));
  /** @type {Map<number, {results: number[], ranges: number[], runtimes: number[], constraints: Constraint[]}>} */
  const parts = new Map();
  const part = (/** @type {number} */ key) => {
    let found = parts.get(key);
    if (!found) parts.set(key, (found = {results: [], ranges: [], runtimes: [], constraints: []}));
    return found;
  };
  map.ranges.forEach((_, i) => part(find(i)).ranges.push(i));
  bindings.forEach((binding, i) => {
    if (binding.ranges.length > 0) part(find(binding.ranges[0])).runtimes.push(i);
  });
  let constants = 0;
  map.results.forEach((result, i) => {
    const ranges = rangesIn(result);
    part(ranges.length > 0 ? find(ranges[0]) : --constants).results.push(i);
  });
  map.constraints.forEach((constraint) => {
    const ranges = rangesIn(constraint.expr);
    if (ranges.length > 0) part(find(ranges[0])).constraints.push(constraint);
  });
  const fixed = map.constraints.filter((constraint) => rangesIn(constraint.expr).length === 0);
  return {parts: [...parts.values()], fixed};
}

/** @type {WeakMap<IndexingMap, ReturnType<typeof partsOf>>} */
const knownParts = new WeakMap();

/**
 * The values that an expression may have, by interval arithmetic.
 * @param {Expr} expr
 * @param {{low: number, high: number}[]} bounds of the variables
 * @returns {{low: number, high: number}}
 */
function boundsOf(expr, bounds) {
  if (expr.op === 'int') return {low: Number(expr.value), high: Number(expr.value)};
  if (expr.op === 'var') return bounds[expr.index];
  const left = boundsOf(expr.left, bounds);
  const right = boundsOf(expr.right, bounds);
  switch (expr.op) {
    case '+':
      return {low: left.low + right.low, high: left.high + right.high};
    case '-':
      return {low: left.low - right.high, high: left.high - right.low};
    case '*': {
      const ends = [left.low * right.low, left.low * right.high, left.high * right.low, left.high * right.high];
      return {low: Math.min(...ends), high: Math.max(...ends)};
    }
    case 'mod':
      if (left.low >= 0 && left.high < right.low) return left;
      return {low: 0, high: right.high - 1};
    case 'floordiv':
      return {low: Math.floor(left.low / (left.low < 0 ? right.low : right.high)),
              high: Math.floor(left.high / (left.high < 0 ? right.high : right.low))};
    case 'ceildiv':
      return {low: Math.ceil(left.low / right.low) - 1, high: Math.ceil(left.high / right.low)};
  }
}

/**
 * What the map maps to from an element. No image where the element is not in the domain.
 * @param {IndexingMap} map
 * @param {number[]} dims
 * @param {Binding[]} bindings of its runtime variables
 * @param {Runtimes} runtimes their values
 * @returns {Image | null}
 */
export function imageOf(map, dims, bindings, runtimes) {
  if (map.empty) return null;
  if (!map.dims.every((variable, i) => isWithin(dims[i], variable))) return null;
  const behind = map.dims.length + map.ranges.length;
  const values = [...dims, ...map.ranges.map(() => 0), ...map.runtimes.map(() => 0)];
  const isSet = (/** @type {number} */ i) => {
    values[behind + i] = runtimes.at(bindings[i], values).value;
    return isWithin(values[behind + i], map.runtimes[i]);
  };
  for (let i = 0; i < bindings.length; ++i) {
    if (bindings[i].ranges.length === 0 && !isSet(i)) return null;
  }
  let structure = knownParts.get(map);
  if (!structure) knownParts.set(map, (structure = partsOf(map, bindings)));
  if (!structure.fixed.every((c) => isWithin(evaluateExpr(c.expr, values), c))) return null;
  /** @type {ImagePart[]} */
  const parts = [];
  for (const part of structure.parts) {
    let points = 1;
    for (const range of part.ranges) {
      points *= Number(map.ranges[range].high) - Number(map.ranges[range].low) + 1;
    }
    if (points <= 0) return null;
    if (points > MAX_POINTS) {
      const bounds = values.map((value) => ({low: Number(value), high: Number(value)}));
      for (const range of part.ranges) {
        bounds[map.dims.length + range] = {low: Number(map.ranges[range].low), high: Number(map.ranges[range].high)};
      }
      for (const i of part.runtimes) {
        bounds[behind + i] = {low: Number(map.runtimes[i].low ?? Number.MIN_SAFE_INTEGER),
          high: Number(map.runtimes[i].high ?? Number.MAX_SAFE_INTEGER)};
      }
      // A range variable by itself, without constraints, takes all its values: a box that is exact.
      const isExact = part.constraints.length === 0 && part.runtimes.length === 0 && part.results.length === 1 &&
          part.ranges.length === 1 && isShift(map.results[part.results[0]], map.dims.length + part.ranges[0]);
      parts.push({results: part.results, tuples: [], isBox: !isExact,
        box: part.results.map((result) => boundsOf(map.results[result], bounds))});
      continue;
    }
    /** @type {Map<string, number[]>} */
    const tuples = new Map();
    const at = part.ranges.map((range) => Number(map.ranges[range].low));
    for (let point = 0; point < points; ++point) {
      part.ranges.forEach((range, i) => (values[map.dims.length + range] = at[i]));
      if (part.runtimes.every(isSet) && part.constraints.every((c) => isWithin(evaluateExpr(c.expr, values), c))) {
        const tuple = part.results.map((result) => Number(evaluateExpr(map.results[result], values)));
        tuples.set(tuple.join(), tuple);
      }
      for (let i = at.length - 1; i >= 0; --i) {
        if (++at[i] <= Number(map.ranges[part.ranges[i]].high)) break;
        at[i] = Number(map.ranges[part.ranges[i]].low);
      }
    }
    if (tuples.size === 0) return null;
    parts.push({results: part.results, tuples: [...tuples.values()], isBox: false, box: []});
  }
  return {parts, rank: map.results.length};
}

/** Whether the expression is the variable plus what does not depend on it.
 * @param {Expr} expr @param {number} variable @returns {boolean} */
function isShift(expr, variable) {
  if (expr.op === 'var') return expr.index === variable;
  if (expr.op !== '+') return false;
  return (isShift(expr.left, variable) && !usedVariables(expr.right).has(variable)) ||
      (isShift(expr.right, variable) && !usedVariables(expr.left).has(variable));
}

/** @param {ImagePart} part */
const sizeOfPart = (part) =>
  part.box.length > 0 ? part.box.reduce((n, b) => n * (b.high - b.low + 1), 1) : part.tuples.length;

/** How many elements an image has. @param {Image} image */
export const sizeOfImage = (image) => image.parts.reduce((n, part) => n * sizeOfPart(part), 1);

/** Whether an image is larger than what the map says. @param {Image} image */
export const isBoxOnly = (image) => image.parts.some((part) => part.isBox);

/** @param {Image} image @param {number[]} element */
export function imageHas(image, element) {
  return image.parts.every((part) => part.box.length > 0
    ? part.results.every((result, i) => element[result] >= part.box[i].low && element[result] <= part.box[i].high)
    : part.tuples.some((tuple) => part.results.every((result, i) => tuple[i] === element[result])));
}

/**
 * Calls `visit` for the elements, at most `limit` of them. Returns whether that were all.
 * @param {Image} image
 * @param {number} limit
 * @param {(element: number[]) => void} visit
 */
export function forEachElement(image, limit, visit) {
  const element = new Array(image.rank).fill(0);
  let left = limit;
  const go = (/** @type {number} */ p) => {
    if (left <= 0) return;
    if (p === image.parts.length) {
      --left;
      visit(element.slice());
      return;
    }
    const part = image.parts[p];
    if (part.box.length === 0) {
      for (const tuple of part.tuples) {
        part.results.forEach((result, i) => (element[result] = tuple[i]));
        go(p + 1);
        if (left <= 0) return;
      }
      return;
    }
    const inBox = (/** @type {number} */ i) => {
      if (i === part.box.length) return go(p + 1);
      for (let v = part.box[i].low; v <= part.box[i].high && left > 0; ++v) {
        element[part.results[i]] = v;
        inBox(i + 1);
      }
    };
    inBox(0);
  };
  go(0);
  return sizeOfImage(image) <= limit;
}

/**
 * The cells of a drawing that elements of an image fall into: `rows` x `columns` of dimensions `row` and
 * `column` (-1: one row, one column), `step` elements each; all other dimensions are `fixed`, or, where
 * that is null, whatever they are.
 * @param {Image} image
 * @param {{row: number, column: number, rowStep: number, columnStep: number,
 *   fixed: (number | null)[]}} drawn
 * @returns {Set<string>} `row,column`
 */
export function cellsOf(image, drawn) {
  let pairs = [{row: 0, column: 0}];
  for (const part of image.parts) {
    /** @type {Map<string, {row: number | null, column: number | null}>} */
    const of = new Map();
    const add = (/** @type {number[]} */ tuple) => {
      /** @type {{row: number | null, column: number | null}} */
      const cell = {row: null, column: null};
      for (let i = 0; i < tuple.length; ++i) {
        const dim = part.results[i];
        if (dim === drawn.row) cell.row = Math.floor(tuple[i] / drawn.rowStep);
        else if (dim === drawn.column) cell.column = Math.floor(tuple[i] / drawn.columnStep);
        else if (drawn.fixed[dim] !== null && drawn.fixed[dim] !== tuple[i]) return;
      }
      of.set(`${cell.row},${cell.column}`, cell);
    };
    if (part.box.length === 0) {
      part.tuples.forEach(add);
    } else {
      // Bin by bin of what is drawn; of what is fixed, that value.
      const choices = part.results.map((dim, i) => {
        const {low, high} = part.box[i];
        const step = dim === drawn.row ? drawn.rowStep : dim === drawn.column ? drawn.columnStep : 0;
        const value = drawn.fixed[dim];
        if (step === 0) {
          if (value === null) return [low];
          return value >= low && value <= high ? [value] : [];
        }
        /** @type {number[]} */
        const list = [];
        for (let bin = Math.floor(low / step); bin <= Math.floor(high / step); ++bin) list.push(bin * step);
        return list;
      });
      const go = (/** @type {number} */ i, /** @type {number[]} */ tuple) => {
        if (i === choices.length) return add(tuple);
        for (const choice of choices[i]) go(i + 1, [...tuple, choice]);
      };
      go(0, []);
    }
    /** @type {{row: number, column: number}[]} */
    const next = [];
    for (const pair of pairs) {
      for (const cell of of.values()) {
        next.push({row: cell.row ?? pair.row, column: cell.column ?? pair.column});
      }
    }
    pairs = next;
    if (pairs.length === 0) break;
  }
  return new Set(pairs.map((pair) => `${pair.row},${pair.column}`));
}
