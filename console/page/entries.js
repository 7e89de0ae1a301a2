// How each kind of entry of a transcript looks. A view has a node, and update,
// which is called when its entry has changed.

import { h, say, code, literal, button } from './dom.js';
import { callsWhole, modelCalls, span, stateOf } from './format.js';
import { LongText } from './longtext.js';
import { prose } from './prose.js';
import { diffView } from './diff.js';

const makers = { user, message, work, reasoning, notice, file, diff };

/** Makes the view of an entry; questions are made elsewhere. */
export const entryView = (entry, workdir) => makers[entry.kind](entry, workdir);

function user(entry) {
  const text = entry.parts.map((part) => part.text ?? (part.data && !isNameOnly(part.data) ? JSON.stringify(part.data, null, 2) : '')).filter(Boolean).join('\n');
  const files = entry.parts.filter((part) => part.filename || part.url || part.raw);
  const box = h('div', { class: 'text', dir: 'auto' });
  new LongText(box).append(text);
  return fixed(h('article', { class: 'entry user', 'aria-label': 'Message' }, box,
    files.length > 0 && h('ul', { class: 'files' }, files.map((part) => h('li', null, literal(part.filename ?? part.mediaType ?? 'a file'))))));
}

/** Which question words answer is for the runtime to know. */
const isNameOnly = (data) => typeof data === 'object' && Object.keys(data).join() === 'id';

const fixed = (node) => ({ node, update() {} });

/** A message of the agent's. It is written as it comes, and set in type once it is whole. */
function message(entry) {
  const box = h('div', { class: 'text', dir: 'auto' });
  const node = h('article', { class: 'entry message', 'aria-label': 'Codex' }, box);
  const text = new LongText(box);
  let began = entry.began;
  let shown = 0;
  let set = false;
  return {
    node,
    update() {
      if (began !== entry.began) {
        text.clear();
        [began, shown, set] = [entry.began, 0, false];
        box.classList.remove('prose');
      }
      node.classList.toggle('commentary', entry.phase === 'commentary');
      if (shown < entry.pieces.length && !set) {
        text.append(entry.pieces.slice(shown).join(''));
        shown = entry.pieces.length;
      }
      node.hidden = text.length === 0;
      if (entry.whole && !set) set = typeset(box, entry.pieces.join(''));
    },
  };
}

function typeset(box, text) {
  const nodes = prose(text);
  if (nodes) {
    box.classList.add('prose');
    box.replaceChildren(...nodes);
  }
  return true;
}

const verbs = {
  command: 'Ran', fileChange: 'Changed', tool: 'Called', webSearch: 'Searched', compaction: 'Summarised the conversation', item: 'Did',
};
const doing = {
  command: 'Running', fileChange: 'Changing', tool: 'Calling', webSearch: 'Searching', compaction: 'Summarising the conversation', item: 'Doing',
};

/** Something that codex does: a command with its output, files, a tool, a search. */
function work(entry, workdir) {
  const icon = h('span', { class: 'icon', 'aria-hidden': 'true' });
  const verb = h('span', { class: 'verb' });
  const what = h('span', { class: 'what' });
  const took = h('span', { class: 'took' });
  const summary = h('summary', null, icon, verb, what, took);
  const body = h('div', { class: 'more-of-it' });
  const node = h('details', { class: 'entry work' }, summary, body);
  summary.addEventListener('click', (event) => { if (!body.childElementCount) event.preventDefault(); });
  let before = '';
  return {
    node,
    update() {
      const now = JSON.stringify([entry.data, entry.asked]);
      if (now === before) return;
      before = now;
      const { type, status, exitCode, durationMs } = entry.data;
      const state = entry.asked ? 'asked' : outcome(stateOf(status), exitCode);
      node.dataset.state = state;
      say(verb, state === 'asked' ? 'Wants' : (state === 'running' ? doing : verbs)[type] ?? type);
      what.replaceChildren(...subject(entry.data, workdir));
      say(took, [exitCode > 0 && `exit code ${exitCode}`, state === 'declined' && 'declined', state === 'failed' && !(exitCode > 0) && 'failed',
        durationMs > 0 && span(durationMs)].filter(Boolean).join(' · ') || (state === 'running' ? 'running' : ''));
      const details = detail(entry.data, workdir);
      body.replaceChildren(...details);
      node.classList.toggle('flat', details.length === 0);
      if (state === 'failed' && details.length) node.open = true;
    },
  };
}

function outcome(status, exitCode) {
  if (exitCode > 0 || status === 'failed') return 'failed';
  if (status === 'declined') return 'declined';
  return status === 'inprogress' ? 'running' : 'done';
}

/**
 * The command that was asked for, out of the shell that codex puts around it. What
 * is called like a shell and lies elsewhere may be anything, and is shown.
 */
export function bare(command) {
  const found = /^(?:\/(?:usr\/(?:local\/)?)?bin\/)?(?:ba|z)?sh -l?c (.*)$/s.exec(command);
  return (found && unquoted(found[1])) ?? command;
}

