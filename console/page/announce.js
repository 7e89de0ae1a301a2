// What a screen reader is told, and everybody else sees for a moment: changes
// of state, never text as it streams.

import { byId, say } from './dom.js';

let timer = 0;

export function announce(text) {
  const box = byId('said');
  say(box, text);
  box.classList.add('shown');
  clearTimeout(timer);
  timer = setTimeout(() => {
    box.classList.remove('shown');
    say(box, '');
  }, 6000);
}
