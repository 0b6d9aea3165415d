// Indexing maps: read from their text and evaluated.
//
// Numbers. Maps are of 64-bit integers, JavaScript's numbers are exact below 2^53. Every operation is
// done in numbers and checked; where a result is not a safe integer, the whole expression is computed
// again in BigInt. So results are exact: numbers where they are safe integers, BigInt beyond. Numbers
// and BigInt compare with one another.
//
// The text is that of print-indexing, and that of symbolic tiles, in which variables are multiplied
// (`k0 * t0`) and divided by one another, and ceildiv stands.

/**
 * @typedef {number | bigint} Int
 * @typedef {{op: 'int', value: Int} | {op: 'var', index: number}
 *   | {op: '+' | '-' | '*' | 'floordiv' | 'ceildiv' | 'mod', left: Expr, right: Expr}} Expr
 * @typedef {{name: string, low: Int | null, high: Int | null}} Variable  null: infinite
 * @typedef {{expr: Expr, low: Int | null, high: Int | null}} Constraint
 * @typedef {{dims: Variable[], ranges: Variable[], runtimes: Variable[], results: Expr[],
 *   constraints: Constraint[], empty: boolean}} IndexingMap
 *   Variables are numbered: dimensions, ranges, runtime variables.
 */

class UnsafeNumber extends Error {}

/** @param {number} value @returns {number} */
function safe(value) {
  if (!Number.isSafeInteger(value)) throw new UnsafeNumber();
  return value;
}

/** @param {string} digits @returns {Int} */
function integerOf(digits) {
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : BigInt(digits);
}

/**
 * Reads one map. Throws an Error that says what is wrong and where.
 * @param {string} text
 * @returns {IndexingMap}
 */
export function parseMap(text) {
  const tokens = text.match(/->|\d+|[A-Za-z_][A-Za-z_0-9.]*|[^\s]/g) ?? [];
  let at = 0;
  /** @type {Map<string, number>} */
  const variables = new Map();

  const fail = (/** @type {string} */ what) => {
    throw new Error(`expected ${what} at '${tokens.slice(at, at + 5).join(' ')}' in '${text.slice(0, 200)}'`);
  };
  const next = () => tokens[at];
  const take = (/** @type {string} */ token) => {
    if (tokens[at] !== token) fail(`'${token}'`);
    ++at;
  };
  const takeIf = (/** @type {string} */ token) => {
    if (tokens[at] !== token) return false;
    ++at;
    return true;
  };

  /** @returns {string[]} */
  const names = (/** @type {string} */ close) => {
    /** @type {string[]} */
    const list = [];
    while (!takeIf(close)) {
      if (list.length > 0) take(',');
      if (!/^[A-Za-z_]/.test(next() ?? '')) fail('a name');
      list.push(tokens[at++]);
    }
    return list;
  };
  /** @returns {Int | null} */
  const bound = () => {
    const negative = takeIf('-');
    if (takeIf('inf')) return null;
    if (!/^\d/.test(next() ?? '')) fail('a number');
    return integerOf((negative ? '-' : '') + tokens[at++]);
  };
  const interval = () => {
    take('[');
    if (takeIf(']')) return {low: 0, high: -1};
    const low = bound();
    take(',');
    const high = bound();
    take(']');
    return {low, high};
  };
  /** @returns {Expr} */
  const factor = () => {
    if (takeIf('-')) return {op: '*', left: {op: 'int', value: -1}, right: factor()};
    if (takeIf('(')) {
      const inner = sum();
      take(')');
      return inner;
    }
    const token = next() ?? '';
    if (/^\d/.test(token)) {
      ++at;
      return {op: 'int', value: integerOf(token)};
    }
    const index = variables.get(token);
    if (index === undefined) fail('an expression');
    ++at;
    return {op: 'var', index: /** @type {number} */ (index)};
  };
  /** @returns {Expr} */
  const product = () => {
    let left = factor();
    for (;;) {
      const op = next();
      if (op !== '*' && op !== 'floordiv' && op !== 'ceildiv' && op !== 'mod') return left;
      ++at;
      left = {op, left, right: factor()};
    }
  };
  /** @returns {Expr} */
  function sum() {
    let left = product();
    for (;;) {
      const op = next();
      if (op !== '+' && op !== '-') return left;
      ++at;
      left = {op, left, right: product()};
    }
  }

  let empty = false;
  if (takeIf('KNOWN')) {
    take('EMPTY');
    empty = true;
  }
  take('(');
  const dims = names(')');
  const ranges = takeIf('[') ? names(']') : [];
  const runtimes = takeIf('{') ? names('}') : [];
  [...dims, ...ranges, ...runtimes].forEach((name, i) => variables.set(name, i));
  take('->');
  /** @type {Expr[]} */
  const results = [];
  if (empty) {
    const count = Number(tokens[at++]);
    for (let i = 0; i < count; ++i) results.push({op: 'int', value: 0});
    take('results');
  } else {
    take('(');
    while (!takeIf(')')) {
      if (results.length > 0) take(',');
      results.push(sum());
    }
  }
  /** @type {Variable[]} */
  const declared = [...dims, ...ranges, ...runtimes].map((name) => ({name, low: null, high: null}));
  /** @type {Constraint[]} */
  const constraints = [];
  if (takeIf(',')) {
    take('domain');
    take(':');
    for (let i = 0; at < tokens.length; ++i) {
      if (i > 0) take(',');
      const expr = sum();
      take('in');
      const bounds = interval();
      if (i < declared.length) {
        if (expr.op !== 'var' || expr.index !== i) fail(`the interval of ${declared[i].name} before`);
        Object.assign(declared[i], bounds);
      } else {
        constraints.push({expr, ...bounds});
      }
    }
  }
  if (at < tokens.length) fail('the end');
  return {
    dims: declared.slice(0, dims.length),
    ranges: declared.slice(dims.length, dims.length + ranges.length),
    runtimes: declared.slice(dims.length + ranges.length),
    results, constraints, empty,
  };
}

