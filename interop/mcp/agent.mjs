// Has an MCP host be an agent of a workspace by runtime mcp alone, with the client of the official TypeScript SDK: the
// platform is the double, and is talked to as its user does. One line a case, as the other suites print them.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const modules = createRequire(join(process.env.INTEROP_MCP_MODULES, "package.json"));
const load = (name) => import(pathToFileURL(modules.resolve(`@modelcontextprotocol/sdk/${name}`)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");

const PATIENCE = 30_000;
const chosen = process.argv[2] ?? "";
const { version } = JSON.parse(
  readFileSync(join(process.env.INTEROP_MCP_MODULES, "node_modules/@modelcontextprotocol/sdk/package.json")),
);
const platform = process.env.INTEROP_PLATFORM_URL;
const home = mkdtempSync(join(process.env.INTEROP_TMP, "agent-"));

let transport;
let client;

async function start() {
  client = new Client({ name: "interop-host", version: "1" });
  transport = new StdioClientTransport({
    command: process.env.INTEROP_RUNTIME,
    args: ["mcp"],
    cwd: home,
    env: {
      PATH: process.env.PATH, HOME: home, WORKSPACE_ID: process.env.INTEROP_WORKSPACE, PLATFORM_URL: platform,
      MOLECULE_WORKSPACE_TOKEN_FILE: process.env.INTEROP_TOKEN_FILE, CHANNEL_POLL_INTERVAL: "50ms",
    },
    stderr: "inherit",
  });
  await client.connect(transport);
}

/** Ends the program as a machine that goes off does. */
async function kill() {
  process.kill(transport.pid, "SIGKILL");
  await client.close();
}

async function text(name, args = {}, options) {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  assert.equal(result.content.length, 1);
  assert.ok(!result.isError);
  return result.content[0].text;
}

const call = async (name, args, options) => JSON.parse(await text(name, args, options));

async function say(words) {
  const answer = await fetch(`${platform}/say`, { method: "POST", body: new URLSearchParams({ text: words }) });
  assert.equal(answer.status, 200, await answer.text());
}

/** What the user was told so far. */
async function told() {
  const page = await (await fetch(platform)).text();
  const list = page.split("What the user was told</h2><ul>")[1].split("</ul>")[0];
  return [...list.matchAll(/<li>(.*?)<\/li>/g)].map((m) => m[1]).filter((line) => line !== "nothing yet");
}

async function toldInAll(want) {
  for (const end = Date.now() + PATIENCE; ; ) {
    const lines = await told();
    if (lines.length >= want.length) return assert.deepEqual(lines, want);
    assert.ok(Date.now() < end, `the user was told ${JSON.stringify(lines)}`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

const cases = {
  "waits and answers": async () => {
    await start();
    assert.match(client.getInstructions(), /wait_for_message/);
    const { tools } = await client.listTools();
    for (const name of ["wait_for_message", "inbox_peek", "inbox_pop", "reply_to_message", "send_message_to_user"])
      assert.ok(tools.some((t) => t.name === name), `there is no ${name}`);
    const waiting = call("wait_for_message", { timeout_secs: 20 });
    await text("list_peers"); // beside a call that waits
    await say("one");
    const message = await waiting;
    assert.equal(message.text, "one");
    assert.equal(message.kind, "canvas_user");
    const reply = await call("reply_to_message", { activity_id: message.activity_id, message: "answer one" });
    assert.equal(reply.replied, true);
    await toldInAll(["answer one"]);
  },
  "gives a wait up": async () => {
    const up = new AbortController();
    setTimeout(() => up.abort(), 200);
    await assert.rejects(text("wait_for_message", { timeout_secs: 20 }, { signal: up.signal }));
    assert.equal((await call("wait_for_message", { timeout_secs: 0.1 })).timeout, true);
  },
  "goes on after a kill": async () => {
    await say("two");
    const { activity_id } = await call("wait_for_message", { timeout_secs: 20 });
    await kill();
    await start();
    assert.equal((await call("wait_for_message", { timeout_secs: 20 })).activity_id, activity_id);
    assert.equal((await call("reply_to_message", { activity_id, message: "answer two" })).replied, true);
    await kill();
    await start();
    assert.equal((await call("reply_to_message", { activity_id, message: "answer two, anew" })).replied, false);
    assert.deepEqual(await call("inbox_peek"), []);
    await toldInAll(["answer one", "answer two"]);
    await client.close();
  },
};

let good = true;
const lineOf = (title) => `mcp-sdk-js ${version} > runtime mcp as an agent, ${title}`;
// They are one conversation, so that all of them run where one was chosen.
const wanted = Object.keys(cases).some((title) => lineOf(title).includes(chosen));
for (const [title, test] of wanted ? Object.entries(cases) : []) {
  const line = lineOf(title);
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${PATIENCE / 1000} s`)), PATIENCE);
  });
  try {
    await Promise.race([test(), late]);
    console.log(`ok   ${line}`);
  } catch (err) {
    good = false;
    console.log(`FAIL ${line}: ${err.message.replace(/\s+/g, " ").trim()}`);
  } finally {
    clearTimeout(timer);
  }
}
process.exit(good ? 0 : 1);
