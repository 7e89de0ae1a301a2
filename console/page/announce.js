// What a screen reader is told, and everybody else sees for a moment: changes
// of state, never text as it streams.

import { byId, say } from './dom.js';

let timer = 0;

/** Says text to who listens, and shows it unless it is to be seen anyway. */
export function announce(text, show = true) {
  const box = byId('said');
  say(box, text);
  box.classList.toggle('shown', show);
  clearTimeout(timer);
  timer = setTimeout(() => {
    box.classList.remove('shown');
    say(box, '');
  }, 5000);
}
