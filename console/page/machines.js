// The machines that commands run on, and the button that has one drain.

import { h, say, arrange, button, prose } from './dom.js';
import { bytes, count, plural } from './format.js';
import { json } from './api.js';
import { announce } from './announce.js';

const states = {
  unknown: 'Not heard yet', doubted: 'Not heard for a moment', lost: 'Lost', refused: 'Does not let this runtime in',
};

/** How a machine stands, in words. */
export const stateWords = ({ state, draining, takes }) => states[state] ?? (draining ? 'Drains' : takes ? 'Takes turns' : 'Takes no turns');

/** What is known of a machine, but for its name and its button. */
export function about(m) {
  const heard = m.turns > 0;
  const labels = Object.entries(m.labels ?? {}).map(([name, value]) => `${name}=${value}`).sort().join(', ');
  const line = (...parts) => h('p', { class: 'quiet' }, parts.filter(Boolean).join(' · '));
  return [
    heard && h('meter', { min: 0, max: m.turns, value: m.taken, 'aria-label': `Turns that run on ${m.name}` }),
    line(heard && `${count(m.taken)} of ${plural(m.turns, 'turn')}${m.taken === m.mine ? '' : ` (${count(m.mine)} of this runtime)`}`,
      plural(m.conversations, 'conversation'), m.waiting > 0 && `${count(m.waiting)} waiting`),
    heard && line(m.cpus > 0 && `load ${m.load} of ${plural(m.cpus, 'CPU')}`, m.freeDisk > 0 && `${bytes(m.freeDisk)} free`, m.codex && `codex ${m.codex}`),
    labels && line(labels),
    m.why && h('p', { class: m.takes ? 'quiet' : 'problem', dir: 'auto' }, prose(m.why)),
  ].filter(Boolean);
}

/** A card with a row for each machine. The buttons stay the same, so that one can be pressed while the numbers change. */
export class Machines {
  #rows = new Map();
  #list = h('ul', { class: 'machines' });
  #notes = h('div');
  #failed = h('p', { class: 'problem', role: 'alert', hidden: true });
  node = h('section', { class: 'card', id: 'card-machines', 'aria-labelledby': 'card-machines-title' },
    h('h2', { id: 'card-machines-title' }, 'Machines'), this.#list, this.#notes, this.#failed);

  /** Shows how they stand now, and returns the card. */
  show({ list, waiting, trouble }) {
    const known = new Set(list.map(key));
    for (const name of this.#rows.keys()) if (!known.has(name)) this.#rows.delete(name);
    arrange(this.#list, list.map((machine) => this.#row(machine)));
    const notes = JSON.stringify([list.length, waiting, trouble]);
    if (this.#notes.dataset.drawn !== notes) {
      this.#notes.dataset.drawn = notes;
      this.#notes.replaceChildren(...[
        !list.length && h('p', { class: 'quiet' }, 'The list of machines is empty: no turn can run.'),
        waiting > 0 && h('p', null, h('strong', null, count(waiting)), waiting === 1 ? ' turn waits for a machine.' : ' turns wait for a machine.'),
        trouble && h('p', { class: 'problem', dir: 'auto' }, 'The list of machines cannot be read as a whole: ', prose(trouble)),
      ].filter(Boolean));
    }
    return this.node;
  }

  #row(machine) {
    let row = this.#rows.get(key(machine));
    if (!row) {
      row = { state: h('span', { class: 'took' }), about: h('div'), drawn: '' };
      row.control = button('', () => this.#tell(row));
      row.node = h('li', null, h('p', { class: 'machine' }, h('strong', { dir: 'auto', title: machine.address }, prose(machine.name)), row.state), row.about, row.control);
      this.#rows.set(key(machine), row);
    }
    row.machine = machine;
    const now = JSON.stringify(machine);
    if (row.drawn !== now) {
      row.drawn = now;
      say(row.state, stateWords(machine));
      row.about.replaceChildren(...about(machine));
      say(row.control, machine.draining ? 'Have it take turns' : 'Drain');
      row.control.hidden = machine.state !== 'up';
      row.control.title = machine.draining ? '' : 'It takes no new turns then, of any runtime; what runs there goes on.';
    }
    return row.node;
  }

  async #tell(row) {
    const { name, draining } = row.machine;
    row.control.disabled = true;
    this.#failed.hidden = true;
    try {
      await json(`machines/${encodeURIComponent(name)}/${draining ? 'undrain' : 'drain'}`, { method: 'POST' });
      announce(draining ? `${name} takes turns.` : `${name} takes no new turns.`);
    } catch (error) {
      say(this.#failed, error.message);
      this.#failed.hidden = false;
    } finally {
      row.control.disabled = false;
    }
  }
}

const key = ({ name, address }) => `${name} ${address}`; // two may have one name for a while
