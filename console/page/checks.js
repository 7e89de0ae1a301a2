// A list of checks, as readiness and doctor make them.

import { h } from './dom.js';

/** Each check, with what is wrong and what to do if something is. */
export function checks(list) {
  return h('ul', { class: 'checks' }, list.map(({ name, ok, message, hint }) => h('li', { class: ok ? 'ok' : 'bad' },
    h('span', { class: 'mark', 'aria-hidden': 'true' }, ok ? '✓' : '✗'), h('span', { class: 'unheard' }, ok ? 'well: ' : 'not well: '),
    h('div', null, h('span', { class: 'name' }, name), message && h('span', { class: 'quiet message' }, message), !ok && hint && h('span', { class: 'hint' }, hint)))));
}
