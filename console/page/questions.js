// What codex asks, and the buttons and forms that answer it.

import { h, say, byId, code, literal, prose, button } from './dom.js';
import { span, time, exact, brief } from './format.js';
import { bare } from './entries.js';
import { questionField, schemaField } from './fields.js';

const titles = {
  command: 'Run this command?', fileChange: 'Make these changes?', permissions: 'Grant these permissions?', input: 'Codex has a question',
  tool: 'Call this tool?', form: 'A tool asks for some details', link: 'A tool asks you to open a link', auth: 'Codex needs a login',
};

// A click that was meant for what stood here before must not answer: for so long
// nothing of a question that has just come, or was moved, can be clicked. Keys have to get there.
const ripeAfter = 400;

const ripening = new WeakMap();

function ripen(controls) {
  clearTimeout(ripening.get(controls));
  controls.classList.add('fresh');
  ripening.set(controls, setTimeout(() => controls.classList.remove('fresh'), ripeAfter));
}

// An answer that is on its way is not given twice.
const againAfter = 2000;

/**
 * The view of a question. answer is called with the data of the answer, and
 * returns a promise that fails with what went wrong.
 */
export function questionView(entry, answer) {
  const node = h('section', { class: 'entry question', 'aria-label': titles[entry.data.kind] ?? 'A question' });
  const clock = h('span', { class: 'quiet' });
  const why = h('p', { class: 'problem', role: 'alert', hidden: true });
  let before = '';
  let place = null; // in the window
  return {
    node,
    /** Looks where the question stands now; byHand says that who reads has moved it. */
    placed(byHand) {
      const controls = node.querySelector('.controls');
      const now = controls?.getBoundingClientRect().top ?? null;
      if (!byHand && place !== null && now !== null && Math.abs(now - place) >= 1) ripen(controls);
      place = now;
    },
    update() {
      const now = JSON.stringify([{ ...entry.data, why: null }, entry.open, entry.answer]);
      say(why, entry.data.why ?? '');
      why.hidden = !entry.data.why;
      if (now === before) return; // a form that is half filled in stays
      before = now;
      const held = node.contains(document.activeElement) && document.activeElement !== document.body;
      node.classList.toggle('open', entry.open);
      node.replaceChildren(...(entry.open ? openQuestion(entry, answer, clock, why) : closed(entry)));
      if (held) byId('scroll').focus({ preventScroll: true }); // what had the focus is gone
      this.tick();
    },
    tick() {
      const at = time(entry.data.deadline);
      if (!entry.open || !at) return;
      const left = at - Date.now();
      say(clock, left > 0 ? `Declined in ${left < 90_000 ? span(left) : `${Math.round(left / 60_000)} min`} if nobody answers` : 'Its time is over');
      clock.title = exact(at);
    },
  };
}

function openQuestion(entry, answer, clock, why) {
  const { data } = entry;
  const problem = h('p', { class: 'problem', role: 'alert', hidden: true });
  const form = h('form', { novalidate: false });
  const controls = h('fieldset', { class: 'controls' });
  const send = async (reply) => {
    controls.disabled = true;
    problem.hidden = true;
    try {
      await answer(data.id ? { id: data.id, ...reply } : reply);
      setTimeout(() => { controls.disabled = false; }, againAfter); // where it is asked again in the same words
    } catch (error) {
      controls.disabled = false;
      problem.hidden = false;
      problem.textContent = error.message;
    }
  };
  const fields = fieldsOf(data);
  controls.append(...fields.map((field) => field.node), h('div', { class: 'buttons' }, ...buttons(data, send)));
  form.append(controls);
  ripen(controls);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(filledIn(data, fields));
  });
  return [
    h('h3', null, titles[data.kind] ?? 'Codex asks'), why,
    ...facts(data), ...(data.notes ?? []).map((note) => h('p', { class: 'fact' }, literal(note))),
    data.withheld && fact('Not among them, whatever is answered:', literal(data.withheld)),
    data.hidden && h('p', { class: 'fact' }, 'Where *** stands, a secret that the runtime knows is not shown.'),
    data.cut && h('p', { class: 'fact' }, 'This is too long to be shown whole.'),
    data.stale && h('p', { class: 'quiet' }, 'The runtime was restarted since. An answer begins a new turn, which is told of this question.'),
    form, problem, data.deadline && h('p', null, clock),
  ].filter(Boolean);
}

const pre = (text, label) => h('pre', { class: 'block', dir: 'ltr', tabindex: '0', 'aria-label': label }, literal(text));
const fact = (name, value) => value && h('p', { class: 'fact' }, h('span', { class: 'quiet' }, name), ' ', value);

const leads = (data) => (data.leads ?? []).map((lead) => fact('A link', [code(lead.path), ' leads to ', code(lead.to)]));

