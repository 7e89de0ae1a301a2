package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// modules tests in the browser what the page's modules do without a page.
func modules(t *testing.T, r *program) {
	p := r.console(t)
	for name, c := range map[string]struct{ module, expression, want string }{
		"diff-two-files": {"diff", `m.parse("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\ndiff --git a/y b/y\ndeleted file mode 100644\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\n").map((f) => [f.path, f.added, f.removed, f.note, f.rows.length].join(" ")).join("|")`,
			"x 1 1  4|y 0 1 deleted 2"},
		"diff-lines-like-headers": {"diff", `m.parse("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- one\n-diff --git a/q b/q\n+++ two\n+@@ -1 +1 @@\n\\ No newline at end of file\n").map((f) => [f.path, f.added, f.removed].join(" ")).join("|")`,
			"x 2 2"},
		"diff-none":        {"diff", `m.diffView("no diff at all")[0].textContent`, "no diff at all"},
		"shell-single":     {"entries", `m.bare("/bin/bash -lc 'echo hi | wc'")`, "echo hi | wc"},
		"shell-mixed":      {"entries", `m.bare("/bin/bash -lc 'it'\"'\"'s'")`, "it's"},
		"shell-double":     {"entries", `m.bare('bash -lc "grep \\"a\\" b"')`, `grep "a" b`},
		"shell-expansion":  {"entries", `m.bare('/bin/bash -lc "echo $(id)"')`, `/bin/bash -lc "echo $(id)"`},
		"shell-elsewhere":  {"entries", `m.bare("/workspace/x/bash -lc 'ls'")`, "/workspace/x/bash -lc 'ls'"},
		"shell-usr":        {"entries", `m.bare("/usr/bin/bash -lc 'ls'")`, "ls"},
		"shell-two-words":  {"entries", `m.bare("/bin/bash -lc 'one' two")`, "/bin/bash -lc 'one' two"},
		"shell-none":       {"entries", `m.bare("git status")`, "git status"},
		"prose-code":       {"prose", "m.prose('a\\n```go\\nx := `1`\\n```\\n- b\\n- c').map((n) => n.tagName).join(' ')", "P PRE UL"},
		"prose-open-fence": {"prose", "m.prose('```\\nnever closed').map((n) => n.textContent).join('|')", "never closed"},
		"prose-plain":      {"prose", `String(m.prose("just a sentence"))`, "null"},
		"literal-unseen":   {"dom", `m.code("a\u202eb\u200bc").textContent`, "aU+202EbU+200Bc"},
		"literal-blanks":   {"dom", `m.code("a\u3164b\u115fc\u1160d\u2800e\u034ff\ufe00g\ufe0fh\u{e0100}i\u17b4j\uffa0k").textContent`, "aU+3164bU+115FcU+1160dU+2800eU+034FfU+FE00gU+FE0FhU+E0100iU+17B4jU+FFA0k"},
		"literal-spaces":   {"dom", `m.code("a b\u00a0c\u1680d\u2000e\u2003f\u200ag\u202fh\u205fi\u3000j").textContent`, "a bU+00A0cU+1680dU+2000eU+2003fU+200AgU+202FhU+205FiU+3000j"},
		"prose-spaces":     {"dom", `m.prose("Non\u00a0! \u202e\u3000").map((n) => n.textContent ?? n).join("")`, "Non\u00a0! U+202E\u3000"},
		"literal-emoji":    {"dom", `String(m.code("\u2764\ufe0f \u{1f5c4}\ufe0f 1\ufe0f\u20e3").childElementCount)`, "0"},
		"literal-flood":    {"dom", `String(m.literal("\u202e".repeat(9999)).length)`, "51"},
		"literal-number":   {"dom", `m.code(7).textContent`, "7"},
		"diff-many-files": {"diff", `m.diffView("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n".repeat(450)).map((n) => n.textContent).slice(-1) + ""`,
			"Show 200 more of 250 files"},
		"span-minutes":      {"format", `m.span(185_000)`, "3 min 5 s"},
		"calls":             {"format", `m.modelCalls({ count: 3, transport: "websocket", seconds: 5.1, firstByteSeconds: 0.42, connectSeconds: 0.06, tokensPerSecond: 61.2 })`, "model: 3 calls, first byte 420 ms (connect 60 ms), 61 tokens/s"},
		"calls-failed":      {"format", `m.modelCalls({ count: 1, failed: 1, transport: "http", seconds: 2 })`, "model: 1 call (1 failed)"},
		"calls-whole":       {"format", `m.callsWhole({ transport: "http", seconds: 2, outputTokens: 1200 })`, "by http, 2.0 s in all, 1,200 tokens written"},
		"calls-of-turns":    {"transcript", called, "1 2 none 3"},
		"calls-notice":      {"entries", `m.entryView({ kind: "notice", text: "", outcome: "completed", calls: { count: 1, seconds: 1 } }).node.textContent`, "model: 1 call"},
		"state-spelling":    {"format", `m.stateOf("TASK_STATE_INPUT_REQUIRED")`, "input-required"},
		"epoch-begins-anew": {"transcript", epochs, "whole text"},
		"void":              {"transcript", voided, "0"},
		"queue-full":        {"runtime", queued(`limit: 4, asking: 68, fullSince: "2026-08-20T10:00:00Z"`), "0 of 4 turns running · 68 asking · 3 waiting||No other turn has begun since 2026-08-20T10:00:00Z.|ctwaiting"},
		"queue-busy":        {"runtime", queued(`limit: 4, asking: 0`), "0 of 4 turns running · 3 waiting||ctwaiting"},
		"snapshot":          {"transcript", snapshot, "user:hello message:reply diff:d"},
		"leave":             {"transcript", leave, `{"parts":[{"text":"steers"}],"metadata":{"sandbox":"read-only","approvalPolicy":"untrusted"}}`},
		"again":             {"transcript", again, "again|||||||||again|again|again|||"},
		"data-turn": {"transcript", dataTurns, strings.ReplaceAll("first {'decision':'x'} ?q={'id':'q','decision':'accept'} ?s={'id':'s','content':'AGAIN'} {'id':'q','decision':null} {'id':'r','action':'x'} {'id':'q','decision':'peer'} "+
			"{'id':'q','decision':'decline'}+{'id':'q','content':'INSTRUCTION'} {'id':'s','content':'AGAIN'} ?p= {'id':'p','decision':'platform'}", "'", `"`)},
		"question-unseen": {"questions", unseen, "all named"},
		"files":           {"transcript", handedOut, "message:see file:a.md file:b.bin | message:see file:a.md file:b.bin | "},
	} {
		expression := fmt.Sprintf("import('/console/static/%s.js').then((m) => String(%s))", c.module, c.expression)
		if got := get(p, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// unseen shows questions, all of whose words turn the text around them, and says which do.
const unseen = `(() => {
	const x = (word) => "\u202e" + word;
	const schema = { required: ["a"], properties: { [x("a")]: { type: "string", description: x("hint") }, b: { title: x("b"), enum: [x("c")] }, d: { type: "array", items: { enum: [x("e")] } } } };
	const wrong = [
		{ kind: "input", questions: [{ id: "q", header: x("h"), question: x("words?") }, { id: "r", question: x("which?"), options: [{ label: x("this"), description: x("and how") }] }] },
		{ kind: "form", server: x("s"), message: x("m"), schema }, { kind: "tool", tool: x("t"), description: x("does") }, { kind: "tool", message: x("m") }, { kind: "link", message: x("m"), url: "https://" + x("u") },
		{ kind: "auth", reason: x("why"), verificationUrl: "https://" + x("u") }, { kind: "command", command: x("c"), choices: [x("rule")] },
	].flatMap((data) => [{ open: true }, { open: false, answer: { parts: [{ text: x("yes") }] } }].map((how) => {
		const view = m.questionView({ data, ...how }, () => {});
		view.update();
		const said = [view.node.textContent, ...[...view.node.querySelectorAll("[aria-label]")].map((e) => e.ariaLabel)].join(" ");
		return said.includes("U+202E") && !said.includes("\u202e") ? "" : data.kind + ": " + said;
	})).filter(Boolean);
	return wrong.join(" | ") || "all named"; })()`

// queued is what the page says of a queue, with times as they were given.
func queued(slots string) string {
	return `m.queue({ running: 0, waiting: 3, ` + slots + `, contexts: [{ contextId: "c", waiting: ["t"] }] }, new Map()).filter(Boolean)
		.map((node) => { const at = node.querySelector("time"); at?.replaceWith(at.dateTime); return node.textContent; }).join("|")`
}

// Streams as they are rare: a text that begins anew in another epoch, one that is taken
// back, and the task as it is in place of what was lost.
const (
	transcribe = `(() => { const t = new m.Transcript("t", () => {}); const say = (id, artifact, more) => t.apply({ id, result: { artifactUpdate: { artifact, ...more } } }); `
	epochs     = transcribe + `
		say("1.1", { artifactId: "a", parts: [{ text: "cut o" }] });
		say("2.2", { artifactId: "a", parts: [{ text: "whole" }] }, { append: false });
		say("2.3", { artifactId: "a", parts: [{ text: " text" }] }, { append: true });
		return t.entries.map((e) => e.pieces.join("")).join("|"); })()`
	voided = transcribe + `
		say("1.1", { artifactId: "a", parts: [{ text: "cut o" }] });
		say("2.2", { artifactId: "a", parts: [] }, { metadata: { void: true } });
		return t.entries.length; })()`
	called = transcribe + `
		const status = (state, metadata, data) => t.apply({ id: "1.1", result: { statusUpdate: { status: { state, message: data && { parts: [{ data }] } }, metadata } } });
		status("TASK_STATE_WORKING", { turnId: "a" });
		status("TASK_STATE_WORKING", undefined, { type: "turn", outcome: "completed", text: "", modelCalls: { count: 1 } });
		status("TASK_STATE_INPUT_REQUIRED", { modelCalls: { count: 2 } });
		const seen = [t.entries[0].calls.count, t.task.metadata.modelCalls.count];
		status("TASK_STATE_WORKING", { turnId: "b" });
		seen.push(t.task.metadata.modelCalls?.count ?? "none");
		status("TASK_STATE_COMPLETED", { modelCalls: { count: 3 } });
		return [...seen, t.task.metadata.modelCalls.count].join(" "); })()`
	handedOut = transcribe + `
		const all = () => t.entries.map((e) => e.kind + ":" + (e.pieces?.join("") ?? e.part.filename)).join(" ");
		const files = [{ raw: "eA==", filename: "a.md" }, { url: "http://x/b", filename: "b.bin" }];
		say("1.1", { artifactId: "a", parts: [{ text: "see" }] }, { lastChunk: true });
		say("1.2", { artifactId: "a", parts: files }, { append: true, lastChunk: true });
		const seen = [all()];
		t.apply({ id: "2.0", result: { task: { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" }, artifacts: [{ artifactId: "a", parts: [{ text: "see" }, ...files] }] } } });
		seen.push(all());
		say("2.1", { artifactId: "a", parts: [] }, { metadata: { void: true } });
		return [...seen, all()].join(" | "); })()`
	// what is sent again asks for what the newest message did that asked for anything
	leave = transcribe + `
		const user = (messageId, metadata) => ({ role: "ROLE_USER", messageId, metadata, parts: [{ text: messageId }] });
		t.history([user("first", { sandbox: "read-only", approvalPolicy: "untrusted", other: "x" }), user("steers")]);
		return JSON.stringify(t.asked); })()`
	// what may be sent again, by the marks of the message
	again = transcribe + `
		return [{}, { source_workspace_id: "w" }, { delegation_id: 1 }, { parent_task_id: "p" }, { source: " platform " }, { source_type: "self-idle" },
			{ source_workspace_id: false }, { source_workspace_id: "\ufeff" }, { source: "platform\u0085" }, { source_workspace_id: " \u0085\u3000", source: "canvas_user" },
			{ source: " canvas_user\u0085" }, { source: " " }, { source: "slack", chat_id: "C0" }, { source: "github" }, undefined].map((metadata) => {
			t.history([{ role: "ROLE_USER", messageId: metadata ? "m" : "cron-1", metadata, parts: [{ text: "again" }] }]);
			return t.asked?.parts[0].text ?? "";
		}).join("|"); })()`
	// messages of data that are no answers, one that is, and questions that only the history tells of
	dataTurns = transcribe + `
		const user = (messageId, data, metadata) => ({ role: "ROLE_USER", messageId, parts: [data].flat().map((data) => ({ data })), metadata });
		const asks = (messageId, ...data) => ({ role: "ROLE_AGENT", messageId, parts: [{ text: "may I?" }, ...data.map((data) => ({ data: { type: "question", ...data } }))] });
		t.history([
			{ role: "ROLE_USER", messageId: "0", parts: [{ text: "first" }] }, user("1", { decision: "x" }),
			asks("2", { id: "q" }, { id: "s" }), user("3", { id: "q", decision: "accept" }),
			user("4", { id: "q", decision: null }), user("5", { id: "r", action: "x" }), user("6", { id: "q", decision: "peer" }, { source_workspace_id: "w" }),
			user("7", [{ id: "q", decision: "decline" }, { id: "q", content: "INSTRUCTION" }]),
			asks("8", { id: "s", stale: true }), user("9", { id: "s", content: "AGAIN" }),
			asks("10", { id: "p" }), user("11", { id: "p", decision: "platform" }, { source: "platform" }),
		]);
		t.settle();
		return t.entries.map((e) => e.kind === "question" ? "?" + e.data.id + "=" + (e.answer ? JSON.stringify(e.answer.parts[0].data) : "") + (e.open ? " open" : "") : e.parts[0].text ?? e.parts.map((p) => JSON.stringify(p.data)).join("+")).join(" "); })()`
	snapshot = transcribe + `
		say("1.1", { artifactId: "lost", parts: [{ text: "lost" }] });
		t.apply({ id: "2.0", result: { task: { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" }, metadata: { reply: "a" },
			history: [{ role: "ROLE_USER", messageId: "m", parts: [{ text: "hello" }] }],
			artifacts: [{ artifactId: "a", parts: [{ text: "reply" }] }, { artifactId: "diff", name: "diff", parts: [{ text: "d" }] }] } } });
		return t.entries.map((e) => e.kind + ":" + (e.pieces?.join("") ?? e.text ?? e.parts[0].text)).join(" "); })()`
)
