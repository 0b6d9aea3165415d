// What the lanes of one warp ask memory for at once.

import {contains, evaluate, parseMap} from './maps.js';

/**
 * @typedef {{lane: number, elements: number[][], bits: number[]}} Lane  `elements`: of the array that
 *   is accessed, one for each element of a vector
 */

/**
 * An access of the report, ready to be evaluated.
 * @param {any} drawn
 * @param {any} array that is accessed
 * @param {Runtimes} runtimes
 */
export function accessOf(drawn, array, runtimes) {
  const map = parseMap(drawn.map);
  return {
    drawn, array, threads: parseMap(drawn.threads), map, runtimes, bindings: runtimes.bind(map, drawn.bindings ?? []),
    address: array.address ? parseMap(array.address) : null,
    threadsPerBlock: drawn.thread_sizes.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1),
    blocks: drawn.block_sizes.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1),
  };
}

/** Coordinates of a linear number, the fastest varying first. @param {number} number @param {number[]} sizes */
function coordinates(number, sizes) {
  return sizes.map((size) => {
    const digit = number % size;
    number = Math.floor(number / size);
    return digit;
  });
}

/**
 * The lanes of a warp, and what they access, those that access something.
 * @param {ReturnType<typeof accessOf>} access
 * @param {{block: number, warp: number, loops: number[], ranges: number[]}} at
 *   `loops`: of each range variable of the threads; of vectors, nothing. `ranges`: of the map's; of names, nothing
 * @param {number} warpSize
 * @returns {Lane[]}
 */
export function lanesOf(access, at, warpSize) {
  const {drawn, threads, map, address} = access;
  /** @type {Lane[]} */
  const lanes = [];
  const dims = new Array(threads.dims.length).fill(0);
  const blocks = coordinates(at.block, drawn.block_sizes);
  drawn.block_dims.forEach((/** @type {number} */ dim, /** @type {number} */ i) => (dims[dim] = blocks[i]));
  /** @type {number[][]} */
  let vectors = [at.loops.slice()];
  for (const range of drawn.vector_ranges) {
    const {low, high} = threads.ranges[range];
    vectors = vectors.flatMap((loops) => {
      const all = [];
      for (let v = Number(low); v <= Number(high); ++v) all.push(Object.assign(loops.slice(), {[range]: v}));
      return all;
    });
  }
  for (let lane = 0; lane < warpSize; ++lane) {
    const thread = at.warp * warpSize + lane;
    if (thread >= access.threadsPerBlock) break;
    const of = coordinates(thread, drawn.thread_sizes);
    drawn.thread_dims.forEach((/** @type {number} */ dim, /** @type {number} */ i) => (dims[dim] = of[i]));
    /** @type {Lane} */
    const found = {lane, elements: [], bits: []};
    for (const loops of vectors) {
      const values = [...dims, ...loops];
      if (!contains(threads, values)) continue;
      const point = [...evaluate(threads, values).map(Number), ...at.ranges];
      point.push(...access.runtimes.valuesAt(access.bindings, point));
      if (!contains(map, point)) continue;
      const element = evaluate(map, point).map(Number);
      found.elements.push(element);
      if (address) found.bits.push(Number(evaluate(address, element)[0]));
    }
    if (found.elements.length > 0) lanes.push(found);
  }
  return lanes;
}

/**
 * The bytes, sectors and lines of lanes, for an array that begins at a multiple of a line.
 * @param {Lane[]} lanes
 * @param {number} bits of an element
 * @param {number} sectorBytes
 */
export function costOf(lanes, bits, sectorBytes) {
  /** @type {Map<number, Set<number>>} */
  const sectors = new Map();
  const lines = new Set();
  let bytes = 0;
  for (const lane of lanes) {
    for (const first of lane.bits) {
      for (let byte = Math.floor(first / 8); byte <= Math.floor((first + bits - 1) / 8); ++byte) {
        const sector = Math.floor(byte / sectorBytes);
        if (!sectors.has(sector)) sectors.set(sector, new Set());
        const of = /** @type {Set<number>} */ (sectors.get(sector));
        if (!of.has(byte)) ++bytes;
        of.add(byte);
        lines.add(Math.floor(byte / 128));
      }
    }
  }
  return {sectors, bytes, lines: lines.size, least: Math.ceil(bytes / sectorBytes)};
}
