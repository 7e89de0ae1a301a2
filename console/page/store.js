// What the page knows of the runtime, and who wants to hear of it.

import { soon } from './batch.js';
import { stateOf, time, asks, ended } from './format.js';

const most = 5000; // tasks that a page keeps that is open for long

/** The newest tasks come by themselves, older ones on demand. */
export class Store {
  runtime = null; // the object of /console/api/state
  link = { state: 'connecting' }; // connecting, live, lost (with retryAt), out
  tasks = new Map(); // by id
  #order = null;
  #views = [];

  /** Has view called before the next frame whenever something has changed. */
  watch(view) {
    this.#views.push(view);
    soon(view);
  }

  changed() {
    for (const view of this.#views) soon(view);
  }

  setLink(link) {
    this.link = link;
    this.changed();
  }

  setRuntime(runtime) {
    this.runtime = runtime;
    this.changed();
  }

  /** Takes what /console/api/events says of a task. Returns the state that it had before. */
  setTask(row) {
    const before = this.tasks.get(row.id);
    if (before && time(row.updatedAt) < before.updated) return before.state; // what was asked for before it changed
    const state = stateOf(row.state);
    this.tasks.set(row.id, {
      ...before, ...row, state, updated: time(row.updatedAt) ?? before?.updated ?? 0,
      question: row.question ?? asks(state),
    });
    this.#order = null;
    this.changed();
    return before?.state;
  }

  /** Forgets the oldest tasks that have ended, when there are too many. */
  trim() {
    if (this.tasks.size <= most) return;
    const over = [...this.tasks.values()].filter((task) => ended(task.state)).sort((a, b) => a.updated - b.updated);
    for (const { id } of over.slice(0, most / 10)) this.tasks.delete(id);
    this.#order = null;
  }

  /** A task that is no more. */
  forget(id) {
    this.tasks.delete(id);
    this.#order = null;
    this.changed();
  }

  /** Takes a task of A2A. */
  setA2A(task) {
    const first = task.history?.find((message) => message.role === 'ROLE_USER');
    const title = first?.parts?.find((part) => part.text)?.text;
    const known = this.tasks.get(task.id);
    return this.setTask({
      id: task.id, contextId: task.contextId, state: task.status.state, updatedAt: task.status.timestamp,
      title: known?.title || (title ?? '').trim().split('\n', 1)[0].slice(0, 200),
      question: asks(stateOf(task.status.state)), ahead: task.metadata?.ahead,
    });
  }

  /** All tasks: those that wait for somebody first, then those that run, then the newest. */
  ordered() {
    this.#order ??= [...this.tasks.values()].sort((a, b) => rank(a) - rank(b) || b.updated - a.updated || (a.id < b.id ? 1 : -1));
    return this.#order;
  }
}

const ranks = { 'input-required': 0, 'auth-required': 0, working: 1, submitted: 2 };
const rank = (task) => ranks[task.state] ?? 3;
