// The page's line to the runtime: its state and its tasks as they change, with
// a new connection whenever one is lost.

import { open, Refused } from './api.js';
import { begunAnew, sessionKey } from './session.js';
import { events } from './sse.js';

const shortest = 500;
const longest = 10_000;
const glance = 2000; // of a page that nobody sees
const between = 20_000; // two of them
const beginning = 1000; // of a connection, in which it tells of the newest tasks

/**
 * Follows /console/api/events for as long as the page lives. on.state and on.task
 * get what comes, on.told the ids of the tasks that a new connection began with.
 * on.neverIn is called where the session was never good for anything in this page,
 * on.inAgain where another tab has begun one in place of a session that had ended.
 * A page that nobody sees looks in now and then, for its title: browsers have six
 * connections for one host, and all its tabs share them.
 */
export class Link {
  #store;
  #on;
  #wake = () => {};
  #glanced = false; // the connection was given back, and not lost

  constructor(store, on) {
    this.#store = store;
    this.#on = on;
    addEventListener('online', () => this.retry());
    document.addEventListener('visibilitychange', () => !document.hidden && this.retry());
  }

  /** Ends the wait for the next attempt. */
  retry() {
    this.#wake();
  }

  async run() {
    for (let pause = shortest; ; pause = Math.min(pause * 2, longest)) {
      const key = sessionKey();
      try {
        await this.#follow(() => { pause = shortest / 2; });
      } catch (error) {
        if (error instanceof Refused && (error.status === 401 || error.status === 403)) {
          this.#store.setLink({ state: 'out', message: error.message });
          if (error.status === 401 && !this.#store.runtime) {
            this.#on.neverIn();
            return;
          }
          await begunAnew(key);
          this.#on.inAgain();
          continue;
        }
      }
      if (document.hidden && this.#store.link.state === 'live' && this.#glanced) {
        await this.#sleep(between);
        continue;
      }
      const wait = pause * (0.75 + Math.random() / 2);
      this.#store.setLink({ state: 'lost', since: this.#store.link.since ?? Date.now() });
      await this.#sleep(wait);
    }
  }

  async #follow(heard) {
    const controller = new AbortController();
    this.#glanced = false;
    const told = new Set();
    let timer = 0;
    let first = 0;
    const seen = () => {
      clearTimeout(timer);
      if (!document.hidden) return;
      timer = setTimeout(() => {
        this.#glanced = this.#store.link.state === 'live';
        controller.abort();
      }, glance);
    };
    document.addEventListener('visibilitychange', seen);
    seen();
    try {
      const response = await open('events', { headers: { Accept: 'text/event-stream' }, signal: controller.signal });
      for await (const { event, data } of events(response, controller)) {
        heard();
        if (this.#store.link.state !== 'live') this.#store.setLink({ state: 'live' });
        const what = JSON.parse(data);
        if (event === 'task') told.add(what.id);
        first ||= setTimeout(() => this.#on.told(told), beginning);
        this.#on[event]?.(what);
      }
    } finally {
      clearTimeout(first);
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
    }
  }

  #sleep(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
