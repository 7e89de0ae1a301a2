// What everybody has to know at once: a lost connection, a login that is
// missing, a limit that is met, a model that is none.

import { h, arrange, byId, button, code } from './dom.js';
import { ago, exact, time } from './format.js';

/** Draws the banners whenever the store changes. */
export class Banners {
  #store;
  #link;
  #drawn = new Map();

  constructor(store, link) {
    this.#store = store;
    this.#link = link;
    store.watch(() => this.draw());
  }

  draw() {
    const { link, runtime } = this.#store;
    byId('link').dataset.state = link.state;
    byId('link').textContent = { connecting: 'Connecting…', live: 'Live', lost: 'Reconnecting…', out: 'Logged out' }[link.state];
    arrange(byId('banners'), [
      link.state === 'lost' && this.#banner('lost', 'warn', null, () => [h('strong', null, 'The runtime does not answer.'), ' What is shown may be old. The page reconnects by itself. ', button('Try now', () => this.#link.retry())]),
      link.state === 'out' && this.#banner('out', 'warn', null, () => [h('strong', null, 'You are logged out.'), ' A session ends after twelve hours and when the runtime restarts. ', button('Log in', () => location.reload())]),
      runtime?.login && this.#banner('login', 'warn', runtime.login, loginNeeded),
      runtime?.hold && !runtime.login && this.#banner('hold', 'warn', runtime.hold, held),
      runtime?.scripted && this.#banner('scripted', 'note', null, () => [h('strong', null, 'This is the built-in scripted model.'), ' It has no intelligence: it answers what its script says. Send ', code('help'), ' to see what it does. For a real one, start the runtime with ', code('OPENAI_API_KEY'), ' set, or after ', code('codex login'), '.']),
    ].filter(Boolean));
  }

  #banner(name, kind, data, make) {
    const now = JSON.stringify(data);
    let banner = this.#drawn.get(name);
    if (banner?.now !== now) {
      banner = { now, node: h('div', { class: 'banner ' + kind, id: 'banner-' + name, role: kind === 'warn' ? 'alert' : 'note' }, h('p', null, make(data))) };
      this.#drawn.set(name, banner);
    }
    return banner.node;
  }
}

function loginNeeded({ url, code: word, expiresAt }) {
  const at = time(expiresAt);
  const link = /^https?:\/\//i.test(url ?? '') ? h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, url) : url && code(url);
  return [h('strong', null, 'Codex needs a login.'), ' ', link && ['Open ', link], word && [' and enter ', code(word, { class: 'login-code' })], '. ',
    at && h('span', { title: exact(at) }, `The code is good until ${new Date(at).toLocaleTimeString('en-GB', { timeStyle: 'short' })}.`)].flat();
}

function held({ reason, until }) {
  const at = time(until);
  return [h('strong', null, 'No turn is started.'), ' ', h('span', { dir: 'auto' }, reason ?? ''), at && ` It goes on ${ago(at)}, ${exact(at)}.`];
}
