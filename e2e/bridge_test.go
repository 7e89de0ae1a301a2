package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A bridge is the tool codex_bridge, as an MCP host has it: the program is the host's
// child and talks to it over stdio.
type bridge struct {
	t       *testing.T
	session *mcp.ClientSession
}

func (p *program) bridge() *bridge {
	p.t.Helper()
	cmd := exec.Command(binary, "mcp")
	cmd.Env = append(progtest.Environ(p.t), "RUNTIME_URL="+p.URL)
	cmd.Stderr = p.t.Output()
	client := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil)
	session, err := client.Connect(p.t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if err := session.Close(); err != nil {
			p.t.Errorf("close the MCP session: %v", err)
		}
	})
	return &bridge{p.t, session}
}

// call calls the tool; the error is what a model would read of one.
func (b *bridge) call(args object) (answer object, failed bool) {
	b.t.Helper()
	res, err := b.session.CallTool(b.t.Context(), &mcp.CallToolParams{Name: "codex_bridge", Arguments: args})
	if err != nil {
		b.t.Fatalf("codex_bridge %v: %v", args, err)
	}
	text, ok := res.Content[0].(*mcp.TextContent)
	if !ok || len(res.Content) != 1 || json.Unmarshal([]byte(text.Text), &answer) != nil {
		b.t.Fatalf("codex_bridge %v = %+v, want one text of JSON", args, res.Content)
	}
	return answer, res.IsError
}

// do calls the tool and wants it to work.
func (b *bridge) do(args object) object {
	b.t.Helper()
	answer, failed := b.call(args)
	if failed || answer["success"] != true {
		b.t.Fatalf("codex_bridge %v = %v", args, answer)
	}
	return answer
}

// refused calls the tool, wants an error of it, and returns what it says.
func (b *bridge) refused(args object) string {
	b.t.Helper()
	answer, failed := b.call(args)
	why, _ := answer["error"].(string)
	if !failed || answer["success"] != false || why == "" {
		b.t.Errorf("codex_bridge %v = %v, want an error of the tool", args, answer)
	}
	return why
}

func (b *bridge) start(prompt string, more object) string {
	b.t.Helper()
	args := object{"action": "start", "prompt": prompt}
	maps.Copy(args, more)
	id, _ := at(b.do(args), "task", "task_id").(string)
	if !regexp.MustCompile(`^codex-[0-9a-f]{12}$`).MatchString(id) {
		b.t.Fatalf("task_id = %q", id)
	}
	return id
}

// until waits for a status of a task and returns the task.
func (b *bridge) until(id string, want string) object {
	b.t.Helper()
	var task object
	progtest.WaitFor(b.t, fmt.Sprintf("task %s to be %s", id, want), func() bool {
		task, _ = b.do(object{"action": "status", "task_id": id})["task"].(object)
		return task["status"] == want
	})
	return task
}

func TestBridgeOverMCP(t *testing.T) {
	t.Parallel()
	p := start(t)
	b := p.bridge()
	tools, err := b.session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 1 || tools.Tools[0].Name != "codex_bridge" {
		t.Fatalf("tools = %+v, %v", tools, err)
	}

	answer := b.do(object{"action": "start", "prompt": "say hello   bridge", "notify_target": "local"})
	if answer["message"] == "" || at(answer, "protocol", "mailbox") != false || at(answer, "task", "status") == nil {
		t.Errorf("start = %v", answer)
	}
	id, _ := at(answer, "task", "task_id").(string)
	task := b.until(id, "completed")
	wanted := object{
		"hermes_task_id": id, "prompt_summary": "say hello bridge", "sandbox": "read-only", "approval_policy": "untrusted",
		"final_summary": "hello bridge", "error_summary": nil, "degraded_mode": "none", "notify_target": "local",
		"active_connection": false, "model": nil, "cwd": resolved(t, p.Work),
	}
	for key, want := range wanted {
		if got, there := task[key]; !there || got != want {
			t.Errorf("%s = %v, want %v", key, got, want)
		}
	}
	for _, key := range []string{"codex_thread_id", "codex_turn_id", "last_progress_summary"} {
		if s, _ := task[key].(string); s == "" {
			t.Errorf("%s = %v", key, task[key])
		}
	}
	events, _ := task["recent_events"].([]any)
	if len(events) < 3 || at(events[len(events)-1], "normalized_status") != "completed" {
		t.Errorf("recent_events = %v", task["recent_events"])
	}
	if begun, used := eventWith(events, "status/working", `"turnId"`), eventWith(events, "usage", `"totalTokens"`); !begun || !used {
		t.Errorf("recent_events = %v", events)
	}
	list, _ := b.do(object{"action": "list"})["tasks"].([]any)
	if len(list) != 1 || at(list[0], "task_id") != id || at(list[0], "recent_events") != nil {
		t.Errorf("list = %v", list)
	}

	// An unknown task is an answer; the rest are errors of the tool.
	if answer, failed := b.call(object{"action": "status", "task_id": "codex-000000000000"}); failed || answer["success"] != false ||
		answer["error"] != "Unknown Codex bridge task: codex-000000000000" {
		t.Errorf("status of an unknown task = %v, %v", answer, failed)
	}
	for why, args := range map[string]object{
		"danger-full-access":   {"action": "start", "prompt": "x", "sandbox": "danger-full-access"},
		"approval_policy":      {"action": "start", "prompt": "x", "approval_policy": "never"},
		"non-empty prompt":     {"action": "start", "prompt": " "},
		"cwd":                  {"action": "start", "prompt": "x", "cwd": "/"},
		"codex_home":           {"action": "start", "prompt": "x", "codex_home": "/elsewhere"},
		"no workspace":         {"action": "start", "prompt": "x", "notify_target": "canvas"},
		"is not active":        {"action": "steer", "task_id": id, "instruction": "more"},
		"requires task_id":     {"action": "interrupt"},
		"instruction=request":  {"action": "respond", "task_id": id},
		"action must be one":   {"action": "dance"},
		"Unknown Codex bridge": {"action": "interrupt", "task_id": "codex-000000000000"},
	} {
		if got := b.refused(args); !strings.Contains(got, why) {
			t.Errorf("%v is refused with %q, want %q in it", args, got, why)
		}
	}
	// A start that is refused leaves nothing behind.
	if list, _ := b.do(object{"action": "list"})["tasks"].([]any); len(list) != 1 {
		t.Errorf("list = %v, want the first task alone", list)
	}
}

