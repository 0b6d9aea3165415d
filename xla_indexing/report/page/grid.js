// An array as a grid of squares: two of its dimensions are shown, the others are chosen by sliders. An
// array of more than MOST_CELLS rows or columns is shown in bins, of which the caption says the size.

import {el, slider} from './dom.js';

/** The most rows and columns of squares. */
export const MOST_CELLS = 48;
const MOST_PIXELS = 240;

/** @typedef {{colours: string[], cells: Set<string>[]}} Layer */

export class Grid {
  /**
   * @param {number[]} dimensions
   * @param {string} name
   * @param {string} shape
   * @param {{onPoint?: (element: number[] | null, kind: 'hover' | 'pin') => void,
   *   onSlice?: () => void}} [events]
   */
  constructor(dimensions, name, shape, events = {}) {
    this.dimensions = dimensions;
    this.name = name;
    this.events = events;
    this.row = dimensions.length >= 2 ? dimensions.length - 2 : -1;
    this.column = dimensions.length >= 1 ? dimensions.length - 1 : -1;
    /** @type {number[]} */
    this.position = dimensions.map(() => 0);
    /** @type {((row: number, column: number) => string[]) | null} */
    this.colours = null;
    /** @type {((row: number, column: number) => string) | null} */
    this.describe = null;
    /** @type {number[] | null} */
    this.marked = null;
    this.canvas = /** @type {HTMLCanvasElement} */ (el('canvas', {tabIndex: 0, role: 'img'}));
    this.note = el('p', {className: 'note'});
    this.status = el('p', {className: 'status', 'aria-live': 'polite'});
    this.controls = el('div', {className: 'controls'});
    this.element = el('figure', {className: 'grid'},
      el('figcaption', {}, el('b', {title: name}, name.length > 40 ? name.slice(0, 39) + '…' : name), ' ', el('code', {}, shape)),
      this.canvas, this.note, this.status, this.controls);
    this.canvas.addEventListener('mousemove', (event) => this.point(this.elementAt(event), 'hover'));
    this.canvas.addEventListener('mouseleave', () => this.events.onPoint?.(null, 'hover'));
    this.canvas.addEventListener('click', (event) => this.point(this.elementAt(event), 'pin'));
    this.canvas.addEventListener('keydown', (event) => this.onKey(event));
    this.canvas.addEventListener('focus', () => this.point(this.position.slice(), 'hover'));
    this.makeControls();
    this.layOut();
  }

  isEmpty() {
    return this.dimensions.some((size) => size <= 0);
  }

  /** @param {number} dim */
  size(dim) {
    return dim < 0 ? 1 : Math.max(0, this.dimensions[dim]);
  }

  makeControls() {
    this.controls.replaceChildren();
    this.sliders = [];
    const rank = this.dimensions.length;
    if (rank > 2) {
      const choose = (/** @type {string} */ label, /** @type {'row' | 'column'} */ which) =>
        el('label', {}, `${label} `, el('select', {
          'aria-label': `${label} of ${this.name}`,
          onchange: (/** @type {Event} */ event) => {
            const chosen = Number(/** @type {HTMLSelectElement} */ (event.target).value);
            const other = which === 'row' ? 'column' : 'row';
            if (this[other] === chosen) this[other] = this[which];
            this[which] = chosen;
            this.makeControls();
            this.layOut();
            this.events.onSlice?.();
          }}, ...this.dimensions.map((size, i) => el('option', {value: i, selected: i === this[which]}, `d${i} (${size})`))));
      this.controls.append(el('div', {className: 'row'}, choose('rows', 'row'), choose('columns', 'column')));
    }
    for (let dim = 0; dim < rank; ++dim) {
      const isShown = dim === this.row || dim === this.column;
      if (this.size(dim) <= 1 || (isShown && this.step(dim) === 1)) continue;
      const control = slider(`d${dim}`, 0, this.size(dim) - 1, this.position[dim], (value) => {
        this.position[dim] = value;
        if (isShown) this.point(this.position.slice(), 'hover');
        else this.events.onSlice?.();
      });
      this.sliders.push({dim, control});
      this.controls.append(control.element);
    }
  }

  /** Elements of a square in a dimension that is shown. @param {number} dim */
  step(dim) {
    return Math.max(1, Math.ceil(this.size(dim) / MOST_CELLS));
  }