/**
 * @param {Expr} expr
 * @param {Int[]} values of all variables; safe integers
 * @returns {number}
 */
function inNumbers(expr, values) {
  switch (expr.op) {
    case 'int':
      return safe(/** @type {number} */ (expr.value));
    case 'var':
      return safe(/** @type {number} */ (values[expr.index]));
  }
  const left = inNumbers(expr.left, values);
  const right = inNumbers(expr.right, values);
  switch (expr.op) {
    case '+':
      return safe(left + right);
    case '-':
      return safe(left - right);
    case '*':
      return safe(left * right) + 0;
    case 'mod': {
      if (right < 1) throw new RangeError(`a divisor of ${right}`);
      const remainder = left % right;
      return (remainder < 0 ? remainder + right : remainder) + 0;
    }
    case 'floordiv':
      if (right < 1) throw new RangeError(`a divisor of ${right}`);
      return (left - inMod(left, right)) / right + 0;
    case 'ceildiv':
      if (right < 1) throw new RangeError(`a divisor of ${right}`);
      return -((-left - inMod(-left, right)) / right) + 0;
  }
}

/** @param {number} left @param {number} right */
function inMod(left, right) {
  const remainder = left % right;
  return remainder < 0 ? remainder + right : remainder;
}

/**
 * @param {Expr} expr
 * @param {Int[]} values
 * @returns {bigint}
 */
function inBigInt(expr, values) {
  switch (expr.op) {
    case 'int':
      return BigInt(expr.value);
    case 'var':
      return BigInt(values[expr.index]);
  }
  const left = inBigInt(expr.left, values);
  const right = inBigInt(expr.right, values);
  if (expr.op === '+') return left + right;
  if (expr.op === '-') return left - right;
  if (expr.op === '*') return left * right;
  if (right < 1n) throw new RangeError(`a divisor of ${right}`);
  const remainder = ((left % right) + right) % right;
  if (expr.op === 'mod') return remainder;
  const floor = (left - remainder) / right;
  return expr.op === 'ceildiv' && remainder > 0n ? floor + 1n : floor;
}

/**
 * The value of an expression.
 * @param {Expr} expr
 * @param {Int[]} values of all variables
 * @returns {Int}
 */
export function evaluateExpr(expr, values) {
  try {
    return inNumbers(expr, values);
  } catch (error) {
    if (!(error instanceof UnsafeNumber)) throw error;
  }
  const value = inBigInt(expr, values);
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

/**
 * The results at a point, which need not be in the domain.
 * @param {IndexingMap} map
 * @param {Int[]} values of dimensions, ranges and runtime variables
 * @returns {Int[]}
 */
export function evaluate(map, values) {
  return map.results.map((result) => evaluateExpr(result, values));
}

/** @param {Int} value @param {{low: Int | null, high: Int | null}} bounds */
export function isWithin(value, bounds) {
  return (bounds.low === null || value >= bounds.low) && (bounds.high === null || value <= bounds.high);
}

/** @param {IndexingMap} map @returns {Variable[]} */
export function variablesOf(map) {
  return [...map.dims, ...map.ranges, ...map.runtimes];
}

/**
 * Whether the point is in the domain.
 * @param {IndexingMap} map
 * @param {Int[]} values
 */
export function contains(map, values) {
  return !map.empty && variablesOf(map).every((variable, i) => isWithin(values[i], variable)) &&
      map.constraints.every((constraint) => isWithin(evaluateExpr(constraint.expr, values), constraint));
}

/**
 * The variables that an expression uses.
 * @param {Expr} expr
 * @param {Set<number>} [into]
 * @returns {Set<number>}
 */
export function usedVariables(expr, into = new Set()) {
  if (expr.op === 'var') into.add(expr.index);
  if (expr.op !== 'var' && expr.op !== 'int') {
    usedVariables(expr.left, into);
    usedVariables(expr.right, into);
  }
  return into;
}
