// What is known of the runtime itself: is it well, what runs and waits, the
// account and its limits, codex's process, policy, platform, threads.

import { h, say, arrange, byId, code, prose } from './dom.js';
import { ago, bytes, compact, count, exact, plural, span, time, brief } from './format.js';
import { checks } from './checks.js';
import { Doctor } from './doctor.js';
import { Machines } from './machines.js';

/** Draws the panel whenever the state of the runtime changes; a card that has not changed is left alone. */
export class RuntimePanel {
  #store;
  #box = byId('runtime-cards');
  #cards = new Map();
  #doctor = new Doctor();
  #machines = new Machines();

  constructor(store) {
    this.#store = store;
    store.watch(() => this.draw());
  }

  draw() {
    const s = this.#store.runtime;
    if (!s) return;
    say(byId('workdir'), s.workdir ?? '');
    byId('workdir').title = `${s.workdir} is where codex works`;
    arrange(this.#box, [
      this.#card('ready', 'Readiness', s.ready, readiness),
      this.#card('queue', 'Queue', s.queue && { ...s.queue, titles: this.#titles(s.queue) }, queue),
      s.machines && this.#machines.show(s.machines),
      this.#card('account', 'Account and limits', { account: s.account, limits: s.limits }, account),
      this.#card('child', 'Codex', { child: s.child, codex: s.codex, codexNote: s.codexNote, model: s.model, scripted: s.scripted }, child),
      this.#card('policy', 'What codex may do', { ...s.policy, workdir: s.workdir }, policy),
      s.platform && this.#card('platform', 'Platform', s.platform, platform),
      this.#card('threads', 'Threads', s.threads, threads),
      this.#doctor.node,
      this.#card('self', 'Runtime', { version: s.version, startedAt: s.startedAt, workdir: s.workdir }, self),
    ].filter(Boolean));
  }

  /** Draws anew what changes with the clock. */
  tick() {
    for (const card of this.#cards.values()) card.drawn = '';
    this.draw();
  }

  /** What its tasks are called: a queue whose titles came later is another one to look at. */
  #titles({ contexts }) {
    return (contexts ?? []).flatMap((c) => [c.running, ...(c.waiting ?? [])]).map((id) => this.#store.tasks.get(id)?.title);
  }

  #card(name, title, data, make) {
    let card = this.#cards.get(name);
    if (!card) {
      const body = h('div', { class: 'body' });
      card = { node: h('section', { class: 'card', id: 'card-' + name, 'aria-labelledby': `card-${name}-title` }, h('h2', { id: `card-${name}-title` }, title), body), body, drawn: '' };
      this.#cards.set(name, card);
    }
    const now = JSON.stringify(data ?? null);
    if (card.drawn !== now && !card.body.contains(document.activeElement)) {
      card.drawn = now;
      const open = [...card.body.querySelectorAll('details')].map((details) => details.open);
      card.body.replaceChildren(...(data ? make(data, this.#store.tasks) : [quiet('Not known.')]).filter(Boolean));
      card.body.querySelectorAll('details').forEach((details, i) => { details.open = open[i] ?? details.open; });
    }
    return card.node;
  }
}

const quiet = (...text) => h('p', { class: 'quiet' }, text);
const facts = (...rows) => h('dl', null, rows.filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false).flatMap(([name, value]) => [h('dt', null, name), h('dd', null, value)]));
const when = (text) => { const at = time(text); return at && h('time', { datetime: text, title: exact(at) }, ago(at)); };

const readiness = ({ ok, checks: list }) => [
  h('p', { class: ok ? 'verdict ok' : 'verdict bad' }, ok ? 'Ready: a turn would run.' : 'Not ready: a turn would not run.'),
  list?.some((check) => !check.ok) ? checks(list.filter((check) => !check.ok)) : null,
  list?.some((check) => check.ok) ? h('details', null, h('summary', { class: 'quiet' }, `${plural(list.filter((check) => check.ok).length, 'check')} passed`), checks(list.filter((check) => check.ok))) : null,
];

function taskLink(id, tasks) {
  const title = tasks.get(id)?.title;
  return h('a', { href: `#/task/${encodeURIComponent(id)}`, title: id, dir: 'auto' }, title ? prose(brief(title, 48)) : code(brief(id, 13)));
}

export function queue({ running, waiting, limit, asking, fullSince, contexts }, tasks) {
  const bar = h('meter', { min: 0, max: limit || 1, value: running ?? 0, 'aria-label': 'Turns that run' });
  return [
    h('p', null, h('strong', null, count(running ?? 0)), limit ? ` of ${count(limit)} turns running` : ' running', asking ? [' · ', h('strong', null, count(asking)), ' asking'] : null, ' · ', h('strong', null, count(waiting ?? 0)), ' waiting'), limit ? bar : null,
    fullSince && h('p', { class: 'problem' }, 'No other turn has begun since ', when(fullSince), '.'),
    contexts?.length ? h('ul', { class: 'contexts' }, contexts.slice(0, 50).map((c) => h('li', null, h('p', { class: 'quiet' }, code(brief(c.contextId, 24), { title: c.contextId })),
      h('ol', { 'aria-label': `Turns of ${brief(c.contextId)}` }, c.running && h('li', null, taskLink(c.running, tasks), h('span', { class: 'took' }, 'running')),
        (c.waiting ?? []).slice(0, 20).map((id) => h('li', null, taskLink(id, tasks), h('span', { class: 'took' }, 'waiting'))),
        c.waiting?.length > 20 && h('li', { class: 'quiet' }, `and ${plural(c.waiting.length - 20, 'more', 'more')}`))))) : quiet('Nothing runs and nothing waits.'),
  ];
}

function account({ account: who, limits }) {
  const kinds = { chatgpt: 'ChatGPT', apiKey: 'API key', apikey: 'API key' };
  return [
    who && facts(['Account', who.message ? '' : kinds[who.kind] ?? who.kind], ['E-mail', who.email], ['Plan', who.plan]), who?.message && quiet(who.message),
    ...(limits ?? []).map(({ name, usedPercent, resetsAt }) => h('div', { class: 'limit' },
      h('p', null, h('span', null, name), usedPercent !== undefined && h('span', { class: 'took' }, `${Math.round(usedPercent)} % used`)),
      usedPercent !== undefined && h('meter', { min: 0, max: 100, low: 70, high: 90, optimum: 0, value: usedPercent, 'aria-label': `${name}, used` }),
      resetsAt && quiet('Resets ', when(resetsAt), `, ${exact(time(resetsAt))}`))),
    !limits?.length && quiet('No limits are known.'),
  ];
}

function child({ child: c, codex, codexNote, model, scripted }) {
  const started = time(c?.startedAt);
  return [
    facts(['Model', scripted ? 'the built-in scripted model, no intelligence' : [model?.name, model?.provider].filter(Boolean).join(' · ')], ['Version', codex],
      ['Process', c?.state], ['Process id', c?.pid ? String(c.pid) : ''], ['Age', started && h('span', { title: exact(started) }, span(Date.now() - started))],
      ['Restarts', c?.restarts !== undefined ? count(c.restarts) : ''], ['Memory', c?.memoryBytes ? bytes(c.memoryBytes) : '']),
    codexNote && quiet(`${codexNote}.`),
    c?.error && h('p', { class: 'problem', dir: 'auto' }, c.error),
  ];
}

const sandboxes = {
  'read-only': 'It reads files, and changes none.', 'workspace-write': 'It changes files below its directory, and has no network unless that is allowed.',
  'danger-full-access': 'No sandbox: it may do whatever this container or user may.',
};
const approvals = {
  never: 'Nobody is asked.', 'on-request': 'It asks when it wants out of the sandbox.', 'on-failure': 'It asks when the sandbox stopped a command.', untrusted: 'It asks before each command that is not known to be harmless.',
};

const policy = ({ sandbox, approval, workdir }) => [
  facts(['Sandbox', sandbox && code(sandbox)], ['Approval', approval && code(approval)], ['Directory', workdir && code(workdir)]), quiet([sandboxes[sandbox], approvals[approval]].filter(Boolean).join(' ')),
];

const platform = ({ workspace, url, registered, lastBeat, error }) => [
  h('p', { class: registered && !error ? 'verdict ok' : 'verdict bad' }, registered ? 'Registered' : 'Not registered', lastBeat && [', last heartbeat ', when(lastBeat)]),
  facts(['Workspace', workspace && code(workspace)], ['Platform', url && code(url)]), error && h('p', { class: 'problem', dir: 'auto' }, error),
];

function threads(list) {
  if (!list.length) return [quiet('No conversation has a thread yet.')];
  const rows = list.slice(0, 100).map((t) => h('tr', null,
    h('th', { scope: 'row' }, h('a', { href: `#/conversation/${encodeURIComponent(t.contextId)}`, title: `${t.contextId}, thread ${t.threadId}` }, code(brief(t.contextId, 14))), t.machine && h('p', { class: 'quiet on' }, 'on ', prose(t.machine))),
    h('td', null, h('span', { class: t.loaded ? 'loaded' : 'quiet' }, t.loaded ? 'loaded' : 'idle')),
    h('td', { class: 'number', title: t.totalTokens !== undefined ? `${count(t.inputTokens ?? 0)} in, ${count(t.outputTokens ?? 0)} out` : null }, t.totalTokens !== undefined ? compact(t.totalTokens) : ''),
    h('td', { class: 'number' }, when(t.lastUsed))));
  return [
    h('table', null, h('thead', null, h('tr', null, ['Conversation', 'State', 'Tokens', 'Used'].map((name) => h('th', { scope: 'col' }, name)))), h('tbody', null, rows)),
    list.length > 100 && quiet(`and ${plural(list.length - 100, 'more', 'more')}`),
  ];
}

const self = ({ version, startedAt }) => [facts(['Version', version], ['Up for', time(startedAt) && h('span', { title: exact(time(startedAt)) }, span(Date.now() - time(startedAt)))])];
