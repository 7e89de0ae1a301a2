// One task as the runtime's stream tells it (docs/messages.md): a list of
// entries in the order in which they happened. No document in it.

import { stateOf, asks, ended } from './format.js';

/** What a message asks for its turn to have. */
const wishes = ({ metadata }) => Object.fromEntries(['cwd', 'model', 'sandbox', 'approvalPolicy'].flatMap((key) => (metadata?.[key] ? [[key, metadata[key]]] : [])));

/**
 * Entries have a kind: user, message, work, reasoning, notice, question, file,
 * diff. touched is called with each entry that was added or has changed, and
 * with null when the task itself has.
 */
export class Transcript {
  entries = [];
  task = { state: 'unknown', contextId: '', metadata: {}, words: '' };
  plan = null;
  questions = []; // the open ones
  lastId = '1.0'; // behind the first event of all: what is asked for first is everything
  #byKey = new Map();
  #history = [];
  #notices = 0;
  #owed = 0; // messages that a turn has taken, and that are not in the history yet
  #touched;

  constructor(id, touched) {
    this.id = id;
    this.#touched = touched;
  }

  /** Takes one result of a stream. */
  apply({ id, result }) {
    if (id) this.lastId = id;
    if (result.task) this.snapshot(result.task);
    else if (result.statusUpdate) this.#status(result.statusUpdate.status, result.statusUpdate.metadata);
    else if (result.artifactUpdate) this.#artifact(result.artifactUpdate);
  }

  /** Takes the task as it is. Progress is no part of it: what was seen of that stays. */
  snapshot(task) {
    this.task.contextId = task.contextId;
    this.history(task.history ?? []);
    const reply = task.metadata?.reply;
    const late = (a) => (a.artifactId === reply ? 1 : a.name === 'diff' ? 2 : 0);
    const artifacts = (task.artifacts ?? []).toSorted((a, b) => late(a) - late(b));
    const there = new Set(artifacts.map((a) => 'artifact ' + a.artifactId));
    for (const entry of [...this.entries]) {
      const key = entry.of ?? entry.key;
      if (key.startsWith('artifact ') && !there.has(key)) this.#remove(entry);
    }
    for (const artifact of artifacts) this.#artifact({ artifact, lastChunk: true });
    this.#status(task.status, task.metadata);
    this.settle();
  }

  /** Takes the messages of the task, of which a stream says only that there are more. */
  history(messages) {
    this.#history = messages;
    this.#placeMessages(1);
    this.#pay();
    for (const entry of this.entries) {
      if (entry.kind === 'question' && !entry.open && !entry.answer) this.#findAnswer(entry);
    }
  }

  /** Places what has no place yet at the end: everything that happened before has been told. */
  settle() {
    this.#placeMessages(Infinity);
    this.#owed = 0;
  }

  /** Shows a message that this page has just sent. */
  sent(message) {
    this.#history = [...this.#history, message];
    if (!this.#isAnswer(message)) this.settle();
  }

  /**
   * What is sent again: the newest words that are no answer, with what the turn was to have, since they must
   * not get more leave. The words of another agent, the platform or a chat would be the user's then: they are not.
   */
  get asked() {
    const message = this.#history.findLast((m) => m.role === 'ROLE_USER' && !this.#isAnswer(m));
    if (!message || marked(message) || passedOn(message)) return undefined;
    const metadata = this.#history.filter((m) => m.role === 'ROLE_USER').map(wishes).findLast((had) => Object.keys(had).length); // what steers a turn names none
    return { parts: message.parts, metadata };
  }

  #status(status, metadata) {
    const before = this.task.state;
    const task = this.task;
    task.state = stateOf(status.state);
    task.timestamp = status.timestamp;
    const parts = status.message?.parts ?? [];
    if (metadata) {
      const news = metadata.turn === 'steered' || (metadata.message ?? 1) > (task.metadata.message ?? 1);
      task.metadata = { ...task.metadata, modelCalls: undefined, ...metadata }; // of the turn before, while one runs
      if (news) {
        this.#owed++;
        this.#pay();
      }
    }
    const told = metadata ? [] : parts.map((part) => part.data).filter((data) => data?.type && data.type !== 'question');
    for (const data of told) this.#progress(data); // it comes in any state, and changes nothing about that
    if (told.length) {
      if (before !== task.state) this.#touched(null);
      return;
    }
    if (asks(task.state)) this.#ask(parts);
    else {
      this.#ask([]);
      if (ended(task.state)) task.words = parts.map((part) => part.text ?? '').join('\n');
    }
    if (before !== task.state || metadata) this.#touched(null);
  }

