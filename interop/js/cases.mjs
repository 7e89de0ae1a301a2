// What every client is asked to do. A case gets a client of the neutral shape
// that sdk03.mjs and sdk1.mjs make of their SDK: tasks and events are alike in
// all of them, errors are named by client.why.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

const PREFIX = "[built-in scripted model, no intelligence behind it] ";
const ENDED = ["completed", "failed", "canceled", "rejected"];

const id = () => randomUUID();
const pieces = (count, size) =>
  Array.from({ length: count }, (_, n) => String(n).padStart(size - 1, "0") + " ").join("");

/** Puts together what a stream shows, as the specification has it. */
class Reader {
  events = [];
  artifacts = new Map();

  take(event) {
    this.events.push(event);
    for (const a of event.artifacts) {
      assert.ok(!event.append || this.artifacts.has(a.id), `a chunk is appended to the unknown artifact ${a.id}`);
      this.artifacts.set(a.id, event.append ? this.artifacts.get(a.id) + a.text : a.text);
    }
    return event;
  }

  async all(stream) {
    for await (const event of stream) this.take(event);
    return this;
  }

  get text() {
    return [...this.artifacts.values()].join("");
  }

  /** Checks the order of the events, and that all are of one task. */
  check(state, text) {
    assert.equal(this.events[0]?.kind, "task", "the first event is the task");
    const last = this.events.at(-1);
    assert.equal(last.state, state, `the last event is ${JSON.stringify(last)}`);
    assert.equal(this.events.filter((e) => ENDED.includes(e.state)).length, 1, "one event is terminal");
    assert.deepEqual(new Set(this.events.map((e) => e.taskId)).size, 1, "the events are of one task");
    if (text !== undefined) assert.equal(this.text, text);
  }
}

// More pieces than anybody waits for: what streams them is canceled.
const ENDLESS = "stream 100000 8 20ms";

/** Reads a stream, cancels its task when there is enough of it, and reads on to the end. */
async function cut(client, stream, enough) {
  const seen = new Reader();
  let canceled;
  for await (const event of stream) {
    seen.take(event);
    if (!canceled && enough(seen)) canceled = client.cancel(event.taskId);
  }
  assert.ok(canceled, "the stream ends before it is canceled");
  const task = await canceled;
  seen.check("canceled", textOf(await client.get(task.id)));
  assert.ok((PREFIX + pieces(100000, 8)).startsWith(seen.text), "the text has no gap");
  return seen;
}

const textOf = (task) => task.artifacts.map((a) => a.text).join("");

async function fails(client, want, call) {
  let got;
  try {
    got = await call();
  } catch (err) {
    const why = client.why(err);
    assert.ok([want].flat().includes(why), `want ${want}, got ${why}: ${err.message}`);
    return;
  }
  assert.fail(`want ${want}, got ${JSON.stringify(got)}`);
}

const drain = async (stream) => (await new Reader().all(stream)).events;

const pause = () => new Promise((resolve) => setTimeout(resolve, 25));

async function runs(client, task) {
  assert.ok(!ENDED.includes(task.state), `the task is ${task.state}`);
  const now = await client.get(task.id);
  assert.ok(!ENDED.includes(now.state), `the task is ${now.state} already`);
}

/** Waits for one of the states, and for words in what has been said. */
async function until(client, taskId, states, words = "") {
  for (;;) {
    const task = await client.get(taskId);
    if (states.includes(task.state) && textOf(task).includes(words)) return task;
    assert.ok(!ENDED.includes(task.state), `the task is ${task.state}`);
    await pause();
  }
}

const ANSWER = PREFIX + pieces(12, 8);
const asksForChanges = () => `patch ${id()}.txt\nstream 12 8 20ms`; // is answered with a diff, too

const times = (texts) => texts.join("").split(ANSWER).length - 1;

function toldOnce(task) {
  assert.equal(task.state, "completed");
  assert.equal(task.artifacts.at(-1).text, ANSWER, "the last artifact is the answer");
  assert.equal(times([textOf(task), task.status, ...task.history]), 1, "the answer is told once");
}

