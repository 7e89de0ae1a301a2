// @a2a-js/sdk 0.3: A2A 0.3 over JSON-RPC and HTTP+JSON.
import { cases, guardedCases, plainCases } from "./cases.mjs";
import { load, versionOf } from "./load.mjs";
import { Recorder } from "./recorder.mjs";

const PACKAGE = "a2a-sdk-0.3";
const sdk = load(`${PACKAGE}/client`);

const NAMES = [
  [sdk.TaskNotFoundError, "task-not-found"],
  [sdk.TaskNotCancelableError, "task-not-cancelable"],
  [sdk.UnsupportedOperationError, "unsupported"],
];

function why(err) {
  for (const e of [err, err.cause]) {
    for (const [type, name] of NAMES) if (e instanceof type) return name;
    if (e?.errorResponse?.error.code === -32602 || /\(Code: -32602\)/.test(e?.message)) return "invalid-params";
    // A refused stream shows nothing but its text.
    if (/\(Code: -32004\)/.test(e?.message)) return "unsupported";
    if (/\(Code: -32001\)/.test(e?.message)) return "task-not-found";
  }
  return `${err.constructor.name}`;
}

const texts = (parts = []) => parts.map((p) => p.text ?? "").join("");
const files = (parts = []) =>
  parts.flatMap(({ file }) => {
    const content = file?.bytes && Buffer.from(file.bytes, "base64").toString();
    return file ? [{ name: file.name, media: file.mimeType, ...(content ? { content } : { url: file.uri }) }] : [];
  });
const artifact = (a) => ({ id: a.artifactId, text: texts(a.parts), files: files(a.parts) });

function task(t) {
  if (t.kind !== "task") throw new Error(`a ${t.kind} and not a task: ${JSON.stringify(t)}`);
  return {
    id: t.id,
    contextId: t.contextId,
    state: t.status.state,
    status: texts(t.status.message?.parts),
    artifacts: (t.artifacts ?? []).map(artifact),
    history: (t.history ?? []).map((m) => texts(m.parts)),
  };
}

function event(e) {
  switch (e.kind) {
    case "task":
      return { kind: "task", taskId: e.id, state: e.status.state, artifacts: task(e).artifacts };
    case "status-update":
      if (e.final !== ["completed", "failed", "canceled", "rejected", "input-required"].includes(e.status.state)) {
        throw new Error(`final is ${e.final} at ${e.status.state}`);
      }
      return { kind: "status", taskId: e.taskId, state: e.status.state, said: texts(e.status.message?.parts), artifacts: [] };
    case "artifact-update":
      return { kind: "artifact", taskId: e.taskId, append: e.append, last: e.lastChunk, artifacts: [artifact(e.artifact)] };
  }
  throw new Error(`an event of the unknown kind ${e.kind}`);
}

const params = ({ id, text, parts, wait = true, ...rest }) => ({
  message: { kind: "message", messageId: id, role: "user", parts: parts ?? [{ kind: "text", text }], ...rest },
  configuration: { blocking: wait },
});

async function* events(stream) {
  const known = new Set();
  for await (const e of stream) {
    const next = event(e);
    // Over HTTP+JSON this SDK loses the member append of what it reads.
    if (next.kind === "artifact") next.append ??= known.has(next.artifacts[0].id);
    for (const a of next.artifacts) known.add(a.id);
    yield next;
  }
}

/** The neutral shape of an SDK's client. */
const neutral = (client, more) => ({
  version: "0.3",
  why,
  send: async (m) => task(await client.sendMessage(params(m))),
  stream: (m) => events(client.sendMessageStream(params(m))),
  get: async (id, historyLength) => task(await client.getTask({ id, historyLength })),
  cancel: async (id) => task(await client.cancelTask({ id })),
  subscribe: (id) => events(client.resubscribeTask({ id })),
  ...more,
});

function factory(fetchImpl, binding) {
  return new sdk.ClientFactory({
    transports: [new sdk.JsonRpcTransportFactory({ fetchImpl }), new sdk.RestTransportFactory({ fetchImpl })],
    preferredTransports: [binding],
    cardResolver: new sdk.DefaultAgentCardResolver({ fetchImpl }),
  });
}

async function open({ base, all }, binding) {
  const recorder = new Recorder();
  const card = await new sdk.DefaultAgentCardResolver({ fetchImpl: recorder.fetch }).resolve(base);
  const offered = [card.preferredTransport, ...(card.additionalInterfaces ?? []).map((i) => i.transport)];
  if (!offered.includes(binding)) {
    if (!all) return undefined;
    card.additionalInterfaces = [{ transport: binding, url: base }];
  }
  const client = await factory(recorder.fetch, binding).createFromAgentCard(card);
  return neutral(client, { binding, recorder, card });
}

async function openPlain({ base }) {
  return neutral(await new sdk.ClientFactory().createFromUrl(base));
}

async function openGuarded({ guarded, token }) {
  const withToken = sdk.createAuthenticatingFetchWithRetry(fetch, {
    headers: async () => ({ Authorization: `Bearer ${token}` }),
    shouldRetryWithHeaders: async () => undefined,
  });
  const client = await factory(withToken, "JSONRPC").createFromUrl(guarded);
  const stranger = await openPlain({ base: guarded });
  return neutral(client, { stranger, card: await client.getAgentCard() });
}

const name = `js ${versionOf(PACKAGE)}`;

export const clients = [
  ...["JSONRPC", "HTTP+JSON"].map((binding) => ({
    name: `${name}, A2A 0.3 ${binding}`,
    cases,
    open: (target) => open(target, binding),
  })),
  { name: `${name}, made of a URL`, cases: plainCases, open: openPlain },
  { name: `${name}, with a token`, cases: guardedCases, open: openGuarded },
];