// TestBridgeStartsOnce repeats a start whose answer was lost.
func TestBridgeStartsOnce(t *testing.T) {
	t.Parallel()
	p := start(t)
	b := p.bridge()
	const id = "codex-0123456789ab"
	for range 3 {
		if got := b.start("say once", object{"task_id": id}); got != id {
			t.Errorf("the task is %s", got)
		}
	}
	b.until(id, "completed")
	p.again()
	b = p.bridge()
	b.start("say once", object{"task_id": id})
	if n := len(p.Model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times, want once", n)
	}
	if why := b.refused(object{"action": "start", "prompt": "say another", "task_id": id}); !strings.Contains(why, "messageId") {
		t.Errorf("another prompt under the same id: %s", why)
	}
}

// TestBridgeOptions has a task work where it was told to, with the model that it was
// told to use. The next one does not notice.
func TestBridgeOptions(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t)
	b := p.bridge()
	sub := filepath.Join(p.Work, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	task := b.until(b.start("run pwd -P; touch x && echo wrote", object{
		"cwd": "sub", "model": "another", "sandbox": "workspace-write", "approval_policy": "on-request",
	}), "completed")
	want, err := filepath.EvalSymlinks(sub)
	if err != nil {
		t.Fatal(err)
	}
	if final, _ := task["final_summary"].(string); !strings.HasPrefix(final, want) || !strings.Contains(final, "wrote") {
		t.Errorf("final_summary = %q", final)
	}
	if task["cwd"] != want || task["model"] != "another" || p.Model.Requests()[0].Model != "another" {
		t.Errorf("cwd = %v, model = %v; the model was asked as %q", task["cwd"], task["model"], p.Model.Requests()[0].Model)
	}
	if final, _ := b.until(b.start("run touch y && echo wrote", object{"approval_policy": "on-request"}), "completed")["final_summary"].(string); strings.Contains(final, "wrote") {
		t.Errorf("a task in the default sandbox says %q", final)
	}
}

func TestBridgeSteersAndInterrupts(t *testing.T) {
	t.Parallel()
	p := start(t)
	b := p.bridge()
	id := b.start("hang", nil)
	p.modelAsked(1)
	answer := b.do(object{"action": "steer", "task_id": id, "instruction": "say instead"})
	if at(answer, "result", "turn") != "steered" || at(answer, "result", "turnId") != at(answer, "task", "codex_turn_id") {
		t.Errorf("steer = %v", answer)
	}
	if task := b.until(id, "completed"); task["final_summary"] != "instead" || task["prompt_summary"] != "hang" {
		t.Errorf("the task that was steered is %v", task)
	}
	other := b.start("hang", nil)
	answer = b.do(object{"action": "cancel", "task_id": other})
	if at(answer, "task", "status") != "cancelled" {
		t.Errorf("cancel = %v", answer)
	}
	if task := b.until(other, "cancelled"); task["completed_at"] == nil || task["final_summary"] != nil {
		t.Errorf("task = %v", task)
	}
}

// TestBridgeNeverTakesACutForTheEnd kills everything in the middle of a command, and
// has the model fail: neither is a completed task, nor one that is for ever starting.
func TestBridgeNeverTakesACutForTheEnd(t *testing.T) {
	t.Parallel()
	p := start(t)
	b := p.bridge()
	id := b.start("run sleep 600", object{"approval_policy": "on-request"})
	progtest.WaitFor(t, "the command to run", func() bool {
		progress, _ := at(b.do(object{"action": "status", "task_id": id}), "task", "last_progress_summary").(string)
		return strings.HasPrefix(progress, "progress/command")
	})
	p.again()
	b = p.bridge()
	if task := b.until(id, "failed"); !strings.Contains(fmt.Sprint(task["error_summary"]), "in the middle of this turn") {
		t.Errorf("the task that was cut off is %v", task)
	}
	if task := b.until(b.start("fail 400", nil), "failed"); !strings.Contains(fmt.Sprint(task["error_summary"]), "400") || task["completed_at"] == nil {
		t.Errorf("the task whose model failed is %v", task)
	} else if events, _ := task["recent_events"].([]any); !eventWith(events, "error", `"kind":"model"`) {
		t.Errorf("recent_events = %v", events)
	}
}

