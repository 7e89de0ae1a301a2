package bridge_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
)

// fields are those that every answer has of a task.
var fields = []string{
	"task_id", "hermes_task_id", "status", "codex_thread_id", "codex_turn_id", "from_agent", "prompt_summary", "cwd", "model", "sandbox",
	"approval_policy", "degraded_mode", "last_progress_summary", "final_summary", "error_summary", "notify_target",
	"notification_status", "notified_at", "notification_error", "created_at", "updated_at", "completed_at", "pending_requests",
	"a2a_task_id", "context_id",
}

func wantFields(t *testing.T, what string, task any, more ...string) {
	t.Helper()
	got, _ := task.(object)
	keys := slices.Sorted(maps.Keys(got))
	if want := slices.Sorted(slices.Values(append(slices.Clone(fields), more...))); !slices.Equal(keys, want) {
		t.Errorf("%s has the fields %v, want %v", what, keys, want)
	}
}

func TestAnswers(t *testing.T) {
	w := newWorld(t)
	answer := w.do(bridge.Args{Action: " Start ", Prompt: strings.Repeat("long ", 100)})
	task, _ := answer["task"].(object)
	wantFields(t, "start", task)
	id, _ := task["task_id"].(string)
	if answer["success"] != true || answer["message"] == "" || task["status"] != "starting" || task["created_at"].(float64) < 1e9 {
		t.Errorf("start = %v", answer)
	}
	if prompt := task["prompt_summary"].(string); utf8.RuneCountInString(prompt) != 300 {
		t.Errorf("prompt_summary has %d characters", utf8.RuneCountInString(prompt))
	}
	if protocol, _ := answer["protocol"].(object); protocol["mailbox"] != false || protocol["transport"] == "" {
		t.Errorf("protocol = %v", answer["protocol"])
	}
	j := w.next()
	if j.Options != (agent.Options{Sandbox: "read-only", ApprovalPolicy: "untrusted"}) {
		t.Errorf("the job has %+v", j.Options)
	}
	if w.status(id)["status"] != "starting" {
		t.Error("a task that waits is not starting")
	}
	j.start()
	j.observe(agent.ItemStarted{Item: agent.Item{ID: "c", Kind: agent.KindCommand, Command: strings.Repeat("x", 5000)}})
	task = w.status(id)
	wantFields(t, "status", task, "recent_events")
	if task["status"] != "working" || task["codex_thread_id"] != "thread" || task["codex_turn_id"] != "turn" || task["completed_at"] != nil {
		t.Errorf("status = %v", task)
	}
	last, _ := task["last_progress_summary"].(string)
	if !strings.HasPrefix(last, "progress/command: {") || utf8.RuneCountInString(last) != 300 {
		t.Errorf("last_progress_summary = %q", last)
	}
	events, _ := task["recent_events"].([]any)
	newest, _ := events[len(events)-1].(object)
	if len(newest) != 4 || newest["source_event_type"] != "progress/command" || newest["normalized_status"] != nil ||
		utf8.RuneCountInString(newest["payload_summary"].(string)) != 1200 || newest["created_at"] == nil {
		t.Errorf("the newest event is %v", newest)
	}

	j.end(strings.Repeat("reply ", 200))
	task = w.status(id)
	wantFields(t, "status of an ended task", task, "recent_events", "active_connection")
	if final := task["final_summary"].(string); task["status"] != "completed" || task["active_connection"] != false ||
		utf8.RuneCountInString(final) != 500 || task["completed_at"] != task["updated_at"] || task["error_summary"] != nil {
		t.Errorf("status = %v", task)
	}

	failing, f := w.start("fail")
	f.observe(agent.Ended{Outcome: agent.Failed, Failure: &agent.Failure{Kind: agent.FailModel, Message: strings.Repeat("why ", 200)}})
	if task := w.status(failing); task["status"] != "failed" || utf8.RuneCountInString(task["error_summary"].(string)) != 500 || task["final_summary"] != nil {
		t.Errorf("a failed task is %v", task)
	}
	list, _ := w.do(bridge.Args{Action: "list"})["tasks"].([]any)
	if len(list) != 2 || list[0].(object)["task_id"] != failing {
		t.Fatalf("list = %v, want the newest status first", list)
	}
	wantFields(t, "list", list[0])
}

// TestOnlyCompletedIsCompleted ends tasks in the ways that are no completion.
func TestOnlyCompletedIsCompleted(t *testing.T) {
	w := newWorld(t)
	failure := &agent.Failure{Kind: agent.FailUnreachable, Message: "codex was cut off"}
	for outcome, want := range map[agent.Outcome]string{
		agent.Interrupted: "failed", agent.Rejected: "failed", agent.Failed: "failed", agent.Canceled: "cancelled",
	} {
		id, j := w.start("x")
		j.observe(agent.Ended{Outcome: outcome, Failure: failure, Tools: true})
		task := w.status(id)
		if task["status"] != want || want == "failed" && task["error_summary"] != "codex was cut off" {
			t.Errorf("%s: %v, %v", outcome, task["status"], task["error_summary"])
		}
	}
}

