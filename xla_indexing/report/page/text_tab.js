// The tab `text`: the maps as print-indexing prints them, which `--map` reads.

import {el} from './dom.js';
import {letterOf, swatchOf} from './paths.js';
import {bindingText} from './runtimes.js';

/** @param {any} view */
export function textTab(view) {
  const out = el('div');
  const all = [
    {title: 'From the result to the operands', of: view.paths.reads, isRead: true},
    {title: 'From the operands to the result', of: view.paths.writes, isRead: false},
  ];
  for (const {title, of, isRead} of all) {
    out.append(el('h4', {}, title));
    if (of.length === 0) out.append(el('p', {className: 'note'}, 'no maps'));
    for (const path of of) {
      const copied = el('span', {className: 'note', 'aria-live': 'polite'});
      const copy = el('button', {type: 'button', onclick: async () => {
        try {
          await navigator.clipboard.writeText(path.text);
          copied.textContent = 'copied';
        } catch {
          const range = document.createRange();
          range.selectNodeContents(text);
          getSelection()?.removeAllRanges();
          getSelection()?.addRange(range);
          copied.textContent = 'selected: copy it with the keyboard';
        }
      }}, 'copy');
      const text = el('pre', {tabIndex: 0}, path.text || `unknown: ${path.reason}`);
      const [from, to] = isRead ? [path.output, path.operand] : [path.operand, path.output];
      out.append(el('div', {className: 'map'},
        el('p', {}, isRead ? swatchOf(path.number) : '',
          isRead ? ` ${letterOf(path.number)} ` : '', `${view.nameOfArray(from)} → ${view.nameOfArray(to)} `, copy, ' ', copied),
        text,
        ...(path.drawn.bindings ?? []).map((/** @type {any} */ binding, /** @type {number} */ i) =>
          el('pre', {className: 'binding'}, bindingText(path.map?.runtimes[i]?.name ?? `rt${i}`, binding, view.nameOfSource(binding)))),
        path.text && path.reason ? el('p', {className: 'note'}, `over-approximate: ${path.reason}`) : ''));
    }
  }
  return out;
}
