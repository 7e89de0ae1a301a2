// Behind the login: keeps the key that came with its answer, and goes on to the
// console. The page with the key does not stay in the tab's history.

import { keepSessionKey } from './session.js';

try {
  keepSessionKey(document.querySelector('meta[name=session-key]').content);
  location.replace('/console');
} catch {
  document.getElementById('message').hidden = false;
}