func TestListKeepsToItsLimit(t *testing.T) {
	w := newWorld(t)
	for range 12 {
		_, j := w.start("x")
		j.end("done")
	}
	five := 5
	for limit, want := range map[*int]int{nil: 10, &five: 5} {
		if list, _ := w.do(bridge.Args{Action: "list", Limit: limit})["tasks"].([]any); len(list) != want {
			t.Errorf("%d tasks, want %d", len(list), want)
		}
	}
	zero := 0
	w.refused(bridge.Args{Action: "list", Limit: &zero})
}

func TestRecentEvents(t *testing.T) {
	w := newWorld(t)
	id, j := w.start("x")
	for range 700 { // pieces of one text are one event
		j.observe(agent.TextDelta{ItemID: "a", Text: "piece "})
	}
	for range 30 {
		j.observe(agent.Notice{Text: "notice"})
	}
	j.observe(agent.TextDelta{ItemID: "b", Text: "so "})
	j.observe(agent.TextDelta{ItemID: "b", Text: "far"})
	j.observe(agent.ItemCompleted{Item: agent.Item{ID: "b", Kind: agent.KindMessage, Text: "so far"}})
	for range 2 { // while it runs, and when it has ended
		events, _ := w.status(id)["recent_events"].([]any)
		if len(events) != 20 {
			t.Fatalf("%d events, want 20", len(events))
		}
		var found bool
		for _, e := range events {
			found = found || e.(object)["source_event_type"] == "artifact/message" && e.(object)["payload_summary"] == "so far"
		}
		if !found || events[0].(object)["source_event_type"] != "progress/notice" {
			t.Errorf("events = %v", events)
		}
		j.end("done")
	}
	if last, _ := w.status(id)["last_progress_summary"].(string); !strings.HasPrefix(last, "artifact/message: ") || last == "artifact/message: " {
		t.Errorf("last_progress_summary = %v", last)
	}
}

func TestTasksOfOthers(t *testing.T) {
	w := newWorld(t)
	if got := w.do(bridge.Args{Action: "status", TaskID: "codex-ffffffffffff"}); got["success"] != false || got["error"] != "Unknown Codex bridge task: codex-ffffffffffff" || len(got) != 2 {
		t.Errorf("status of an unknown task = %v", got)
	}
	mine, j := w.start("x")
	j.end("y")
	a2aID, _ := w.status(mine)["a2a_task_id"].(string)
	if task := w.status(a2aID); task["task_id"] != mine {
		t.Errorf("by its A2A id it is %v", task["task_id"])
	}
}

// TestStartIsOneMessage loses the answers of the runtime.
func TestStartIsOneMessage(t *testing.T) {
	w := newWorld(t)
	var lost atomic.Int32
	w.interfere(func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
		if lost.Add(1) <= 2 {
			next.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(rw, r)
	})
	answer := w.do(bridge.Args{Action: "start", Prompt: "once"})
	w.interfere(nil)
	w.next().start().end("done")
	if n := len(w.runner.arrived); n != 0 || lost.Load() < 3 {
		t.Errorf("%d more jobs of a start that was sent %d times", n, lost.Load())
	}
	if list, _ := w.do(bridge.Args{Action: "list"})["tasks"].([]any); len(list) != 1 || list[0].(object)["task_id"] != answer["task"].(object)["task_id"] {
		t.Errorf("list = %v", list)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	w := newWorld(t)
	page := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("<html>")) }))
	defer page.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for why, cfg := range map[string]bridge.Config{
		"start one with runtime serve": {URL: "http://127.0.0.1:1"},
		"set RUNTIME_TOKEN":            {URL: w.http.URL},
		"is not the one":               {URL: w.http.URL, Token: "open"},
		"is no runtime":                {URL: page.URL},
	} {
		cfg.HTTP = &http.Client{Transport: transport}
		for _, action := range []bridge.Args{{Action: "list"}, {Action: "start", Prompt: "x"}, {Action: "status", TaskID: "t"}} {
			if _, err := bridge.New(cfg).Do(t.Context(), action); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v, want %q in it", action.Action, err, why)
			}
		}
	}
	if why := w.refused(bridge.Args{Action: "notify_completed"}); !strings.Contains(why, "NotifyEndedTasks") {
		t.Errorf("a server without the extension: %s", why)
	}
}
