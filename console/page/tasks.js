// The list of tasks: those that wait for somebody first.

import { h, say, arrange, byId, literal, prose } from './dom.js';
import { stateName, ago, exact, asks, plural } from './format.js';
import { call } from './api.js';

const pageSize = 60; // rows that are in the page at first

/** Draws the list whenever the store changes. */
export class TaskList {
  #store;
  #rows = new Map(); // by task id
  #list = byId('task-list');
  #limit = pageSize;
  #older = ''; // where older ones begin, null at the end
  #filter = '';
  #shown = '';

  constructor(store) {
    this.#store = store;
    byId('filter').addEventListener('input', (event) => {
      this.#filter = event.target.value.trim().toLowerCase();
      this.#limit = pageSize;
      this.draw();
    });
    byId('more-tasks').addEventListener('click', () => this.#more());
    store.watch(() => this.draw());
  }

  /** Marks the task that is shown. */
  select(id) {
    this.#shown = id;
    this.draw();
  }

  /** Opens the next or the previous task of the list. */
  step(by) {
    const ids = this.#matching().map((task) => task.id);
    const at = ids.indexOf(this.#shown);
    const id = ids[at < 0 ? 0 : Math.min(ids.length - 1, Math.max(0, at + by))];
    if (id) location.hash = `#/task/${encodeURIComponent(id)}`;
  }

  /** Shows the tasks in which the words of text are. */
  filter(text) {
    byId('filter').value = text;
    byId('filter').dispatchEvent(new Event('input'));
  }

  draw() {
    const all = this.#matching();
    const nodes = all.slice(0, this.#limit).map((task) => this.#row(task));
    arrange(this.#list, nodes);
    if (this.#rows.size > this.#store.tasks.size) for (const id of this.#rows.keys()) if (!this.#store.tasks.has(id)) this.#rows.delete(id);
    byId('no-tasks').hidden = all.length > 0;
    say(byId('no-tasks'), this.#filter ? 'No task of those here matches.' : 'No tasks yet. Send a message to begin.');
    byId('more-tasks').hidden = all.length <= this.#limit && (this.#older === null || this.#store.tasks.size < 50);
    const waiting = this.#store.ordered().filter((task) => task.question).length;
    const badge = byId('needs');
    badge.hidden = waiting === 0;
    say(badge, String(waiting));
    badge.title = `${plural(waiting, 'task')} ${waiting === 1 ? 'waits' : 'wait'} for somebody`;
    document.title = (waiting ? `(${waiting}) ` : '') + 'Codex runtime';
  }

  tick() {
    for (const { when, task } of this.#rows.values()) say(when, task.updated ? ago(task.updated) : '');
  }

  #matching() {
    const all = this.#store.ordered();
    if (!this.#filter) return all;
    return all.filter((task) => [task.title, task.contextId, task.caller, task.id, stateName(task.state)].some((text) => text?.toLowerCase().includes(this.#filter)));
  }

  #row(task) {
    let row = this.#rows.get(task.id);
    if (!row) {
      row = newRow(task.id);
      this.#rows.set(task.id, row);
    }
    const selected = task.id === this.#shown;
    if (row.task === task && row.selected === selected) return row.node;
    row.task = task;
    row.selected = selected;
    row.node.dataset.state = task.state;
    row.node.dataset.id = task.id;
    if (selected) row.link.setAttribute('aria-current', 'true');
    else row.link.removeAttribute('aria-current');
    if (row.said !== task.title) row.title.replaceChildren(...prose(task.title || 'Task ' + task.id));
    row.said = task.title;
    say(row.state, stateName(task.state) + (task.state === 'submitted' && task.ahead > 0 ? `, ${task.ahead} ahead` : ''));
    row.state.classList.toggle('asks', asks(task.state));
    row.caller.replaceChildren(...literal(task.caller ?? ''));
    say(row.when, task.updated ? ago(task.updated) : '');
    row.when.title = task.updated ? exact(task.updated) : '';
    return row.node;
  }

  /** Shows more rows, and asks for older tasks when those here are all shown. */
  async #more() {
    this.#limit += pageSize;
    while (this.#store.tasks.size < this.#limit && this.#older !== null) {
      const before = this.#store.tasks.size;
      const page = await call('ListTasks', { pageSize: 100, historyLength: 1, ...(this.#older && { pageToken: this.#older }) }).catch(() => null);
      if (!page) break;
      for (const task of page.tasks ?? []) this.#store.setA2A(task);
      this.#older = page.nextPageToken || null;
      if (this.#store.tasks.size === before && this.#older === null) break;
    }
    this.draw();
  }
}

function newRow(id) {
  const title = h('span', { class: 'title', dir: 'auto' });
  const state = h('span', { class: 'state' });
  const caller = h('span', { class: 'caller', dir: 'auto' });
  const when = h('span', { class: 'when' });
  const link = h('a', { href: `#/task/${encodeURIComponent(id)}` }, h('span', { class: 'dot', 'aria-hidden': 'true' }), title,
    h('span', { class: 'about' }, state, caller, when));
  return { node: h('li', null, link), link, title, state, caller, when };
}