  #progress(data) {
    switch (data.type) {
      case 'plan': {
        this.plan = data;
        this.#touched(null);
        return;
      }
      case 'reasoning': return this.#put('reasoning ' + data.id, 'reasoning', { text: data.text });
      case 'notice': case 'turn': return this.#put('notice ' + ++this.#notices, 'notice', { text: data.text, outcome: data.outcome, calls: data.modelCalls });
      default:
        this.#put('work ' + data.id, 'work', { data });
        this.#mark(this.#byKey.get('work ' + data.id));
    }
  }

  #ask(parts) {
    const data = parts.map((part) => part.data).filter((d) => d?.type === 'question' || d?.kind === 'auth');
    const now = data.map((d) => ({ id: d.id ?? 'auth', data: d, words: parts.find((part) => part.text)?.text ?? '' }));
    const open = new Set(now.map((q) => q.id));
    for (const { id } of this.questions) {
      const entry = this.#byKey.get('question ' + id);
      if (!open.has(id) && entry) {
        entry.open = false;
        this.#findAnswer(entry);
        this.#touched(entry);
      }
    }
    const before = JSON.stringify(this.questions);
    this.questions = now;
    for (const q of now) this.#put('question ' + q.id, 'question', { data: q.data, words: q.words, open: true });
    if (before === JSON.stringify(now)) return;
    this.#touched(null);
    for (const entry of this.entries) if (entry.kind === 'work') this.#mark(entry);
  }

  /** Codex says of a command that it runs when it only asks whether it may. */
  #mark(entry) {
    const asked = stateOf(entry.data.status) === 'inprogress' && this.questions.some(({ data }) => data.kind === entry.data.type && data.command === entry.data.command);
    if (asked === Boolean(entry.asked)) return;
    entry.asked = asked;
    this.#touched(entry);
  }

  /** What was answered stands in the history, behind the message that asked. */
  #findAnswer(entry) {
    const asked = this.#history.findIndex((m) => posed(m).some(({ id }) => id === entry.data.id));
    const after = asked < 0 ? [] : this.#history.slice(asked + 1).filter((m) => m.role === 'ROLE_USER' && !marked(m));
    const named = after.find((m) => m.parts.some((part) => part.data?.id === entry.data.id));
    const answer = named ?? after[0];
    if (!answer) return;
    entry.answer = answer;
    this.#touched(entry);
  }

  #artifact({ artifact, append, lastChunk, metadata }) {
    const key = 'artifact ' + artifact.artifactId;
    if (metadata?.void) return this.#withdraw(key);
    const parts = artifact.parts ?? [];
    const text = parts.map((part) => part.text ?? '').join('');
    if (artifact.name === 'diff') return this.#put(key, 'diff', { text });
    const files = parts.filter((part) => part.url || part.raw || part.data);
    if (text || !files.length) this.#text(key, text, { artifact, append, lastChunk });
    this.#files(key, files, { artifact, append });
  }

  #text(key, text, { artifact, append, lastChunk }) {
    const entry = this.#byKey.get(key);
    if (entry && append) {
      if (text) entry.pieces.push(text);
      entry.whole = lastChunk === true;
      return this.#touched(entry);
    }
    this.#put(key, 'message', {
      pieces: text ? [text] : [], phase: artifact.metadata?.phase, whole: lastChunk === true, began: (entry?.began ?? 0) + 1,
    });
  }

  /** Files stand behind the text that names them, each in an entry of its own. */
  #files(key, files, { artifact, append }) {
    const known = append ? this.entries.filter((entry) => entry.of === key).length : 0;
    files.forEach((part, n) => this.#put(`file ${known + n} of ${key}`, 'file', { part, of: key, name: artifact.name }));
  }

  #put(key, kind, fields) {
    let entry = this.#byKey.get(key);
    if (!entry) {
      entry = { key, kind };
      this.#byKey.set(key, entry);
      if (kind === 'user' && this.#userCount() === 0) this.entries.unshift(entry); // it began all of it
      else this.entries.push(entry);
    }
    Object.assign(entry, fields);
    this.#touched(entry);
  }

  #withdraw(key) {
    for (const entry of this.entries.filter((e) => e.key === key || e.of === key)) this.#remove(entry);
  }

  #remove(entry) {
    if (!entry) return;
    this.#byKey.delete(entry.key);
    this.entries.splice(this.entries.indexOf(entry), 1);
    entry.gone = true;
    this.#touched(entry);
  }

  #userCount() {
    return this.entries.filter((entry) => entry.kind === 'user').length;
  }

  #pay() {
    const before = this.#userCount();
    this.#placeMessages(before + this.#owed);
    this.#owed -= this.#userCount() - before;
  }

  /**
   * Whether a message stands with its question: it is one answer and nothing else, to a question that is shown, by one who may answer.
   * Any other is a message like those in words, and so is an answer to a stale question: it goes to codex as it is.
   */
  #isAnswer(message) {
    const [{ data } = {}, ...more] = message.parts;
    if (marked(message) || more.length || !data || typeof data !== 'object') return false; // others may have made it of anything
    return ['decision', 'answers', 'content', 'action'].some((key) => data[key] != null) && this.#byKey.has('question ' + data.id) && !this.#isStale(data.id);
  }

  #isStale(id) {
    return [this.#byKey.get('question ' + id).data, ...this.#history.flatMap(posed)].some((data) => data.id === id && data.stale);
  }

  /** Shows the first n of the messages that callers sent; answers stand with their questions. */
  #placeMessages(n) {
    for (const message of this.#history) {
      if (n > 1) this.#recall(message); // a page that has just been opened waits for the stream
      if (message.role !== 'ROLE_USER' || this.#isAnswer(message) || this.#byKey.has('user ' + message.messageId)) continue;
      if (this.#userCount() >= n) return;
      this.#put('user ' + message.messageId, 'user', { parts: message.parts });
    }
  }

  /** Shows what a message of the past has asked, where no stream has told of it. */
  #recall(message) {
    for (const data of posed(message)) {
      const key = 'question ' + data.id;
      if (this.#byKey.has(key)) continue;
      this.#put(key, 'question', { data, words: '', open: false });
      this.#findAnswer(this.#byKey.get(key));
    }
  }
}

/** The questions that a message of the runtime's puts. */
function posed({ role, parts }) {
  return role === 'ROLE_AGENT' ? (parts ?? []).map(({ data }) => data).filter((data) => data?.type === 'question') : [];
}

// What the runtime goes by, too, to tell whose words a message has. Blanks are what they are
// to it, which trim() would not take for the same.
function marked({ metadata = {} }) {
  const says = (key, what) => typeof metadata[key] === 'string' && what.test(metadata[key]);
  return ['source_workspace_id', 'delegation_id', 'parent_task_id'].some((key) => says(key, /\P{White_Space}/u) || typeof (metadata[key] ?? '') !== 'string')
    || says('source', /^\p{White_Space}*platform\p{White_Space}*$/u) || says('source_type', /^\p{White_Space}*self-/u);
}

// What the platform passes on: a schedule's, by the id, and a service's or a chat's, by the source.
function passedOn({ messageId = '', metadata: { source } = {} }) {
  return /^(manual-)?cron-/.test(messageId) || typeof source === 'string' && !/^\p{White_Space}*(canvas_user\p{White_Space}*)?$/u.test(source);
}