function facts(data) {
  switch (data.kind) {
    case 'command': return [
      data.command && pre(bare(data.command), 'The command'), data.input && fact('It goes to', 'the input of a command that runs'),
      fact('Reason', data.reason && h('span', { dir: 'auto' }, prose(data.reason))), fact('In', data.cwd && code(data.cwd)),
      fact('Network', data.network && code([data.network.protocol, data.network.host].filter(Boolean).join(' '))),
      data.permissions && pre(JSON.stringify(data.permissions, null, 2), 'Permissions'), ...leads(data),
    ];
    case 'fileChange': return [
      fact('Reason', data.reason && h('span', { dir: 'auto' }, prose(data.reason))), fact('For everything below', data.grantRoot && code(data.grantRoot)),
      ...(data.changes ?? []).flatMap((change) => [h('p', { class: 'fact' }, `${change.kind ?? 'change'} `, code(change.path), change.to && ' becomes ', change.to && code(change.to), change.replaces && ' in the place of what is there'), change.diff && changeOf(change)]),
      ...leads(data),
    ];
    case 'permissions': return [
      fact('Reason', data.reason && h('span', { dir: 'auto' }, prose(data.reason))), fact('In', data.cwd && code(data.cwd)),
      pre(JSON.stringify(data.permissions, null, 2), 'Permissions'), ...leads(data),
    ];
    case 'tool': return [
      fact('Tool', code([data.server, data.tool].filter(Boolean).join(' / '))), fact('The server says of it:', data.description && h('span', { dir: 'auto' }, prose(data.description))),
      fact('It is asked in these words:', data.message && h('span', { dir: 'auto' }, prose(data.message))),
      data.arguments && pre(JSON.stringify(data.arguments, null, 2), 'Its arguments'),
    ];
    case 'form': case 'link': return [
      fact('From', data.server && code(data.server)), data.message && h('p', { dir: 'auto' }, prose(data.message)), data.url && fact('To', code(data.url)),
      data.arguments && pre(JSON.stringify(data.arguments, null, 2), 'The arguments that it names'),
    ];
    case 'auth': return [h('p', { dir: 'auto' }, prose(data.reason)),
      data.verificationUrl && fact('Open', webLink(data.verificationUrl)), data.userCode && fact('and enter', code(data.userCode, { class: 'login-code' })),
      data.variable && fact('The credential is in', code(data.variable))];
    default: return [];
  }
}

/** A change that is asked for: lines of a diff, or the text of a new file. */
function changeOf(change) {
  const kinds = { '+': 'added', '-': 'removed', '@': 'hunk' };
  const lines = change.diff.split('\n');
  if (lines.length > 400) return pre(change.diff, `Changes of ${change.path}`);
  const rows = lines.map((row) =>
    h('div', { class: 'row ' + (kinds[row[0]] ?? 'same') }, h('span', { class: 'text', dir: 'ltr' }, literal(row))));
  return h('div', { class: 'diff-rows', tabindex: '0', role: 'region', 'aria-label': `Changes of ${change.path}` }, rows);
}

/** Only what leads to the web is a link, and its text is where it leads. */
function webLink(url) {
  return /^https?:\/\//i.test(url) ? h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, literal(url)) : code(url);
}

function fieldsOf(data) {
  if (data.kind === 'input') return (data.questions ?? []).map((q) => ({ id: q.id, ...questionField(q) }));
  if (data.kind !== 'form') return [];
  const required = data.schema?.required ?? [];
  const order = ([a], [b]) => required.includes(b) - required.includes(a); // what has to be there is first
  return Object.entries(data.schema?.properties ?? {}).sort(order).map(([id, schema]) => ({ id, ...schemaField(id, schema, required.includes(id)) }));
}

function filledIn(data, fields) {
  const given = fields.map((field) => [field.id, field.value()]).filter(([, value]) => value !== undefined);
  return { [data.kind === 'input' ? 'answers' : 'content']: Object.fromEntries(given) };
}

const labels = { accept: 'Accept', acceptForSession: 'Accept for this session', decline: 'Decline', cancel: 'Cancel the turn' };

function buttons(data, send) {
  const submit = (label) => h('button', { type: 'submit', class: 'primary' }, label);
  const decision = (choice, label = labels[choice]) =>
    button(label ?? ruleLabel(choice), () => send({ decision: choice }), { class: choice === 'accept' ? 'primary' : choice === 'cancel' ? 'danger' : '' });
  if (data.kind === 'auth') return [];
  if (data.kind === 'input') return [submit('Send answer'), decision('decline', 'Leave unanswered')];
  if (data.kind === 'form') return [submit('Send'), decision('decline'), decision('cancel', 'Refuse')];
  const gentle = data.kind === 'tool' || data.kind === 'link';
  const opened = data.kind === 'link' && /^https?:\/\//i.test(data.url ?? '') &&
    h('a', { class: 'button', href: data.url, target: '_blank', rel: 'noopener noreferrer' }, 'Open the link');
  const choices = data.choices ?? ['accept', 'decline', 'cancel'];
  return [opened, ...choices.map((choice) => decision(choice, choice === 'cancel' && gentle ? 'Refuse' : undefined))].filter(Boolean);
}

/** A rule that codex proposes, and keeps for good. */
function ruleLabel(rule) {
  if (typeof rule === 'string') return literal(rule);
  const words = rule.acceptWithExecpolicyAmendment?.execpolicy_amendment;
  return Array.isArray(words)
    ? h('span', null, 'Always allow ', code(words.join(' ')))
    : h('span', null, 'Accept with ', code(brief(JSON.stringify(rule), 200)));
}

const told = { accept: 'accepted', acceptForSession: 'accepted for the session', decline: 'declined', cancel: 'canceled' };

/** A question that is no longer open is a line of the past. */
function closed({ data, answer }) {
  const about = { command: data.command && code(bare(data.command).split('\n')[0].slice(0, 200)), tool: data.tool && code(data.tool), input: data.questions?.[0]?.question && prose(data.questions[0].question) }[data.kind];
  const reply = answer?.parts.find((part) => part.data)?.data ?? {};
  const decision = reply.decision ?? reply.action;
  const words = told[decision] ?? (decision ? 'accepted with a rule' : null)
    ?? (reply.answers ? Object.values(reply.answers).flat().join(', ') : null) ?? (reply.content ? 'filled in' : null)
    ?? answer?.parts.map((part) => part.text ?? '').join(' ').trim().slice(0, 200);
  return [h('p', { dir: 'auto' }, h('span', { class: 'verb' }, 'Asked'), ' ', about ?? (titles[data.kind] ?? ''), words && ' — ', words && h('strong', null, literal(words)))];
}