// TestBridgeThreadsLast goes on with the conversation of a task in another process.
func TestBridgeThreadsLast(t *testing.T) {
	t.Parallel()
	p := start(t)
	b := p.bridge()
	id := b.start("remember blue-42", nil)
	thread := b.until(id, "completed")["codex_thread_id"]
	p.again()
	task := p.send("m2", id, "recall")
	if !strings.Contains(text(task), "blue-42") || at(task, "metadata", "threadId") != thread {
		t.Errorf("the next message says %q on thread %v, want that of %v", text(task), at(task, "metadata", "threadId"), thread)
	}
	if got := statusOf(p, id); got["status"] != "completed" || got["codex_thread_id"] != thread {
		t.Errorf("the first task is %v", got)
	}
}

func statusOf(p *program, id string) object {
	task, _ := p.bridge().do(object{"action": "status", "task_id": id})["task"].(object)
	return task
}

// TestBridgeResponds answers what codex asks, which in the bridge's default it does
// before each command.
func TestBridgeResponds(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	b := start(t).bridge()
	for decision, want := range map[string]struct{ status, says string }{
		"accept": {"completed", "ran"}, "acceptForSession": {"completed", "ran"}, "": {"completed", "rejected"}, "cancel": {"cancelled", ""},
	} {
		id := b.start("run echo ran", nil)
		task := b.until(id, "waiting_for_approval")
		pending := at(task, "pending_requests", 0)
		if at(pending, "method") != "item/commandExecution/requestApproval" || !strings.Contains(fmt.Sprint(at(pending, "payload", "command")), "echo ran") {
			t.Errorf("pending = %v", pending)
		}
		if why := b.refused(object{"action": "steer", "task_id": id, "instruction": "yes"}); !strings.Contains(why, "waits for an answer") {
			t.Errorf("a steer is refused with %q", why)
		}
		if why := b.refused(object{"action": "respond", "task_id": id, "instruction": "nobody"}); !strings.Contains(why, fmt.Sprint(at(pending, "request_id"))) {
			t.Errorf("an answer to nobody is refused with %q", why)
		}
		args := object{"action": "respond", "task_id": id, "instruction": at(pending, "request_id")}
		if decision != "" {
			args["decision"] = decision
		}
		b.do(args)
		task = b.until(id, want.status)
		if final := fmt.Sprint(task["final_summary"]); !strings.Contains(final, want.says) && want.says != "" {
			t.Errorf("%q: final_summary = %q", decision, final)
		}
	}
}

// TestBridgeTasksAreTold that their own words are no leave, also those that were left to the next process;
// others are not.
func TestBridgeTasksAreTold(t *testing.T) {
	t.Parallel()
	p := start(t)
	b := p.bridge()
	hangFirst(p)
	id := b.start("say later", nil)
	p.modelAsked(1)
	p.again()
	p.bridge().until(id, "completed")
	for _, r := range p.Model.Requests() {
		if told := strings.Join(r.DeveloperTexts(), "\n"); !strings.Contains(told, "Nothing that you write yourself is leave") {
			t.Errorf("the model was told %q", told)
		}
	}
	n := len(p.Model.Requests())
	p.send("m-beside", "", "say beside")
	if told := strings.Join(p.Model.Requests()[n].DeveloperTexts(), "\n"); strings.Contains(told, "is leave") {
		t.Errorf("of a task of no bridge the model was told %q", told)
	}
}

// resolved is a folder without symlinks.
func resolved(t *testing.T, dir string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// eventWith reports whether an event of a source has some words in its summary.
func eventWith(events []any, source, words string) bool {
	return slices.ContainsFunc(events, func(e any) bool {
		summary, _ := at(e, "payload_summary").(string)
		return at(e, "source_event_type") == source && strings.Contains(summary, words)
	})
}

// TestBridgeTellsOfServersThatDoNotStart: a task that lacks the tools of an MCP server says so, and not why.
func TestBridgeTellsOfServersThatDoNotStart(t *testing.T) {
	t.Parallel()
	home := codextest.Home(t)
	writeFile(t, filepath.Join(home, "config.toml"), "[mcp_servers.broken]\ncommand = \"/nowhere/at-all\"\n")
	p := start(t, "CODEX_HOME="+home)
	b := p.bridge()
	task := b.until(b.start("say hello", nil), "completed")
	events, _ := task["recent_events"].([]any)
	if !eventWith(events, "progress/notice", "The MCP server broken did not start") || strings.Contains(fmt.Sprint(events), "/nowhere") {
		t.Errorf("recent_events = %v", events)
	}
}
