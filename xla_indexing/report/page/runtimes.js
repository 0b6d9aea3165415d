// The values that only the running program knows.
//
// A runtime variable is an element of an array, its *source*, put through a function such as a clamp. Which
// element that is may depend on the point: row 3 of a gather has the value tokens[3, 0], row 4 tokens[4, 0].
// So a value belongs to an element of a source, and is the same in all maps that read it.
//
// Nobody knows these values here. Until one is chosen, element e of a source has
//
//   least value + (sum of the indices of e) mod (number of values)
//
// so that a scalar has its least value, and a list of indices counts up.

import {evaluate, parseMap, usedVariables} from './maps.js';

/**
 * @typedef {{key: string, name: string, operand: number, leaf: number, low: number, high: number, isSingle: boolean}} Source
 *   `isSingle`: all points of all maps read one element of it
 * @typedef {{source: Source, map: IndexingMap, from: number[], ranges: number[], isSingle: boolean}} Binding
 *   `from`: the variable of the owner's map for each of the binding's; `ranges`: the range variables that the
 *   element depends on; `isSingle`: it depends on nothing
 */

/** The most values of a variable without bounds. */
const MANY = 2000;

/** A line as print-indexing writes it. @param {string} variable @param {any} drawn @param {string} name of the source */
export function bindingText(variable, drawn, name) {
  return `${variable}: ${name}, ${drawn.value}; ${drawn.map}${drawn.replica ? `; replica: ${drawn.replica}` : ''}`;
}

export class Runtimes {
  /**
   * @param {(drawn: any) => string} nameOf the source of a drawn binding
   * @param {Runtimes | null} outer whose values hold where none is chosen here
   */
  constructor(nameOf, outer = null) {
    this.nameOf = nameOf;
    this.outer = outer;
    /** @type {Map<string, Source>} */
    this.sources = outer ? outer.sources : new Map();
    /** @type {Map<string, number>} */
    this.chosen = new Map();
  }

  /**
   * The bindings of the runtime variables of a map.
   * @param {IndexingMap} map
   * @param {any[]} drawn
   * @returns {Binding[]}
   */
  bind(map, drawn) {
    const names = [...map.dims, ...map.ranges, ...map.runtimes].map((variable) => variable.name);
    /** @type {Binding[]} */
    const bindings = [];
    map.runtimes.forEach((variable, i) => {
      const element = parseMap(drawn[i].map);
      const local = [...element.dims, ...element.ranges, ...element.runtimes];
      const from = local.map(({name}) => names.indexOf(name));
      const used = new Set();
      for (const result of element.results) for (const v of usedVariables(result)) used.add(from[v]);
      /** @type {Set<number>} */
      const ranges = new Set();
      let isSingle = true;
      for (const v of used) {
        const [range, earlier] = [v - map.dims.length, v - map.dims.length - map.ranges.length];
        if (earlier >= 0) {
          bindings[earlier].ranges.forEach((r) => ranges.add(r));
          isSingle = isSingle && bindings[earlier].isSingle;
        } else {
          if (range >= 0) ranges.add(range);
          isSingle = false;
        }
      }
      const source = this.sourceOf(drawn[i], variable);
      source.isSingle = source.isSingle && isSingle;
      bindings.push({source, map: element, from, ranges: [...ranges], isSingle});
    });
    return bindings;
  }

  /** @param {any} drawn @param {Variable} variable */
  sourceOf(drawn, variable) {
    const operand = drawn.operand ?? -1;
    const leaf = drawn.leaf ?? 0;
    // Threads know a source inside the kernel by its name alone.
    const place = operand >= 0 ? `${operand}` : drawn.source.slice(drawn.source.lastIndexOf('/') + 1);
    const key = `${place}#${leaf}, ${drawn.value}`;
    const low = Number(variable.low ?? -MANY / 2);
    const high = Number(variable.high ?? low + MANY);
    let source = this.sources.get(key);
    if (!source) {
      source = {key, name: this.nameOf(drawn), operand, leaf, low, high, isSingle: true};
      this.sources.set(key, source);
    }
    source.low = Math.min(source.low, low);
    source.high = Math.max(source.high, high);
    return source;
  }

  /** @param {Source} source @param {number[]} element */
  valueOf(source, element) {
    if (this.chosen.size > 0) {
      const value = this.chosen.get(`${source.key}@${element}`);
      if (value !== undefined) return value;
    }
    if (this.outer) return this.outer.valueOf(source, element);
    const count = Math.max(1, source.high - source.low + 1);
    const sum = element.reduce((a, b) => a + b, 0);
    return source.low + (((sum % count) + count) % count);
  }

  /** @param {Source} source @param {number[]} element @param {number} value */
  choose(source, element, value) {
    this.chosen.set(`${source.key}@${element}`, value);
  }

  /**
   * The element that a binding reads at a point, and its value there.
   * @param {Binding} binding
   * @param {number[]} point dimensions, range variables and earlier runtime variables of the map
   */
  at(binding, point) {
    const element = evaluate(binding.map, binding.from.map((v) => point[v])).map(Number);
    return {element, value: this.valueOf(binding.source, element)};
  }

  /**
   * The values of all runtime variables at a point.
   * @param {Binding[]} bindings
   * @param {number[]} point dimensions and range variables
   */
  valuesAt(bindings, point) {
    const values = point.slice();
    for (const binding of bindings) values.push(this.at(binding, values).value);
    return values.slice(point.length);
  }
}
