// Numbers, times and states as a person reads them.

const units = [
  ['year', 31_536_000], ['month', 2_592_000], ['day', 86_400], ['hour', 3600], ['minute', 60],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const whole = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

export const count = (n) => whole.format(n);
export const compact = (n) => (n < 10_000 ? whole.format(n) : short.format(n));
export const plural = (n, one, many = one + 's') => `${whole.format(n)} ${n === 1 ? one : many}`;

/** "3 min. ago", "in 2 hr.", "now". */
export function ago(at, now = Date.now()) {
  const seconds = Math.round((at - now) / 1000);
  for (const [unit, size] of units) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return seconds > 5 ? `in ${seconds} s` : 'just now';
}

/** A length of time: "840 ms", "12 s", "3 min 5 s", "2 h 10 min". */
export function span(ms) {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const s = Math.round(ms / 1000);
  if (s < 10) return `${(ms / 1000).toFixed(1)} s`;
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3600)} h`;
}

export function bytes(n) {
  if (n < 1000) return `${n} B`;
  if (n < 1e6) return `${Math.round(n / 1000)} kB`;
  return n < 1e9 ? `${(n / 1e6).toFixed(1)} MB` : `${(n / 1e9).toFixed(2)} GB`;
}

const seconds = (n) => span(n * 1000);

/** How the requests to the model of a turn went: how soon the first was answered, and the sum of all. */
export function modelCalls({ count: calls, failed, firstByteSeconds, connectSeconds, tokensPerSecond }) {
  return [
    `model: ${plural(calls, 'call')}${failed ? ` (${whole.format(failed)} failed)` : ''}`,
    firstByteSeconds && `first byte ${seconds(firstByteSeconds)}${connectSeconds ? ` (connect ${seconds(connectSeconds)})` : ''}`,
    tokensPerSecond && `${whole.format(Math.round(tokensPerSecond))} tokens/s`,
  ].filter(Boolean).join(', ');
}

/** What more is known of them. */
export const callsWhole = ({ transport, seconds: took, outputTokens }) =>
  `by ${transport}, ${seconds(took)} in all${outputTokens ? `, ${plural(outputTokens, 'token')} written` : ''}`;

export const exact = (at) => clock.format(at);

/** A time that is absent, zero or not to be read is null. */
export function time(text) {
  const at = Date.parse(text ?? '');
  return Number.isFinite(at) && at > 0 ? at : null;
}

const names = {
  submitted: 'Waiting', working: 'Running', 'input-required': 'Needs an answer', 'auth-required': 'Needs a login',
  completed: 'Done', failed: 'Failed', canceled: 'Canceled', rejected: 'Rejected', unknown: 'Unknown',
};

/** The state of a task in one spelling, from TASK_STATE_INPUT_REQUIRED or input-required. */
export const stateOf = (text) =>
  String(text ?? '').replace(/^TASK_STATE_/, '').toLowerCase().replaceAll('_', '-') || 'unknown';
export const stateName = (state) => names[state] ?? state;
export const ended = (state) => ['completed', 'failed', 'canceled', 'rejected'].includes(state);
export const asks = (state) => state === 'input-required' || state === 'auth-required';

/** An id that is too long to read. */
export const brief = (id, n = 12) => (id.length > n + 3 ? id.slice(0, n) + '…' : id);
