// The keyboard. Single keys count only where nothing is being typed.

import { byId } from './dom.js';

/** Runs actions[key] for the keys of the table in index.html; Escape leaves a box. */
export function keys(actions) {
  const help = byId('keys');
  const off = byId('keys-off'); // speech becomes single keys, too
  off.checked = stored() === 'off';
  off.addEventListener('change', () => store(off.checked ? 'off' : 'on'));
  byId('keys-open').addEventListener('click', () => help.showModal());
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || event.metaKey || event.ctrlKey || event.altKey) return;
    const at = document.activeElement;
    const typing = at?.matches('input:not([type=radio], [type=checkbox]), textarea, select');
    if (event.key === 'Escape' && typing) return at.blur();
    if (typing || help.open || off.checked) return;
    if (event.key === '?') {
      event.preventDefault();
      help.showModal();
      return;
    }
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

/** What the browser keeps; one that keeps nothing has the keys on. */
function stored() {
  try {
    return localStorage.getItem('keys');
  } catch {
    return null;
  }
}

function store(value) {
  try {
    localStorage.setItem('keys', value);
  } catch {
    // it holds for this page
  }
}
