// The view of one task: what is known of it, its transcript as it grows, and
// what one can do about it.

import { h, say, arrange, byId, literal, prose } from './dom.js';
import { soon } from './batch.js';
import { stateName, asks, ended, compact, plural, brief, ago, exact, modelCalls, callsWhole } from './format.js';
import { call } from './api.js';
import { Transcript } from './transcript.js';
import { Watch } from './watch.js';
import { entryView } from './entries.js';
import { questionView } from './questions.js';
import { answer, label, resend } from './compose.js';

/** Shows a task until close is called. Opens its stream. */
export class TaskView {
  #store;
  #transcript;
  #watch;
  #views = new Map(); // by entry
  #dirty = new Set();
  #list = byId('transcript');
  #scroll = byId('scroll');
  #follows = true;
  #titled = null;
  #draw = () => this.#render();
  #resized = new ResizeObserver(() => soon(this.#draw));
  #onscroll = () => this.#scrolled();
  #ongrown = (event) => { this.#scroll.scrollTop += event.detail; };

  constructor(store, id) {
    this.#store = store;
    this.id = id;
    this.#transcript = new Transcript(id, (entry) => {
      this.#dirty.add(entry);
      soon(this.#draw);
    });
    this.#watch = new Watch(this.#transcript, {
      task: (task) => {
        this.#transcript.task.contextId = task.contextId;
        this.#transcript.history(task.history ?? []);
        if (this.#transcript.task.state === 'unknown') this.#transcript.task.metadata = { ...task.metadata };
        this.#store.setA2A(task);
      },
      failed: (error) => this.#failed(error),
    });
    this.#list.replaceChildren();
    this.#scroll.addEventListener('scroll', this.#onscroll, { passive: true });
    this.#list.addEventListener('grown', this.#ongrown);
    byId('cancel').onclick = () => this.cancel();
    byId('again').onclick = () => resend(this);
    byId('latest').onclick = () => this.toEnd();
    byId('task-problem').hidden = true;
    this.#resized.observe(this.#scroll);
    this.#resized.observe(this.#list); // what an entry shows by itself moves those below it
    soon(this.#draw);
    this.#watch.run();
  }

  close() {
    this.#watch.stop();
    this.#resized.disconnect();
    this.#scroll.removeEventListener('scroll', this.#onscroll);
    this.#list.removeEventListener('grown', this.#ongrown);
    this.#views.clear();
    this.#list.replaceChildren();
    byId('plan').hidden = true;
    this.closed = true;
  }

  get task() {
    return this.#transcript.task;
  }

  /** The parts of the message that was asked last, if it may be sent again. */
  get asked() {
    return this.#transcript.asked;
  }

  /** The id of the question that words answer, if there is one. A stale one takes any message. */
  get asks() {
    const data = this.#transcript.questions[0]?.data;
    return data?.stale ? undefined : data?.id;
  }

  /** Shows a message that was just sent to this task. */
  sent(message) {
    this.#transcript.sent(message);
    this.toEnd();
    this.#watch.lookSoon();
  }

  toEnd() {
    this.#follows = true;
    soon(this.#draw);
  }

  async cancel() {
    const control = byId('cancel');
    control.disabled = true;
    say(control, 'Canceling…');
    try {
      this.#store.setA2A(await call('CancelTask', { id: this.id }));
    } catch (error) {
      if (!ended(this.task.state)) this.#failed(error);
    } finally {
      control.disabled = false;
      say(control, 'Cancel');
    }
  }

  /** What changes with the clock alone. */
  tick() {
    for (const view of this.#views.values()) view.tick?.();
  }

  #failed(error) {
    const box = byId('task-problem');
    box.hidden = false;
    say(box, error.code === -32001 ? 'There is no such task: it was never here, or is so old that it is forgotten.' : error.message);
  }

  #scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroll;
    this.#follows = scrollHeight - scrollTop - clientHeight < 48;
    byId('latest').hidden = this.#follows;
    this.#place(true);
  }

  /** The questions note where they stand. */
  #place(byHand) {
    for (const view of this.#views.values()) view.placed?.(byHand);
  }

  #render() {
    if (this.closed) return;
    let moved = false;
    const dirty = [...this.#dirty];
    this.#dirty.clear(); // what fails below fails once
    for (const entry of dirty) {
      if (entry === null) continue;
      if (entry.gone) {
        this.#views.get(entry)?.node.remove();
        this.#views.delete(entry);
        continue;
      }
      let view = this.#views.get(entry);
      if (!view) {
        view = entry.kind === 'question' ? questionView(entry, (data) => answer(this, data)) : entryView(entry, this.#store.runtime?.workdir);
        this.#views.set(entry, view);
        moved = true;
      }
      try {
        view.update();
      } catch (error) {
        console.error(error); // an entry that cannot be shown does not hide the others
      }
    }
    if (moved) arrange(this.#list, this.#transcript.entries.map((entry) => this.#views.get(entry)?.node).filter(Boolean));
    if (dirty.includes(null) || !dirty.length) this.#head();
    if (this.#follows) this.#scroll.scrollTop = this.#scroll.scrollHeight;
    this.#place(false);
    if (!this.#follows) this.#scrolled();
  }

  /** Everything around the transcript. Called when the task or the store has changed. */
  #head() {
    const { state, metadata, contextId, words } = this.#transcript.task;
    const row = this.#store.tasks.get(this.id);
    const shown = state === 'unknown' ? row?.state ?? 'unknown' : state;
    if (this.#titled !== row?.title) byId('task-title').replaceChildren(...prose(row?.title || 'Task'));
    this.#titled = row?.title;
    const chip = byId('task-state');
    say(chip, stateName(shown));
    chip.dataset.state = shown;
    byId('task-facts').replaceChildren(...facts(row, metadata, contextId));
    byId('cancel').hidden = shown === 'unknown' || ended(shown);
    const outcome = byId('outcome');
    const why = ended(shown) && shown !== 'completed' ? words : metadata.held ? `Waits for the end of a limit: ${metadata.held.reason ?? metadata.held.limit}` : '';
    outcome.hidden = !why;
    say(byId('why'), why ?? '');
    byId('again').hidden = shown !== 'failed' || !this.asked;
    byId('busy').hidden = shown !== 'working';
    label(state); // the list may know of a question before it is here to be answered
    plan(this.#transcript.plan);
    document.body.dataset.asks = asks(shown) ? 'yes' : 'no';
  }

  /** The store has news of this task. */
  refresh() {
    this.#dirty.add(null);
    soon(this.#draw);
  }
}

function facts(row, metadata, contextId) {
  const { usage, turn, ahead, modelCalls: calls } = metadata;
  const updated = row?.updated ? h('time', { datetime: new Date(row.updated).toISOString(), title: exact(row.updated) }, ago(row.updated)) : null;
  return [
    updated, row?.caller && ['from ', ...literal(row.caller)], contextId && h('span', { title: contextId }, 'conversation ', h('code', { dir: 'ltr' }, brief(contextId, 20))),
    metadata.machine && ['on ', ...prose(metadata.machine)],
    turn === 'queued' && ahead !== undefined && `${plural(ahead, 'turn')} ahead`, turn === 'steered' && 'steered',
    usage?.totalTokens > 0 && h('span', { title: `${usage.inputTokens} in, ${usage.outputTokens} out` }, `${compact(usage.totalTokens)} tokens`),
    calls && h('span', { title: callsWhole(calls) }, modelCalls(calls)),
    metadata.interrupted && 'was interrupted', metadata.attempt > 1 && `attempt ${metadata.attempt}`,
  ].filter(Boolean).map((fact) => h('li', null, fact));
}

const marks = { completed: '✓', inProgress: '•', pending: '' };
const stepNames = { completed: 'done', inProgress: 'in progress', pending: 'to do' };
let planned = '';

function plan(data) {
  const box = byId('plan');
  box.hidden = !data?.steps?.length;
  const now = JSON.stringify(data);
  if (box.hidden || now === planned && byId('plan-steps').childElementCount) return;
  planned = now;
  const done = data.steps.filter((step) => step.status === 'completed').length;
  say(byId('plan-count'), `${done} of ${data.steps.length}`);
  say(byId('plan-now'), data.steps.find((step) => step.status === 'inProgress')?.step ?? '');
  byId('plan-steps').replaceChildren(...data.steps.map((step) => h('li', { class: step.status },
    h('span', { class: 'mark', 'aria-hidden': 'true' }, marks[step.status] ?? ''), h('span', { dir: 'auto' }, step.step),
    h('span', { class: 'unheard' }, ` (${stepNames[step.status] ?? step.status})`))));
}
