// What the URL's fragment says: `#kernel=12&tab=warp&at=1:3.40`, the kernel, the tab, and the element
// that is pinned, 3, 40 of array 1.

/** @typedef {{module: number, kernel: number, tab: string, pin: {array: number, element: number[]} | null}} Address */

/** @param {string} hash @returns {Address} */
export function readAddress(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const number = (/** @type {string} */ name) => (/^\d{1,9}$/.test(fields.get(name) ?? '') ? Number(fields.get(name)) : -1);
  const at = /^(\d{1,9}):(\d{1,15}(?:\.\d{1,15})*)?$/.exec(fields.get('at') ?? '');
  return {
    module: Math.max(0, number('module')), kernel: number('kernel'), tab: fields.get('tab') ?? '',
    pin: at ? {array: Number(at[1]), element: at[2] ? at[2].split('.').map(Number) : []} : null,
  };
}

/** @param {Address} address */
export function writeAddress(address) {
  const fields = [];
  if (address.module > 0) fields.push(`module=${address.module}`);
  if (address.kernel >= 0) fields.push(`kernel=${address.kernel}`);
  if (address.tab) fields.push(`tab=${address.tab}`);
  if (address.pin) fields.push(`at=${address.pin.array}:${address.pin.element.join('.')}`);
  return `#${fields.join('&')}`;
}
