// The two boxes for words: a new message, and one to the task that is shown.
// And answers, which are messages as well.

import { byId, say } from './dom.js';
import { send } from './api.js';
import { ended, brief } from './format.js';
import { announce } from './announce.js';

/** Wires the box for new messages. opened is called with the id of the task that a message became. */
export function newMessage(store, opened) {
  const box = byId('new-text');
  const context = byId('new-context');
  wire(byId('new-form'), box, async (text) => {
    const contextId = context.value.trim();
    const task = await send({ parts: [{ text }], ...(contextId && { contextId }) });
    store.setA2A(task);
    opened(task.id);
  });
  const named = () => say(byId('new-where'), context.value.trim() ? `In conversation ${brief(context.value.trim(), 24)}` : 'In a new conversation');
  context.addEventListener('input', named);
  return (contextId) => {
    context.value = contextId ?? '';
    named();
    box.focus();
  };
}

/** Wires the box of the task that is shown. */
export function taskMessage(store, shown, opened) {
  const box = byId('task-text');
  let begun; // the question that was open when the words were begun, '' without one
  box.addEventListener('input', () => { begun = box.value.trim() ? begun ?? shown()?.asks ?? '' : undefined; });
  wire(byId('task-form'), box, async (text) => {
    const view = shown();
    const unseen = view.asks && view.asks !== (begun ?? view.asks);
    begun = view.asks;
    if (unseen) throw new Error('codex has asked something since you began to write. If this is the answer, send it once more.');
    const over = ended(view.task.state);
    const asked = view.asks; // a yes must not go to the next question when somebody else has answered this one
    const message = { parts: [{ text }, ...(asked ? [{ data: { id: asked } }] : [])], contextId: view.task.contextId, ...(!over && { taskId: view.id }) };
    const task = await send(message);
    begun = undefined;
    store.setA2A(task);
    const { turn, ahead } = task.metadata ?? {};
    if (turn === 'queued') announce(ahead ? `Queued, ${ahead} ahead of it.` : 'Queued: it is the next one.');
    else announce(turn === 'steered' ? 'Handed to the running turn.' : 'Sent.');
    if (task.id !== view.id) opened(task.id);
    else view.sent(task.history?.findLast((m) => m.role === 'ROLE_USER') ?? message);
  });
}

/** What the box of a task is for, which depends on what the task does. */
export function label(state) {
  const [name, hint, verb] = state === 'input-required'
    ? ['Answer in words', 'Answer in words, or with the buttons above', 'Answer']
    : state === 'working' ? ['Steer the running turn', 'Steer: codex reads this at its next step', 'Steer']
      : ended(state) ? ['Go on with this conversation', 'Go on with this conversation…', 'Send']
        : ['Add a message', 'Add a message…', 'Send'];
  const box = byId('task-text');
  if (box.placeholder !== hint) {
    box.placeholder = hint;
    box.setAttribute('aria-label', name);
  }
  say(byId('task-send'), verb);
}

/** Sends the message of a task that failed once more, as a new task of its conversation. */
export async function resend(view) {
  const control = byId('again');
  control.disabled = true;
  try {
    const { id } = await send({ ...view.asked, contextId: view.task.contextId });
    location.hash = `#/task/${encodeURIComponent(id)}`;
  } catch (error) {
    announce(`Not sent: ${error.message}`);
  } finally {
    control.disabled = false;
  }
}

/** Answers a question of a task in data. */
export async function answer(view, data) {
  const task = await send({ parts: [{ data }], taskId: view.id, contextId: view.task.contextId });
  announce('Answered.');
  view.sent(task.history?.findLast((m) => m.role === 'ROLE_USER') ?? { role: 'ROLE_USER', messageId: '', parts: [{ data }] });
}

/** Sends on Enter with Ctrl or ⌘, or by the button; what could not be sent stays in the box. */
function wire(form, box, submit) {
  const problem = form.querySelector('.problem');
  const control = form.querySelector('[type=submit]');
  box.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && !event.isComposing) form.requestSubmit();
  });
  box.addEventListener('input', () => grow(box));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const text = box.value.trim();
    if (!text || control.disabled) return;
    control.disabled = true;
    problem.hidden = true;
    try {
      await submit(text);
      box.value = '';
      grow(box);
    } catch (error) {
      problem.hidden = false;
      say(problem, `Not sent: ${error.message}`);
    } finally {
      control.disabled = false;
    }
  });
}

/** Makes a box as high as what is in it; how high at most is the style's business. */
function grow(box) {
  box.rows = Math.min(12, Math.max(Number(box.dataset.rows ?? 1), box.value.split('\n').length));
}
