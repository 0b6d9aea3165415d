// Elements of the page. Text that comes from the module is only ever set as textContent.

/**
 * @param {string} tag
 * @param {Record<string, any>} [properties] of the element; `data-..`, `aria-..` and `role` as
 *   attributes, `on..` as listeners
 * @param {...(Node | string | number | null)} children
 * @returns {HTMLElement}
 */
export function el(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/**
 * The same for SVG, whose properties are attributes.
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string | number | null)} children
 */
export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  return fill(element, properties, children, /*attributes=*/ true);
}

function fill(element, properties, children, attributes = false) {
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (attributes || /^(data|aria)-|^role$|^for$/.test(key)) element.setAttribute(key, String(value));
    else element[key] = value;
  }
  for (const child of children) {
    if (child !== null) element.append(typeof child === 'object' ? child : String(child));
  }
  return element;
}

/** Text cut to some length. @param {string} text @param {number} most */
export function cut(text, most) {
  return text.length <= most ? text : text.slice(0, most - 1) + '…';
}

/**
 * A slider with its number next to it, which can be typed.
 * @param {string} label
 * @param {number} low
 * @param {number} high
 * @param {number} value
 * @param {(value: number) => void} onChange
 */
export function slider(label, low, high, value, onChange) {
  const range = /** @type {HTMLInputElement} */ (el('input', {
    type: 'range', min: low, max: high, value, step: 1, disabled: high <= low, 'aria-label': label}));
  const number = /** @type {HTMLInputElement} */ (el('input', {
    type: 'number', min: low, max: high, value, step: 1, disabled: high <= low, 'aria-label': `${label}, as a number`}));
  const set = (/** @type {number} */ to, /** @type {boolean} */ tell) => {
    const within = Math.min(high, Math.max(low, Math.round(to) || 0));
    range.value = number.value = String(within);
    if (tell) onChange(within);
  };
  range.addEventListener('input', () => set(Number(range.value), true));
  number.addEventListener('change', () => set(Number(number.value), true));
  const element = el('label', {className: 'slider'}, el('span', {className: 'name', title: label}, cut(label, 28)), range, number);
  return {element, set: (/** @type {number} */ to) => set(to, false)};
}
