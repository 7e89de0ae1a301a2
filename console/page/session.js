// The page's half of the session. The browser sends the cookie to every port
// of the host, and what a page stores to none: it is kept for the origin, which
// has the port in it.

const name = 'session-key';

/** The key that each call shows; null if there is none. */
export function sessionKey() {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/**
 * Whether another tab has begun a session in place of that of key, which is what
 * ends one while it is in use. The answer with the new key may still be on its way.
 */
export async function loggedInAnew(key) {
  if (key && sessionKey() === key) await new Promise((resolve) => setTimeout(resolve, 1000));
  return ![null, key].includes(sessionKey());
}

/** Keeps the key for all tabs. Throws where the browser keeps nothing. */
export const keepSessionKey = (key) => localStorage.setItem(name, key);

export function forgetSessionKey() {
  try {
    localStorage.removeItem(name);
  } catch {
    // then there is none
  }
}

/** Waits until another tab has begun a session in place of that of key. */
export function begunAnew(key) {
  return new Promise((resolve) => {
    const look = () => {
      if ([null, key].includes(sessionKey())) return;
      removeEventListener('storage', look);
      resolve();
    };
    addEventListener('storage', look);
    look();
  });
}
