// Server-sent events over fetch: EventSource can neither POST nor be told a
// Last-Event-ID, and does not say why it failed.

const silence = 15_000; // the server says something each 4 s

/**
 * Yields {event, id, data} of a response until it ends. Throws when the
 * connection fails, and when nothing was heard for longer than a server that
 * lives is silent.
 */
export async function* events(response, controller) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let timer = 0;
  let rest = '';
  let event = blank();
  try {
    for (;;) {
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(new Error('silent for too long')), silence);
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        const text = line.endsWith('\r') ? line.slice(0, -1) : line;
        if (text !== '') {
          field(event, text);
          continue;
        }
        if (event.data !== null) yield event;
        event = blank();
      }
    }
  } finally {
    clearTimeout(timer);
    reader.cancel().catch(() => {});
  }
}

const blank = () => ({ event: 'message', id: null, data: null });

function field(event, line) {
  const colon = line.indexOf(':');
  if (colon === 0) return; // a comment
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
  if (name === 'data') event.data = event.data === null ? value : event.data + '\n' + value;
  else if (name === 'id') event.id = value;
  else if (name === 'event') event.event = value;
}
