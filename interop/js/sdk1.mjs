// @a2a-js/sdk 1.x: A2A 1.0, and 0.3 through its compatibility layer, both over
// JSON-RPC and HTTP+JSON.
import { cases, guardedCases, plainCases } from "./cases.mjs";
import { load, versionOf } from "./load.mjs";
import { Recorder } from "./recorder.mjs";

const PACKAGE = "a2a-sdk-1";
const sdk = load(PACKAGE);
const client = load(`${PACKAGE}/client`);
const errors = load(`${PACKAGE}/errors`);

const NAMES = [
  [errors.TaskNotFoundError, "task-not-found"],
  [errors.TaskNotCancelableError, "task-not-cancelable"],
  [errors.UnsupportedOperationError, "unsupported"],
  [errors.RequestMalformedError, "invalid-params"],
];

function why(err) {
  for (const e of [err, err.cause]) {
    for (const [type, name] of NAMES) if (e instanceof type) return name;
    // The compatibility layer has no type for this one.
    if (/\(Code: -32602\)/.test(e?.message)) return "invalid-params";
  }
  return err.constructor.name;
}

const texts = (parts = []) => parts.map((p) => (p.content?.$case === "text" ? p.content.value : "")).join("");
const files = (parts = []) =>
  parts.flatMap(({ content, filename: name, mediaType: media }) => {
    if (content?.$case === "raw") return [{ name, media, content: Buffer.from(content.value).toString() }];
    return content?.$case === "url" ? [{ name, media, url: content.value }] : [];
  });
const artifact = (a) => ({ id: a.artifactId, text: texts(a.parts), files: files(a.parts) });
const state = (s) => sdk.taskStateToJSON(s.state).replace("TASK_STATE_", "").replaceAll("_", "-").toLowerCase();

function task(t) {
  if (!t.status) throw new Error(`not a task: ${JSON.stringify(t)}`);
  return {
    id: t.id,
    contextId: t.contextId,
    state: state(t.status),
    status: texts(t.status.message?.parts),
    artifacts: t.artifacts.map(artifact),
    history: t.history.map((m) => texts(m.parts)),
  };
}

function event({ payload }) {
  const v = payload?.value;
  switch (payload?.$case) {
    case "task":
      return { kind: "task", taskId: v.id, state: state(v.status), artifacts: task(v).artifacts };
    case "statusUpdate":
      return { kind: "status", taskId: v.taskId, state: state(v.status), said: texts(v.status.message?.parts), artifacts: [] };
    case "artifactUpdate":
      return { kind: "artifact", taskId: v.taskId, append: v.append, last: v.lastChunk, artifacts: [artifact(v.artifact)] };
  }
  throw new Error(`an event of the unknown kind ${payload?.$case}`);
}

const request = ({ id, text, parts, wait = true, ...rest }) =>
  sdk.SendMessageRequest.fromJSON({
    message: { messageId: id, role: "ROLE_USER", parts: parts ?? [{ text }], ...rest },
    configuration: { returnImmediately: !wait },
  });

async function* events(stream, losesAppend) {
  const known = new Set();
  for await (const e of stream) {
    const next = event(e);
    // The compatibility layer loses the member append of what it reads over
    // HTTP+JSON.
    if (losesAppend && next.kind === "artifact") next.append = known.has(next.artifacts[0].id);
    for (const a of next.artifacts) known.add(a.id);
    yield next;
  }
}

/** The neutral shape of an SDK's client. */
const neutral = (c, more = {}) => ({
  version: "1.0",
  why,
  send: async (m) => task(await c.sendMessage(request(m))),
  stream: (m) => events(c.sendMessageStream(request(m)), more.losesAppend),
  get: async (id, historyLength) => task(await c.getTask({ tenant: "", id, historyLength })),
  cancel: async (id) => task(await c.cancelTask({ tenant: "", id })),
  subscribe: (id) => events(c.resubscribeTask({ tenant: "", id }), more.losesAppend),
  list: async (query) => {
    const page = await c.listTasks(sdk.ListTasksRequest.fromJSON(query));
    return { ...page, tasks: page.tasks.map(task) };
  },
  ...more,
});

async function open({ base, all }, version, binding) {
  const recorder = new Recorder();
  const options = { fetchImpl: recorder.fetch, legacyCompat: { enabled: true } };
  const card = await new client.DefaultAgentCardResolver(options).resolve(base);
  const fits = (i) => i.protocolBinding === binding && i.protocolVersion === version;
  let supportedInterfaces = card.supportedInterfaces.filter(fits);
  if (supportedInterfaces.length === 0) {
    if (!all) return undefined;
    supportedInterfaces = [{ url: base, protocolBinding: binding, protocolVersion: version, tenant: "" }];
  }
  const factory = new client.ClientFactory({
    transports: [new client.JsonRpcTransportFactory(options), new client.RestTransportFactory(options)],
  });
  const c = await factory.createFromAgentCard({ ...card, supportedInterfaces });
  const more = { version, binding, recorder, card };
  if (version === "0.3") Object.assign(more, { list: undefined, losesAppend: binding === "HTTP+JSON" });
  return neutral(c, more);
}

async function openPlain({ base }) {
  return neutral(await new client.ClientFactory().createFromUrl(base));
}

async function openGuarded({ guarded, token }) {
  const fetchImpl = client.createAuthenticatingFetchWithRetry(fetch, {
    headers: async () => ({ Authorization: `Bearer ${token}` }),
    shouldRetryWithHeaders: async () => undefined,
  });
  const factory = new client.ClientFactory({ transports: [new client.JsonRpcTransportFactory({ fetchImpl })] });
  const c = await factory.createFromUrl(guarded);
  return neutral(c, { stranger: await openPlain({ base: guarded }), card: await c.getAgentCard() });
}

const name = `js ${versionOf(PACKAGE)}`;

export const clients = [
  ...["1.0", "0.3"].flatMap((version) =>
    ["JSONRPC", "HTTP+JSON"].map((binding) => ({
      name: `${name}, A2A ${version} ${binding}`,
      cases,
      open: (target) => open(target, version, binding),
    })),
  ),
  { name: `${name}, made of a URL`, cases: plainCases, open: openPlain },
  { name: `${name}, with a token`, cases: guardedCases, open: openGuarded },
];
