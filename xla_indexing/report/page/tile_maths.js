// Expressions and conditions of tile sizes, as their JSON says them.

/**
 * @typedef {{sizes: number[], indices: number[], runtimes: number[]}} TileValues
 */

/** Null if there is no closed form. @param {any} expr @param {TileValues} at @returns {number | null} */
export function tileValue(expr, at) {
  if (expr === null || typeof expr === 'number') return expr;
  if ('size' in expr) return at.sizes[expr.size] ?? null;
  if ('index' in expr) return at.indices[expr.index] ?? null;
  if ('runtime' in expr) return at.runtimes[expr.runtime] ?? 0;
  if ('if' in expr) {
    const holds = relationHolds(expr.if, at);
    return holds === null ? null : tileValue(holds ? expr.then : expr.else, at);
  }
  const [op, operands] = Object.entries(expr)[0];
  const values = operands.map((/** @type {any} */ operand) => tileValue(operand, at));
  if (values.some((/** @type {number | null} */ value) => value === null)) return null;
  const [a, b] = values;
  switch (op) {
    case 'sum':
      return values.reduce((/** @type {number} */ x, /** @type {number} */ y) => x + y, 0);
    case 'product':
      return a * b;
    case 'floordiv':
      return Math.floor(a / b);
    case 'ceildiv':
      return Math.ceil(a / b);
    case 'mod':
      return a - b * Math.floor(a / b);
    case 'min':
      return Math.min(a, b);
  }
  return null;
}

/** @param {any} literal @param {TileValues} at @returns {boolean | null} */
function relationHolds(literal, at) {
  const left = tileValue(literal.left, at);
  const right = tileValue(literal.right, at);
  if (left === null || right === null) return null;
  switch (literal.relation) {
    case '=':
      return left === right;
    case '<=':
      return left <= right;
    case '>=':
      return left >= right;
    case '>':
      return left > right;
    case 'multiple of':
      return right !== 0 && left % right === 0;
  }
  return null;
}

/** @param {any} set @param {number[]} sizes */
const setHas = (set, sizes) => set.sizes.some((/** @type {number[]} */ choice) =>
  choice.every((size, i) => size === sizes[set.dims[i]]));

/** Whether a condition holds; null: not decided here. @param {any} condition @param {TileValues} at */
export function conditionHolds(condition, at) {
  /** @type {boolean | null} */
  let all = true;
  for (const clause of condition.clauses) {
    /** @type {boolean | null} */
    let any = clause.or ? setHas(clause.or, at.sizes) : false;
    for (const alternative of clause.alternatives) {
      const literals = alternative.map((/** @type {any} */ literal) => relationHolds(literal, at));
      const holds = literals.includes(false) ? false : literals.includes(null) ? null : true;
      any = any === true || holds === true ? true : any === null || holds === null ? null : false;
    }
    all = all === false || any === false ? false : all === null || any === null ? null : true;
  }
  if (all !== true && condition.or && setHas(condition.or, at.sizes)) return true;
  return all === false && condition.by_points ? null : all;
}