  layOut() {
    this.rowStep = this.step(this.row);
    this.columnStep = this.step(this.column);
    this.rows = Math.ceil(this.size(this.row) / this.rowStep);
    this.columns = Math.ceil(this.size(this.column) / this.columnStep);
    this.pixels = Math.max(3, Math.min(18, Math.floor(MOST_PIXELS / Math.max(1, this.rows, this.columns))));
    const scale = Math.max(2, window.devicePixelRatio || 1);
    this.scale = scale;
    this.canvas.width = Math.max(1, this.columns * this.pixels + 1) * scale;
    this.canvas.height = Math.max(1, this.rows * this.pixels + 1) * scale;
    this.canvas.style.width = `${this.canvas.width / scale}px`;
    this.canvas.style.height = `${this.canvas.height / scale}px`;
    const bins = this.rowStep > 1 || this.columnStep > 1;
    const sizes = [];
    if (this.row >= 0) sizes.push(`d${this.row} down`);
    if (this.column >= 0) sizes.push(`d${this.column} across`);
    this.note.textContent = this.isEmpty() ? 'no elements' : [
      sizes.join(', '),
      bins ? `a square is ${this.rowStep} × ${this.columnStep} elements` : ''].filter(Boolean).join('; ');
    this.draw();
  }

  /** What is shown, for images.js. */
  drawn() {
    return {row: this.row, column: this.column, rowStep: this.rowStep, columnStep: this.columnStep,
      fixed: this.dimensions.map((_, dim) => (dim === this.row || dim === this.column ? null : this.position[dim]))};
  }

  /** @param {MouseEvent} event */
  elementAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / this.pixels);
    const row = Math.floor((event.clientY - box.top) / this.pixels);
    if (row < 0 || row >= this.rows || column < 0 || column >= this.columns) return null;
    return this.elementOf(row, column);
  }

  /** The first element of a square. @param {number} row @param {number} column */
  elementOf(row, column) {
    const element = this.position.slice();
    if (this.row >= 0) element[this.row] = row * this.rowStep;
    if (this.column >= 0) element[this.column] = column * this.columnStep;
    return element;
  }

  /** @param {number[] | null} element @param {'hover' | 'pin'} kind */
  point(element, kind) {
    if (this.isEmpty()) return;
    if (element) this.moveTo(element);
    this.events.onPoint?.(element, kind);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const moves = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};
    const move = moves[event.key];
    if (move) {
      const element = this.position.slice();
      const go = (/** @type {number} */ dim, /** @type {number} */ by, /** @type {number} */ step) => {
        if (dim < 0) return;
        element[dim] = Math.min(this.size(dim) - 1, Math.max(0, element[dim] + by * (event.shiftKey ? 1 : step)));
      };
      go(this.row, move[0], this.rowStep);
      go(this.column, move[1], this.columnStep);
      this.point(element, 'hover');
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.point(this.position.slice(), 'pin');
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Shows the slice that has this element. @param {number[]} element */
  moveTo(element) {
    element.forEach((value, dim) => (this.position[dim] = Math.min(Math.max(0, value), Math.max(0, this.size(dim) - 1))));
    for (const {dim, control} of this.sliders) control.set(this.position[dim]);
  }

  draw() {
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d'));
    const style = getComputedStyle(document.documentElement);
    const empty = style.getPropertyValue('--cell').trim();
    const line = style.getPropertyValue('--cell-line').trim();
    const mark = style.getPropertyValue('--text').trim();
    context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    context.fillStyle = line;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const inner = this.pixels > 4 ? this.pixels - 1 : this.pixels;
    for (let row = 0; row < this.rows; ++row) {
      for (let column = 0; column < this.columns; ++column) {
        const [x, y] = [column * this.pixels + 1, row * this.pixels + 1];
        const colours = this.colours?.(row, column) ?? [];
        context.fillStyle = colours[0] ?? empty;
        context.fillRect(x, y, inner, inner);
        // Several ways to one square: a stripe for each.
        for (let i = 1; i < colours.length; ++i) {
          context.fillStyle = colours[i];
          const from = Math.round((i * inner) / colours.length);
          context.fillRect(x, y + from, inner, inner - from);
        }
      }
    }
    if (this.marked) {
      const row = this.row < 0 ? 0 : Math.floor(this.marked[this.row] / this.rowStep);
      const column = this.column < 0 ? 0 : Math.floor(this.marked[this.column] / this.columnStep);
      context.strokeStyle = mark;
      context.lineWidth = 2;
      context.strokeRect(column * this.pixels, row * this.pixels, this.pixels + 1, this.pixels + 1);
    }
  }

  /** @param {string} text */
  say(text) {
    this.status.textContent = text;
    this.canvas.setAttribute('aria-label', `${this.name}: ${text || 'arrow keys choose an element, Enter pins it'}`);
  }
}
