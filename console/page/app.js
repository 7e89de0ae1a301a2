// The console: what is shown stands in the address, what is known in the
// store, and everything else is a view of the two.

import { byId } from './dom.js';
import { call } from './api.js';
import { Store } from './store.js';
import { Link } from './link.js';
import { TaskList } from './tasks.js';
import { TaskView } from './task.js';
import { RuntimePanel } from './runtime.js';
import { Banners } from './banners.js';
import { newMessage, taskMessage } from './compose.js';
import { announce } from './announce.js';
import { forgetSessionKey } from './session.js';
import { keys } from './keys.js';
import { stateName, asks, brief, ended } from './format.js';

const store = new Store();
let shown = null; // the TaskView, while a task is shown

const openTask = (id) => { location.hash = `#/task/${encodeURIComponent(id)}`; };

// Where nobody logs in there is no such form.
const logout = byId('logout');
logout?.addEventListener('submit', forgetSessionKey);

const link = new Link(store, {
  state: (state) => {
    const before = store.runtime;
    store.setRuntime(state);
    if (before && before.startedAt !== state.startedAt) announce('The runtime was restarted.');
  },
  told: (ids) => refind(ids),
  inAgain: () => { // what a task's own line took for final is not
    shown?.close();
    shown = null;
    route();
  },
  neverIn: () => logout?.requestSubmit(), // a cookie without its key: the login begins without either
  task: (row) => {
    const before = store.setTask(row);
    store.trim();
    const task = store.tasks.get(row.id);
    shown?.id === row.id && shown.refresh();
    if (before !== undefined && before !== task.state && (asks(task.state) || ended(task.state))) {
      announce(`${stateName(task.state)}: ${brief(task.title || 'a task', 60)}`, shown?.id !== row.id);
    }
  },
});

/** Looks at tasks that were at work before a connection that has not told of them: too many have changed since. */
async function refind(told) {
  for (const { id } of [...store.tasks.values()].filter((task) => !ended(task.state) && !told.has(task.id)).slice(0, 100)) {
    try {
      store.setA2A(await call('GetTask', { id, historyLength: 1 }));
    } catch (error) {
      if (error.code === -32001) store.forget(id);
      else return; // the next connection does it
    }
  }
}

const list = new TaskList(store);
const panel = new RuntimePanel(store);
new Banners(store, link);
const compose = newMessage(store, openTask);
taskMessage(store, () => shown, openTask);

/** Shows what the address says: #/, #/new, #/new/<context>, #/task/<id>, #/conversation/<context>, #/runtime. */
function route() {
  const [, name = '', rest = ''] = location.hash.split('/');
  const id = decode(rest);
  const task = name === 'task' && id;
  if (shown && shown.id !== task) {
    shown.close();
    shown = null;
  }
  if (task && !shown) shown = new TaskView(store, task);
  const view = task ? 'task' : name === 'new' || name === 'runtime' ? name : 'tasks';
  document.body.dataset.view = view;
  for (const a of document.querySelectorAll('nav a')) {
    if (a.dataset.view === view) a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
  }
  if (document.activeElement !== document.body && !document.activeElement.checkVisibility()) byId('main').focus({ preventScroll: true });
  list.select(task || '');
  if (name === 'conversation') list.filter(id);
  if (name === 'new') compose(id);
  store.changed();
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

keys({
  n: () => { location.hash === '#/new' ? compose() : location.hash = '#/new'; },
  j: () => list.step(1),
  k: () => list.step(-1),
  m: () => shown && byId('task-text').focus(),
  a: () => document.querySelector('.question.open :is(button, input, select)')?.focus(),
  e: () => shown?.toEnd(),
  r: () => { location.hash = '#/runtime'; },
  t: () => { location.hash = '#/'; },
  '/': () => byId('filter').focus(),
});

addEventListener('hashchange', route);
setInterval(() => {
  if (document.hidden) return;
  list.tick();
  panel.tick();
  shown?.tick();
  shown?.refresh();
}, 10_000);
route();
link.run();