/** A shell's word without its quotes, or null if text is not one word, all of whose letters mean themselves. */
function unquoted(text) {
  let word = '';
  let from = 0;
  for (const [all, single, double, safe, escaped] of text.matchAll(/'([^']*)'|"((?:[^"\\$`!]|\\["\\$`])*)"|([\w@%+=:,./-]+)|\\(.)/gsu)) {
    word += single ?? double?.replace(/\\(.)/gs, '$1') ?? safe ?? escaped;
    from += all.length;
  }
  return from === text.length ? word : null; // what was skipped is missing in the sum
}

/** A path, from the directory in which codex works if it is below that. */
const path = (text, workdir) => (workdir && text.startsWith(workdir + '/') ? code(text.slice(workdir.length + 1), { title: text }) : code(text));

function subject(data, workdir) {
  switch (data.type) {
    case 'command': return [code(bare(data.command).split('\n')[0].slice(0, 300))];
    case 'fileChange': {
      const changes = data.changes ?? [];
      const rest = changes.length - 1 + (data.more ?? 0);
      return changes.length ? [path(changes[0].path, workdir), rest > 0 ? ` and ${rest} more` : ''] : ['files'];
    }
    case 'tool': return [code([data.server, data.tool].filter(Boolean).join(' / '))];
    case 'webSearch': return [h('q', { dir: 'auto' }, data.query ?? '')];
    case 'item': return [code(typeof data.item === 'string' ? data.item : data.item?.type ?? 'something')];
    default: return [];
  }
}

function detail(data, workdir) {
  if (data.type === 'command') {
    const whole = bare(data.command);
    const out = h('pre', { class: 'output', dir: 'ltr', tabindex: '0', 'aria-label': 'The end of its output' });
    if (data.outputTail) new LongText(out).append(plain(data.outputTail));
    return [
      (whole.includes('\n') || whole.length > 80) && h('pre', { class: 'block', dir: 'ltr', tabindex: '0' }, literal(whole)),
      data.outputTail && out,
      data.outputTail === '' && h('p', { class: 'quiet' }, 'It printed nothing.'),
    ].filter(Boolean);
  }
  if (data.type === 'fileChange' && (data.changes?.length ?? 0) > 1) {
    return [h('ul', { class: 'files' }, data.changes.map((change) => h('li', null, `${change.kind} `, path(change.path, workdir))))];
  }
  return [];
}

/** Without the colours and movements of a terminal. */
const plain = (text) => text.replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])/g, '').replace(/\r\n/g, '\n');

function reasoning(entry) {
  const first = h('span', { class: 'what', dir: 'auto' });
  const box = h('div', { class: 'text', dir: 'auto' });
  const node = h('details', { class: 'entry reasoning' }, h('summary', null, h('span', { class: 'verb' }, 'Thought'), first), box);
  return {
    node,
    update() {
      say(first, entry.text.replaceAll('**', '').trim().split('\n', 1)[0].slice(0, 160));
      say(box, entry.text.replaceAll('**', '').trim());
    },
  };
}

function notice(entry) {
  const calls = entry.calls && h('span', { title: callsWhole(entry.calls) }, modelCalls(entry.calls));
  return fixed(h('p', { class: 'entry notice', dir: 'auto' }, entry.text ?? entry.outcome, calls && [entry.text && ' · ', calls]));
}

/** A file that the agent hands out. Only what the web may lead to is a link. */
function file(entry) {
  const { part } = entry;
  const name = part.filename ?? entry.name ?? 'file';
  const link = /^https?:\/\//.test(part.url ?? '') && h('a', { href: part.url, target: '_blank', rel: 'noopener noreferrer' }, 'Open');
  const save = part.raw && button('Save', () => saveAs(name, part));
  return fixed(h('p', { class: 'entry file' }, code(name), ' ', h('span', { class: 'quiet' }, part.mediaType ?? ''),
    part.url && !link && [' ', code(part.url)], link && [' ', link], save && [' ', save],
    part.data && h('pre', { class: 'block', dir: 'ltr', tabindex: '0' }, JSON.stringify(part.data, null, 2).slice(0, 20_000))));
}

/** Lets the browser save bytes; as a stream of bytes, so that nothing in them runs here. */
function saveAs(name, part) {
  const bytes = Uint8Array.from(atob(part.raw), (c) => c.charCodeAt(0));
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function diff(entry) {
  const box = h('div');
  const node = h('section', { class: 'entry diff', 'aria-label': 'Changes' }, h('h3', null, 'Changes'), box);
  let before = null;
  return {
    node,
    update() {
      if (before === entry.text) return;
      before = entry.text;
      const open = new Map([...box.querySelectorAll('.diff-file')].map((file) => [file.dataset.path, file.open]));
      box.replaceChildren(...diffView(entry.text));
      for (const file of box.querySelectorAll('.diff-file')) file.open = open.get(file.dataset.path) ?? file.open; // as somebody has left it
    },
  };
}
