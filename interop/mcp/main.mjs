// Drives runtime mcp, as an MCP host does, with the client of the official
// TypeScript SDK: one line a case, as the other suites print them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const modules = createRequire(join(process.env.INTEROP_MCP_MODULES, "package.json"));
const load = (name) => import(pathToFileURL(modules.resolve(`@modelcontextprotocol/sdk/${name}`)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");

const PATIENCE = 30_000;
const PREFIX = "[built-in scripted model, no intelligence behind it] ";
const chosen = process.argv[2] ?? "";
const { version } = JSON.parse(
  readFileSync(join(process.env.INTEROP_MCP_MODULES, "node_modules/@modelcontextprotocol/sdk/package.json")),
);

async function connect(url, token) {
  const client = new Client({ name: "interop", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: process.env.INTEROP_RUNTIME,
      args: ["mcp"],
      env: { PATH: process.env.PATH, HOME: process.env.HOME, RUNTIME_URL: url, ...(token && { RUNTIME_TOKEN: token }) },
      stderr: "inherit",
    }),
  );
  return client;
}

const guarded = await connect(process.env.INTEROP_GUARDED_URL, process.env.INTEROP_TOKEN);
const stranger = await connect(process.env.INTEROP_GUARDED_URL);

/** Calls the tool; what it says is JSON whether it failed or not. */
async function call(args, client = guarded) {
  const result = await client.callTool({ name: "codex_bridge", arguments: args });
  assert.equal(result.content.length, 1);
  assert.equal(result.content[0].type, "text");
  const answer = JSON.parse(result.content[0].text);
  assert.deepEqual(result.structuredContent, answer);
  return { answer, failed: Boolean(result.isError) };
}

async function done(args) {
  const { answer, failed } = await call(args);
  assert.ok(!failed && answer.success === true, JSON.stringify(answer));
  return answer;
}

async function until(task_id, status) {
  for (const end = Date.now() + PATIENCE; ; ) {
    const { task } = await done({ action: "status", task_id });
    if (task.status === status) return task;
    assert.ok(Date.now() < end, `the task is ${task.status}, and never ${status}`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

const cases = {
  tools: async () => {
    const { tools } = await guarded.listTools();
    const tool = tools.find((t) => t.name === "codex_bridge");
    assert.deepEqual(tool.inputSchema.required, ["action"]);
    assert.deepEqual(Object.keys(tool.inputSchema.properties).sort(), [
      "action", "answers", "approval_policy", "codex_home", "cwd", "decision", "dry_run", "instruction",
      "limit", "model", "notify_target", "prompt", "sandbox", "task_id",
    ]);
  },
  "start, status, list": async () => {
    const { task, protocol } = await done({ action: "start", prompt: "say hello mcp" });
    assert.match(task.task_id, /^codex-[0-9a-f]{12}$/);
    assert.equal(protocol.mailbox, false);
    const ended = await until(task.task_id, "completed");
    assert.equal(ended.final_summary, PREFIX + "hello mcp");
    assert.equal(ended.active_connection, false);
    const { tasks } = await done({ action: "list", limit: 1 });
    assert.deepEqual(tasks.map((t) => t.task_id), [task.task_id]);
  },
  "steer, interrupt": async () => {
    const { task } = await done({ action: "start", prompt: "hang" });
    await until(task.task_id, "working");
    // The steered turn hangs too: one that ends at once may have ended before the interrupt comes.
    const { result } = await done({ action: "steer", task_id: task.task_id, instruction: "hang" });
    assert.ok(["steered", "queued", "started"].includes(result.turn), JSON.stringify(result));
    const interrupted = await done({ action: "interrupt", task_id: task.task_id });
    assert.equal(interrupted.task.status, "cancelled");
  },
  notify_completed: async () => {
    const { task } = await done({ action: "start", prompt: "say x", notify_target: "local" });
    await until(task.task_id, "completed");
    const report = await done({ action: "notify_completed", dry_run: true });
    assert.equal(report.dry_run, true);
    assert.equal(report.processed, report.notifications.length);
  },
  "both shapes of errors": async () => {
    const unknown = await call({ action: "status", task_id: "codex-ffffffffffff" });
    assert.deepEqual(unknown, {
      answer: { success: false, error: "Unknown Codex bridge task: codex-ffffffffffff" },
      failed: false,
    });
    for (const args of [
      { action: "start", prompt: "x", sandbox: "danger-full-access" },
      { action: "start", prompt: "x", approval_policy: "never" },
      { action: "steer", task_id: "codex-ffffffffffff", instruction: "x" },
      { action: "dance" },
      { action: "list", limit: "many" },
    ]) {
      const { answer, failed } = await call(args);
      assert.ok(failed && answer.success === false && answer.error, JSON.stringify(answer));
    }
  },
  "a wrong token": async () => {
    const { answer, failed } = await call({ action: "list" }, stranger);
    assert.ok(failed && answer.error.includes("RUNTIME_TOKEN"), JSON.stringify(answer));
  },
};

let good = true;
for (const [title, test] of Object.entries(cases)) {
  const line = `mcp-sdk-js ${version} > runtime mcp, ${title}`;
  if (!line.includes(chosen)) continue;
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
await guarded.close();
await stranger.close();
process.exit(good ? 0 : 1);
