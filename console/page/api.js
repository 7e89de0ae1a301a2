// The runtime as this page reaches it: A2A 1.0 over JSON-RPC, and the routes
// of the console beside it.

import { events } from './sse.js';
import { sessionKey, loggedInAnew } from './session.js';

const base = new URL('../api/', import.meta.url);
let calls = 0;

/** An answer that says no. status is HTTP's, code JSON-RPC's, where there is one. */
export class Refused extends Error {
  constructor(message, status, code) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Opens a route below /console/api. Throws Refused unless the answer is a 2xx. */
export async function open(path, options = {}) {
  const key = sessionKey(); // each time: another tab may have logged in anew
  const response = await fetch(new URL(path, base), {
    cache: 'no-store', credentials: 'same-origin', redirect: 'error', ...options,
    headers: { ...(options.method === 'POST' && { 'X-Console': '1' }), ...(key && { 'X-Console-Key': key }), ...options.headers },
  });
  if (response.ok) return response;
  if (response.status === 401 && await loggedInAnew(key)) return open(path, options);
  const text = (await response.text()).slice(0, 500);
  throw new Refused(sentence(text) || `The runtime answers ${response.status}.`, response.status);
}

function sentence(text) {
  try {
    const answer = JSON.parse(text);
    return answer.error?.message ?? answer.message ?? (typeof answer.error === 'string' ? answer.error : '');
  } catch {
    return /^\s*</.test(text) ? '' : text.trim();
  }
}

/** A route that answers JSON. */
export const json = async (path, options) => (await open(path, options)).json();

const request = (method, params, headers, signal) =>
  open('a2a', {
    method: 'POST', signal,
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: ++calls, method, params }),
  });

/** Calls an A2A method and returns its result. */
export async function call(method, params) {
  return result(await (await request(method, params)).json());
}

function result(answer) {
  if (answer.error) throw new Refused(answer.error.message, 200, answer.error.code);
  return answer.result;
}

/** Yields {id, result} of a streaming A2A method, behind the event lastId if that is given. */
export async function* stream(method, params, lastId, controller) {
  const headers = { Accept: 'text/event-stream', ...(lastId && { 'Last-Event-ID': lastId }) };
  const response = await request(method, params, headers, controller.signal);
  if (!(response.headers.get('Content-Type') ?? '').startsWith('text/event-stream')) {
    result(await response.json()); // an error before the first event
    return;
  }
  for await (const event of events(response, controller)) {
    yield { id: event.id, result: result(JSON.parse(event.data)) };
  }
}

const patience = [300, 700, 1500, 3000, 5000, 8000]; // together the time of a restart

/**
 * Sends a message that is not waited for, and returns its task. What is cut off
 * is sent again: the same messageId is the same message, and runs once.
 */
export async function send(message) {
  const params = {
    message: { messageId: newId(), role: 'ROLE_USER', ...message },
    configuration: { returnImmediately: true },
  };
  for (const pause of [...patience, 0]) {
    try {
      const { task } = await call('SendMessage', params);
      return task;
    } catch (error) {
      const passing = !(error instanceof Refused) || error.status >= 502;
      if (!passing || pause === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/** An id nobody else has. crypto.randomUUID is only there for https and localhost. */
export function newId() {
  return 'console-' + [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('');
}