export const cases = {
  async card(c) {
    assert.equal(c.card.name, "codex (scripted model)");
    assert.equal(c.card.capabilities.streaming, true);
    assert.ok(c.card.skills.length > 0);
  },

  async send(c) {
    const task = await c.send({ id: id(), text: "say hello" });
    assert.equal(task.state, "completed");
    assert.equal(textOf(task), PREFIX + "hello");
    assert.ok(task.id && task.contextId);
  },

  async "send-without-waiting"(c) {
    const task = await c.send({ id: id(), text: "wait 1s\nsay later", wait: false });
    assert.ok(["submitted", "working"].includes(task.state), task.state);
    assert.equal(textOf(await until(c, task.id, ["completed"])), PREFIX + "later");
  },

  async stream(c) {
    const seen = await new Reader().all(c.stream({ id: id(), text: "stream 40 8 20ms" }));
    seen.check("completed", PREFIX + pieces(40, 8));
  },

  async "stream-in-chunks"(c) {
    const chunks = (seen) => seen.events.filter((e) => e.kind === "artifact").length;
    await cut(c, c.stream({ id: id(), text: ENDLESS }), (seen) => chunks(seen) > 5);
  },

  async "once-in-a-stream"(c) {
    const seen = await new Reader().all(c.stream({ id: id(), text: asksForChanges() }));
    seen.check("completed");
    assert.equal([...seen.artifacts.values()].at(-1), ANSWER, "the last artifact is the answer");
    assert.equal(times([seen.text, ...seen.events.map((e) => e.said ?? "")]), 1, "the answer is told once");
    const chunk = seen.events.findLast((e) => e.kind === "artifact");
    if (!c.losesAppend) assert.equal(chunk.last, true, "the last chunk is marked");
    assert.ok(chunk.artifacts[0].text.trim(), "the last chunk is not empty");
  },

  async "once-in-an-answer"(c) {
    toldOnce(await c.send({ id: id(), text: asksForChanges() }));
  },

  async "once-when-polled"(c) {
    const sent = await c.send({ id: id(), text: asksForChanges(), wait: false });
    toldOnce(await until(c, sent.id, ["completed"]));
  },

  async question(c) {
    const asked = await c.send({ id: id(), text: "escalate echo it ran" });
    assert.equal(asked.state, "input-required");
    assert.match(asked.status, /echo it ran/);
    const task = await c.send({ id: id(), text: "accept", taskId: asked.id, contextId: asked.contextId });
    assert.deepEqual([task.id, task.state], [asked.id, "completed"]);
    assert.match(textOf(task), /it ran/);
  },

  // A small file comes in the answer, a large one by a URL, and a secret not at all.
  async files(c) {
    const folder = id();
    const write = "printf small > small.txt; head -c 3000000 /dev/zero > large.bin; printf secret > .auth_token";
    const names = ["small.txt", "large.bin", ".auth_token"].map((name) => `/workspace/${folder}/${name}`).join(" and ");
    const text = `run mkdir ${folder} && cd ${folder}; ${write}\nsay see ${names}`;
    const seen = await new Reader().all(c.stream({ id: id(), text }));
    const shown = seen.events.filter((e) => e.kind === "artifact").flatMap((e) => e.artifacts.flatMap((a) => a.files));
    const task = await c.get(seen.events[0].taskId);
    const url = shown[1]?.url;
    const want = [
      { name: "small.txt", media: "text/plain", content: "small" },
      { name: "large.bin", media: "application/octet-stream", url },
    ];
    assert.deepEqual(shown, want);
    assert.deepEqual(task.artifacts.flatMap((a) => a.files), want);
    const get = async (url, headers) => { // without a token
      const res = await fetch(url, { headers });
      return [res.status, (await res.arrayBuffer()).byteLength];
    };
    assert.deepEqual(await get(url), [200, 3_000_000]);
    assert.deepEqual(await get(url, { Range: "bytes=2999990-" }), [206, 10]);
    const wrong = url.replace(/[^/]+(?=\/large.bin$)/, "A".repeat(43));
    assert.equal((await get(wrong))[0], 404);
  },

  async "failed-turn"(c) {
    const task = await c.send({ id: id(), text: "fail 400" });
    assert.equal(task.state, "failed");
    assert.match(task.status, /scripted failure 400/);
  },

  async get(c) {
    const sent = await c.send({ id: id(), text: "say kept" });
    const task = await c.get(sent.id);
    assert.equal(task.state, "completed");
    assert.equal(textOf(task), PREFIX + "kept");
    assert.equal(task.contextId, sent.contextId);
    assert.deepEqual(task.history, ["say kept"]);
    assert.deepEqual((await c.get(sent.id, 0)).history, []);
  },

  async list(c) {
    if (!c.list) return "not in this version";
    const first = await c.send({ id: id(), text: "say one" });
    const second = await c.send({ id: id(), text: "say two", contextId: first.contextId });
    const found = [];
    let token = "";
    do {
      const page = await c.list({ contextId: first.contextId, pageSize: 1, pageToken: token });
      assert.equal(page.totalSize, 2);
      assert.ok(page.tasks.length <= 1);
      found.push(...page.tasks.map((t) => t.id));
      token = page.nextPageToken;
    } while (token);
    assert.deepEqual(found, [second.id, first.id]);
    const none = await c.list({ contextId: "no-such-context" });
    assert.deepEqual([none.tasks, none.nextPageToken], [[], ""]);
  },

  async cancel(c) {
    const seen = new Reader();
    const stream = c.stream({ id: id(), text: "run sleep 60" });
    let state;
    do {
      const { value, done } = await stream.next();
      assert.ok(!done, "the stream goes on");
      state = seen.take(value).state;
    } while (state !== "working");
    const [task] = await Promise.all([c.cancel(seen.events[0].taskId), seen.all(stream)]);
    assert.equal(task.state, "canceled");
    seen.check("canceled");
    assert.equal((await c.get(task.id)).state, "canceled");
  },

  async "cancel-ended"(c) {
    const task = await c.send({ id: id(), text: "say done" });
    await fails(c, "task-not-cancelable", () => c.cancel(task.id));
  },

  async subscribe(c) {
    const task = await c.send({ id: id(), text: ENDLESS, wait: false });
    for (;;) {
      const now = await c.get(task.id);
      if (textOf(now).length > PREFIX.length) break;
      assert.ok(!ENDED.includes(now.state), "the turn has ended too early");
      await pause();
    }
    const seen = await cut(c, c.subscribe(task.id), (s) => s.events.length > 3);
    assert.ok(seen.events[0].artifacts.length > 0, "the snapshot has the text so far");
  },

  async "subscribe-ended"(c) {
    const task = await c.send({ id: id(), text: "say done" });
    await fails(c, "unsupported", () => drain(c.subscribe(task.id)));
  },

  async "unknown-task"(c) {
    await fails(c, "task-not-found", () => c.get("no-such-task"));
    await fails(c, "task-not-found", () => c.cancel("no-such-task"));
    await fails(c, "task-not-found", () => drain(c.subscribe("no-such-task")));
    await fails(c, "task-not-found", () => c.send({ id: id(), text: "say x", taskId: "no-such-task" }));
  },

  async "message-to-ended-task"(c) {
    const { id: taskId, contextId } = await c.send({ id: id(), text: "say done" });
    await fails(c, "unsupported", () => c.send({ id: id(), text: "say more", taskId, contextId }));
    await fails(c, "unsupported", () => drain(c.stream({ id: id(), text: "say more", taskId, contextId })));
  },

  async "bad-params"(c) {
    await fails(c, "invalid-params", () => c.send({ id: id(), parts: [] }));
    await fails(c, "invalid-params", () => c.send({ id: id(), text: " " }));
    await fails(c, "invalid-params", () => drain(c.stream({ id: id(), parts: [] })));
    if (c.list) await fails(c, "invalid-params", () => c.list({ pageSize: 1000 }));
  },

  async "same-message"(c) {
    const message = { id: id(), text: "say once\nhang" };
    const first = await c.send({ ...message, wait: false });
    await runs(c, first);
    const waiting = c.send(message); // while the turn runs
    await until(c, first.id, ["working"], "once");
    await c.cancel(first.id);
    const second = await waiting;
    const third = await c.send(message); // when it has ended
    assert.deepEqual([second.id, third.id], [first.id, first.id]);
    assert.deepEqual([second.state, third.state], ["canceled", "canceled"]);
    assert.deepEqual([textOf(second), textOf(third)], [PREFIX + "once", PREFIX + "once"]);
    await fails(c, "invalid-params", () => c.send({ ...message, text: "say something else" }));
  },

  async "follow-up"(c) {
    const first = await c.send({ id: id(), text: "remember the plum" });
    const second = await c.send({ id: id(), text: "recall", contextId: first.contextId });
    assert.equal(second.contextId, first.contextId);
    assert.notEqual(second.id, first.id);
    assert.equal(textOf(second), PREFIX + "recalled: the plum");
  },

  async "message-to-running-task"(c) {
    const task = await c.send({ id: id(), text: "hang", wait: false });
    await until(c, task.id, ["working"]);
    const { id: taskId, contextId } = task;
    const answer = await c.send({ id: id(), text: "say second", taskId, contextId });
    assert.equal(answer.id, task.id);
    assert.equal(answer.state, "completed");
  },

  // The last, because it looks at all calls before it.
  async wire(c) {
    assert.deepEqual(c.recorder.foreign(c), []);
  },
};

/** For a client made of nothing but a URL, as a newcomer makes it. */
export const plainCases = {
  send: cases.send,
  stream: cases.stream,
  "stream-in-chunks": cases["stream-in-chunks"],

  // Longer than the shortest time-out that an SDK has by itself (5 s).
  async "silent-turn"(c) {
    const seen = await new Reader().all(c.stream({ id: id(), text: "wait 6s\nsay awake" }));
    seen.check("completed", PREFIX + "awake");
  },
};

/** For a server that asks for a token; c.stranger has none. */
export const guardedCases = {
  async security(c) {
    assert.deepEqual(Object.keys(c.card.securitySchemes), ["bearer"]);
  },
  send: cases.send,
  files: cases.files,
  stream: cases.stream,
  "stream-in-chunks": cases["stream-in-chunks"],

  async refused(c) {
    await assert.rejects(c.stranger.send({ id: id(), text: "say hello" }), /401/);
    // What a refused stream says of it is the SDK's affair.
    await assert.rejects(drain(c.stranger.stream({ id: id(), text: "say hello" })));
  },
};
