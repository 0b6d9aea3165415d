// The dataflow graph of a kernel, from parameters at the top to the root at the bottom.
//
// The layout is by hand: layers by the longest path from a parameter, and in them an order in which a
// node stands near those it is connected with (barycentres, a few sweeps). Libraries that do more
// (dagre, elkjs) weigh more than the whole page may.

import {cut, el, svg} from './dom.js';

const WIDTH = 148;
const HEIGHT = 38;
const GAP_X = 18;
const GAP_Y = 50;
/** With more nodes, edges are labelled where one points at only. */
const MOST_LABELLED = 24;

/**
 * The layer and the place in it of each node.
 * @param {number} count
 * @param {{from: number, to: number}[]} edges, each from a smaller number to a greater one
 */
export function layersOf(count, edges) {
  const layer = new Array(count).fill(0);
  for (let node = 0; node < count; ++node) {
    for (const edge of edges) if (edge.to === node) layer[node] = Math.max(layer[node], layer[edge.from] + 1);
  }
  // What nothing is computed for stands just above its first user.
  for (let node = count - 1; node >= 0; --node) {
    const users = edges.filter((edge) => edge.from === node).map((edge) => layer[edge.to]);
    if (users.length > 0) layer[node] = Math.max(layer[node], Math.min(...users) - 1);
  }
  /** @type {number[][]} */
  const layers = [];
  layer.forEach((l, node) => (layers[l] ??= []).push(node));
  for (let l = 0; l < layers.length; ++l) layers[l] ??= [];
  const place = new Array(count).fill(0);
  const number = () => layers.forEach((nodes) => nodes.forEach((node, i) => (place[node] = i - (nodes.length - 1) / 2)));
  number();
  for (let sweep = 0; sweep < 6; ++sweep) {
    const down = sweep % 2 === 0;
    for (const nodes of layers) {
      const centre = new Map(nodes.map((node) => {
        const near = edges.filter((e) => (down ? e.to : e.from) === node).map((e) => place[down ? e.from : e.to]);
        return [node, near.length > 0 ? near.reduce((a, b) => a + b, 0) / near.length : place[node]];
      }));
      nodes.sort((a, b) => centre.get(a) - centre.get(b));
    }
    number();
  }
  return {layers, layer, place};
}

/** A map without its domain. @param {string} map */
const shortMap = (map) => map.split(', domain:')[0].replace('  (over-approximate', ' (≥');

/** What an edge is labelled with: the results of its maps; nothing if an element reads its own. @param {string[]} maps */
function labelOf(maps) {
  const labels = maps.map((map) => {
    const [from, to] = shortMap(map).split(' -> ');
    return to === undefined ? '?' : from === to ? '' : to;
  });
  return [...new Set(labels)].every((label) => label === '') ? '' : labels.map((label) => label || '=').join(' ∪ ');
}

/**
 * @param {any} drawing
 * @param {any} row the kernel, which has names of its own where it shares the drawing with others
 */
export function drawGraph(drawing, row) {
  const nodes = drawing.nodes;
  const edges = drawing.edges;
  if (nodes.length === 0) return el('p', {className: 'note'}, 'no graph is drawn');
  const {layers, layer, place} = layersOf(nodes.length, edges);
  const widest = Math.max(...layers.map((l) => l.length));
  const width = widest * (WIDTH + GAP_X) + GAP_X;
  const height = layers.length * (HEIGHT + GAP_Y) - GAP_Y + 16;
  const x = (/** @type {number} */ n) => width / 2 + place[n] * (WIDTH + GAP_X);
  const y = (/** @type {number} */ n) => 8 + layer[n] * (HEIGHT + GAP_Y);
  const detail = el('p', {className: 'status', 'aria-live': 'polite'},
    'Point at an instruction or an edge for its maps.');
  const nameOf = (/** @type {any} */ node) => row.operands[node.operand ?? -1] ??
    (node.root && row.opcode !== 'fusion' && row.opcode !== 'while' ? row.instruction : node.name);
  const isLabelled = nodes.length <= MOST_LABELLED;
  const picture = svg('svg', {viewBox: `0 0 ${width} ${height}`, class: 'graph', role: 'group', style: `width: 100%; max-width: ${width}px; min-width: ${Math.round(width * 0.62)}px`,
    'aria-label': `dataflow graph of ${nodes.length} instructions`});
  edges.forEach((edge) => {
    // Edges to one node come in side by side, in the order of what they come from.
    const into = edges.filter((e) => e.to === edge.to).sort((a, b) => place[a.from] - place[b.from]);
    const port = ((into.indexOf(edge) + 1) / (into.length + 1) - 0.5) * WIDTH * 0.8;
    const [x1, y1, x2, y2] = [x(edge.from), y(edge.from) + HEIGHT, x(edge.to) + port, y(edge.to)];
    const middle = (y1 + y2) / 2;
    const maps = edge.maps ?? [];
    const text = labelOf(maps);
    const says = `${nameOf(nodes[edge.to])} reads ${nameOf(nodes[edge.from])}: ${maps.join('   ∪   ') || 'no map'}`;
    const show = () => (detail.textContent = cut(says, 600));
    const line = svg('path', {class: 'edge', d: `M ${x1} ${y1} C ${x1} ${middle}, ${x2} ${middle}, ${x2} ${y2 - 3}`,
      onmouseenter: show}, svg('title', {}, says));
    picture.append(line);
    if (isLabelled && text) {
      picture.append(svg('text', {class: 'edge-label', x: x1 * 0.6 + x2 * 0.4, y: y1 + 19, 'text-anchor': 'middle',
        onmouseenter: show}, cut(text, 24), svg('title', {}, says)));
    }
  });
  nodes.forEach((node, n) => {
    const name = nameOf(node);
    const kind = node.operand !== undefined || node.opcode === 'parameter' ? 'operand' : node.root ? 'root' : '';
    const label = `${name}: ${node.opcode} ${node.shape ?? ''}${n === drawing.hero ? ', the hero' : ''}`;
    const show = () => {
      const reads = edges.filter((edge) => edge.to === n).map((edge) =>
        `reads ${nameOf(nodes[edge.from])}: ${(edge.maps ?? []).map(shortMap).join(' ∪ ')}`);
      detail.textContent = cut([label, ...reads].join('; '), 600);
    };
    picture.append(svg('g', {class: `node ${kind} ${n === drawing.hero ? 'hero' : ''}`, tabindex: 0, role: 'img',
      'aria-label': label, onmouseenter: show, onfocus: show},
      svg('title', {}, label),
      svg('rect', {x: x(n) - WIDTH / 2, y: y(n), width: WIDTH, height: HEIGHT, rx: 4}),
      svg('text', {x: x(n), y: y(n) + 15, 'text-anchor': 'middle', class: 'node-name'}, cut(name, 22)),
      svg('text', {x: x(n), y: y(n) + 30, 'text-anchor': 'middle', class: 'node-kind'},
        cut(`${node.opcode} ${(node.shape ?? '').replace(/\{.*$/, '')}`, 25))));
  });
  return el('div', {}, el('div', {className: 'scroll'}, picture), detail);
}
