// Doctor's checks, when somebody asks for them.

import { h, say, button } from './dom.js';
import { json } from './api.js';
import { announce } from './announce.js';
import { checks } from './checks.js';

/** A card with a button. Its node stays the same. */
export class Doctor {
  #result = h('div');
  #control = button('Run the checks', () => this.run());
  node = h('section', { class: 'card', id: 'card-doctor', 'aria-labelledby': 'card-doctor-title' },
    h('h2', { id: 'card-doctor-title' }, 'Doctor'), h('p', { class: 'quiet' }, 'Tries everything that a turn needs, and says what to do about what fails.'), this.#control, this.#result);

  async run() {
    this.#control.disabled = true;
    say(this.#control, 'Checking…');
    try {
      const { checks: list } = await json('doctor', { method: 'POST' });
      const bad = list.filter((check) => !check.ok).length;
      this.#result.replaceChildren(checks(list));
      announce(bad ? `${bad} of ${list.length} checks failed.` : `All ${list.length} checks are well.`);
    } catch (error) {
      this.#result.replaceChildren(h('p', { class: 'problem', role: 'alert' }, error.message));
    } finally {
      this.#control.disabled = false;
      say(this.#control, 'Run the checks again');
    }
  }
}
