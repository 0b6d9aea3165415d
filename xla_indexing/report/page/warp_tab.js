// The tab `warp`: lanes, the bytes each asks for, and the sectors that are touched.

import {cut, el, slider, svg} from './dom.js';
import {wordsOf} from './numbers.js';
import {Runtimes} from './runtimes.js';
import {accessOf, costOf, lanesOf} from './warp.js';

/** The most sectors that are drawn. */
const MOST_SECTORS = 96;

/**
 * @param {any} view of the kernel (kernel_view.js)
 */
export function warpTab(view) {
  const words = wordsOf(view.report);
  const drawn = view.drawing?.accesses ?? [];
  if (drawn.length === 0) {
    return el('p', {className: 'note'}, view.analysis.has_sectors === false
      ? 'The threads of this kernel are not modelled.' : 'It has no accesses that are drawn.');
  }
  // Values that are the same for the whole launch are those of the request; the others are the elements' own.
  const own = new Runtimes(view.nameOfSource, view.runtimes);
  const set = (/** @type {any} */ binding, /** @type {number} */ value) =>
    own.choose(binding.source, own.at(binding, []).element, value);
  const accesses = drawn.map((/** @type {any} */ access) => accessOf(access, view.drawing.arrays[access.array], own));
  const waste = (/** @type {number} */ i) => view.wasteOf(i);
  const order = drawn.map((/** @type {any} */ _, /** @type {number} */ i) => i)
    .sort((/** @type {number} */ a, /** @type {number} */ b) => waste(b) - waste(a));
  const out = el('div');
  const controls = el('div', {className: 'controls pairs'});
  const names = (/** @type {number} */ i) =>
    `${drawn[i].write ? 'write' : 'read'} ${view.nameOfArray(drawn[i].array)}: ${cut(drawn[i].map.split(', domain:')[0], 60)}`;
  const choice = el('select', {'aria-label': 'access', onchange: () => choose(Number(choice.value))},
    ...order.map((/** @type {number} */ i) => el('option', {value: i}, names(i))));
  /** @type {any} */
  let access;
  /** @type {any} */
  let at;

  function choose(/** @type {number} */ i) {
    access = accesses[i];
    const worst = access.drawn.worst;
    const low = (/** @type {any[]} */ variables) => variables.map((v) => Number(v.low ?? 0));
    at = {block: 0, warp: 0, loops: low(access.threads.ranges), ranges: low(access.map.ranges)};
    if (worst) {
      let stride = 1;
      worst.block.forEach((/** @type {number} */ digit, /** @type {number} */ k) => {
        at.block += digit * stride;
        stride *= access.drawn.block_sizes[k] ?? 1;
      });
      at.warp = Math.floor(worst.thread / view.report.warp_size);
      if (worst.loops.length === at.loops.length) at.loops = worst.loops.slice();
      if (worst.symbols.length === at.ranges.length + access.bindings.length) {
        at.ranges = worst.symbols.slice(0, at.ranges.length);
        access.bindings.forEach((/** @type {any} */ binding, /** @type {number} */ k) => {
          if (binding.isSingle) set(binding, worst.symbols[at.ranges.length + k]);
        });
      }
    }
    controls.replaceChildren();
    const warps = Math.ceil(access.threadsPerBlock / view.report.warp_size);
    const add = (/** @type {string} */ label, /** @type {number} */ least, /** @type {number} */ most, /** @type {number} */ value,
      /** @type {(v: number) => void} */ set) => {
      if (most > least) controls.append(slider(label, least, most, value, (v) => { set(v); draw(); }).element);
    };
    add('block', 0, access.blocks - 1, at.block, (v) => (at.block = v));
    add(`${words.warp} of the block`, 0, warps - 1, at.warp, (v) => (at.warp = v));
    access.threads.ranges.forEach((/** @type {any} */ range, /** @type {number} */ k) => {
      if (!access.drawn.vector_ranges.includes(k)) add(`loop ${range.name}`, Number(range.low), Number(range.high), at.loops[k], (v) => (at.loops[k] = v));
    });
    access.map.ranges.forEach((/** @type {any} */ range, /** @type {number} */ k) => {
      add(`range ${range.name}`, Number(range.low), Number(range.high), at.ranges[k], (v) => (at.ranges[k] = v));
    });
    for (const binding of access.bindings) {
      if (!binding.isSingle) continue;
      const {source} = binding;
      add(source.name, source.low, source.high, own.at(binding, []).value, (v) => set(binding, v));
    }
    view.onRuntime = draw;
    draw();
  }

  function draw() {
    const {array} = access;
    const lanes = lanesOf(access, at, view.report.warp_size);
    if (!access.address) {
      out.replaceChildren(el('p', {className: 'note'}, 'Where the elements of this array lie in memory is not known.'));
      return;
    }
    const sectorBytes = view.report.sector_bytes;
    const cost = costOf(lanes, array.bits, sectorBytes);
    const numbers = [...cost.sectors.keys()].sort((a, b) => a - b);
    const sectorOf = (/** @type {any} */ lane) => Math.floor(lane.bits[0] / 8 / sectorBytes);
    // The shade changes where a lane begins in another sector than the lane before it.
    /** @type {Map<number, number>} */
    const shades = new Map();
    lanes.forEach((lane, i) => {
      const last = i === 0 ? 0 : shades.get(lanes[i - 1].lane) ?? 0;
      shades.set(lane.lane, i > 0 && sectorOf(lane) !== sectorOf(lanes[i - 1]) ? 1 - last : last);
    });
    const first = numbers[0] ?? 0;
    out.dataset.sectors = String(numbers.length);
    out.dataset.bytes = String(cost.bytes);
    const table = el('div', {className: 'lanes', role: 'table', 'aria-label': words.all});
    for (let lane = 0; lane < view.report.warp_size; ++lane) {
      const of = lanes.find((l) => l.lane === lane);
      const byte = of ? Math.floor(of.bits[0] / 8) : null;
      const sector = byte === null ? null : Math.floor(byte / sectorBytes);
      const title = of ? `${words.lane} ${lane}: ${of.elements.map((e) => `[${e.join(', ')}]`).join(' ')}, byte ${byte}, sector ${sector}` : `${words.lane} ${lane}: nothing`;
      table.append(el('div', {role: 'cell', title, className: of ? `lane shade${shades.get(lane)}` : 'lane off'},
        el('b', {}, lane), el('span', {}, of ? `+${byte - first * sectorBytes}` : '–')));
    }
    const strip = svg('svg', {class: 'sectors', role: 'img', 'aria-label': `${numbers.length} sectors`,
      viewBox: `0 0 640 ${Math.ceil(Math.min(numbers.length, MOST_SECTORS) / 16) * 34 || 1}`});
    numbers.slice(0, MOST_SECTORS).forEach((sector, i) => {
      const [x, y] = [(i % 16) * 40, Math.floor(i / 16) * 34];
      const used = cost.sectors.get(sector);
      const title = svg('title', {}, `sector ${sector} (line ${Math.floor((sector * sectorBytes) / 128)}): ${used.size} of ${sectorBytes} bytes are asked for`);
      const group = svg('g', {}, title, svg('rect', {x: x + 1, y: y + 1, width: 36, height: 16, class: 'sector'}));
      for (const byte of used) {
        group.append(svg('rect', {x: x + 1 + ((byte % sectorBytes) * 36) / sectorBytes, y: y + 1, width: 36 / sectorBytes + 0.2, height: 16, class: `used shade${i % 2}`}));
      }
      group.append(svg('text', {x: x + 19, y: y + 28, 'text-anchor': 'middle'}, sector - first > 99999 ? '…' : `+${sector - first}`));
      strip.append(group);
    });
    const active = lanes.length;
    out.replaceChildren(
      el('p', {className: 'sentence', 'aria-live': 'polite'}, lanes.length === 0 ? `No ${words.lane} of this ${words.warp} is active here.` :
        `${active} ${active === 1 ? `${words.lane} asks` : `${words.lanes} ask`} for ${cost.bytes} bytes: ${numbers.length} ` +
        `${numbers.length === 1 ? 'sector' : 'sectors'} of ${sectorBytes} bytes, where ${cost.least} would do, in ${cost.lines} ` +
        `${cost.lines === 1 ? 'line' : 'lines'} of 128.`),
      el('p', {className: 'note'}, `Bytes count from the first sector that is touched; ${words.lanes} side by side of one shade begin in one sector.`),
      table, el('h4', {}, 'Sectors, and what of each is asked for'), strip,
      numbers.length > MOST_SECTORS ? el('p', {className: 'note'}, `and ${numbers.length - MOST_SECTORS} more`) : '');
  }

  choose(order[0]);
  choice.value = String(order[0]);
  return el('div', {},
    el('div', {className: 'row'}, el('label', {}, 'access ', choice),
      el('button', {type: 'button', onclick: () => choose(Number(choice.value))}, 'worst request')),
    controls, out);
}
