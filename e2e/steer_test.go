package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A protocol sends messages that name a task, without waiting for its end.
type protocol struct {
	name  string
	begin func(p *program, id, contextID, taskID, text string) object // the whole answer
}

var protocols = []protocol{
	{"1.0", func(p *program, id, contextID, taskID, text string) object {
		m := message(id, contextID, text)
		if taskID != "" {
			m["taskId"] = taskID
		}
		answer := p.call("SendMessage", object{"message": m, "configuration": object{"returnImmediately": true}})
		if task, ok := at(answer, "result", "task").(object); ok {
			return task
		}
		return answer
	}},
	{"0.3", func(p *program, id, contextID, taskID, text string) object {
		m := object{"kind": "message", "messageId": id, "role": "user", "parts": []object{{"kind": "text", "text": text}}}
		if contextID != "" {
			m["contextId"] = contextID
		}
		if taskID != "" {
			m["taskId"] = taskID
		}
		answer := p.call("message/send", object{"message": m, "configuration": object{"blocking": false}})
		if task, ok := answer["result"].(object); ok {
			return task
		}
		return answer
	}},
}

// inEach runs a test over each version of the protocol.
func inEach(t *testing.T, test func(t *testing.T, v protocol)) {
	for _, v := range protocols {
		t.Run(v.name, func(t *testing.T) { test(t, v) })
	}
}

func turnOf(task object) any { return at(task, "metadata", "turn") }

func lastTexts(p *program) []string {
	requests := p.Model.Requests()
	return requests[len(requests)-1].UserTexts()
}

// commandRuns waits until codex runs a command.
func (p *program) commandRuns(command string) {
	p.t.Helper()
	progtest.WaitFor(p.t, command+" to run", func() bool { return progtest.Find(p.Child(), command) != 0 })
}

// A blocker is a command that codex runs until it is let go.
type blocker struct {
	p       *program
	command string
}

func (p *program) blocker() blocker {
	return blocker{p, "touch runs; until [ -e let-go ]; do sleep 0.05; done"}
}

// runs waits until codex runs it.
func (b blocker) runs() {
	b.p.t.Helper()
	progtest.WaitFor(b.p.t, "the command to run", func() bool {
		_, err := os.Stat(filepath.Join(b.p.Work, "runs"))
		return err == nil
	})
}

func (b blocker) letGo() {
	b.p.t.Helper()
	if err := os.WriteFile(filepath.Join(b.p.Work, "let-go"), nil, 0o600); err != nil {
		b.p.t.Fatal(err)
	}
}

func TestSteerInTime(t *testing.T) {
	t.Parallel()
	inEach(t, func(t *testing.T, v protocol) {
		p := start(t)
		id, _ := p.begin("m1", "one", "hang")["id"].(string)
		p.modelAsked(1)
		steered := v.begin(p, "m2", "one", id, "say other")
		if steered["id"] != id || turnOf(steered) != "steered" || at(steered, "metadata", "ahead") != nil {
			t.Fatalf("the steering message is answered with %v", steered)
		}
		task := p.ended(id)
		if state(task) != "TASK_STATE_COMPLETED" || text(task) != "other" || len(task["history"].([]any)) != 2 {
			t.Errorf("task = %v", task)
		}
		if texts := lastTexts(p); !slices.Equal(texts, []string{"hang", "say other"}) {
			t.Errorf("the model was told %q", texts)
		}
		again := v.begin(p, "m2", "one", id, "say other") // after its end, too, it is the same task
		if again["id"] != id || len(p.Model.Requests()) != 2 {
			t.Errorf("sent again it is answered with %v", again)
		}
	})
}

// TestSteerUnderATool reaches the model when the tool has ended.
func TestSteerUnderATool(t *testing.T) {
	t.Parallel()
	p := start(t)
	b := p.blocker()
	id, _ := p.begin("m1", "one", "run "+b.command)["id"].(string)
	b.runs()
	if task := protocols[0].begin(p, "m2", "", id, "say after it"); turnOf(task) != "steered" {
		t.Errorf("the steering message is answered with %v", task)
	}
	b.letGo()
	if task := p.ended(id); text(task) != "after it" || turnOf(task) != "steered" {
		t.Errorf("task = %v", task)
	}
}

// TestSteerTooLate has a message come when its task waits, or has ended.
func TestSteerTooLate(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	inEach(t, func(t *testing.T, v protocol) {
		p := start(t)
		running, _ := p.begin("m1", "one", "hang")["id"].(string)
		p.modelAsked(1)
		waiting, _ := p.begin("m2", "one", "say second")["id"].(string)
		further := v.begin(p, "m3", "one", waiting, "say third")
		if further["id"] != waiting || turnOf(further) != "queued" || at(further, "metadata", "ahead") != 2.0 {
			t.Errorf("a message to a waiting task is answered with %v", further)
		}
		v.begin(p, "m4", "one", running, "say first")
		if task := p.ended(running); text(task) != "first" {
			t.Errorf("the steered task says %q", text(task))
		}
		if task := p.ended(waiting); text(task) != "secondthird" { // the reply comes last
			t.Errorf("the task that waited says %q", text(task))
		}
		if refused := v.begin(p, "m5", "one", running, "say late"); at(refused, "error", "code") != -32004.0 {
			t.Errorf("a message to a task that has ended is answered with %v", refused)
		}
	})
}

func TestSteerBurst(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	inEach(t, func(t *testing.T, v protocol) {
		p := start(t)
		b := p.blocker()
		id, _ := p.begin("m0", "one", "run "+b.command)["id"].(string)
		b.runs()
		want := []string{"run " + b.command}
		for i := range 10 {
			text := fmt.Sprintf("say part %d", i)
			if task := v.begin(p, fmt.Sprintf("s%d", i), "one", id, text); turnOf(task) != "steered" {
				t.Errorf("message %d is answered with %v", i, task)
			}
			want = append(want, text)
		}
		b.letGo()
		if task := p.ended(id); text(task) != "part 9" || len(task["history"].([]any)) != 11 {
			t.Errorf("task = %v", task)
		}
		if texts := lastTexts(p); !slices.Equal(texts, want) {
			t.Errorf("the model was told %q", texts)
		}
	})
}

// TestSteerOnTheStream tells what becomes of the message as an update.
func TestSteerOnTheStream(t *testing.T) {
	t.Parallel()
	p := start(t)
	id, _ := p.begin("m1", "one", "hang")["id"].(string)
	p.modelAsked(1)
	m := message("m2", "one", "say other")
	m["taskId"] = id
	s := p.stream(t.Context(), "SendStreamingMessage", object{"message": m})
	var turns []any
	for event := s.next(); event != nil; event = s.next() {
		if meta, ok := at(event, "statusUpdate", "metadata").(object); ok {
			turns = append(turns, meta["turn"])
		}
	}
	if !slices.Contains(turns, any("steered")) {
		t.Errorf("the stream says %v", turns)
	}
}

// TestSteerSurvivesKill kills the program when a message to a running turn has
// been accepted, or was answered, and when the model has it.
func TestSteerSurvivesKill(t *testing.T) {
	t.Parallel()
	for _, arrived := range []bool{false, true} {
		t.Run(fmt.Sprintf("arrived-%v", arrived), func(t *testing.T) {
			p := start(t)
			var free atomic.Bool
			p.Model.SetScript(func(turn *fakemodel.Turn) {
				if !free.Load() {
					turn.Hang()
					return
				}
				fakemodel.Keywords(turn)
			})
			id, _ := p.begin("m1", "one", "say first")["id"].(string)
			p.modelAsked(1)
			m := message("m2", "one", "say second")
			m["taskId"] = id
			params := object{"message": m, "configuration": object{"returnImmediately": true}}
			p.call("SendMessage", params)
			if arrived {
				p.modelAsked(2)
			}
			free.Store(true)
			p.again()
			task := p.ended(id)
			if state(task) != "TASK_STATE_COMPLETED" || strings.Count(text(task), "second") != 1 || len(task["history"].([]any)) != 2 {
				t.Errorf("task = %v", task)
			}
			asked := len(p.Model.Requests())
			if again := p.task(p.call("SendMessage", params)); again["id"] != id || len(p.Model.Requests()) != asked {
				t.Errorf("sent again it is answered with %v", again)
			}
		})
	}
}

// TestSteerSurvivesDeathUnderATool ends what the tool did as interrupted, and
// answers the message in a turn of its own: codex had it in memory only.
func TestSteerSurvivesDeathUnderATool(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for _, ours := range []bool{false, true} {
		t.Run(fmt.Sprintf("ours-%v", ours), func(t *testing.T) {
			p := start(t)
			id, _ := p.begin("m1", "one", "run sleep 25")["id"].(string)
			p.commandRuns("sleep 25")
			if task := protocols[0].begin(p, "m2", "one", id, "say own"); turnOf(task) != "steered" {
				t.Fatalf("the steering message is answered with %v", task)
			}
			if ours {
				p.again()
			} else {
				killChild(t, p)
			}
			task := p.ended(id)
			if state(task) != "TASK_STATE_COMPLETED" || text(task) != "own" || at(task, "metadata", "interrupted") != true {
				t.Errorf("task = %v", task)
			}
		})
	}
}

// TestMidTurn steers with messages that name no task, if the operator wants that.
func TestMidTurn(t *testing.T) {
	t.Parallel()
	inEach(t, func(t *testing.T, v protocol) {
		p := start(t, "RUNTIME_MID_TURN=steer")
		id := p.begin("m1", "one", "hang")["id"]
		p.modelAsked(1)
		elsewhere := v.begin(p, "m2", "two", "", "say elsewhere")
		if steered := v.begin(p, "m3", "one", "", "say other"); steered["id"] != id || turnOf(steered) != "steered" {
			t.Errorf("the message is answered with %v", steered)
		}
		if task := p.ended(id); text(task) != "other" {
			t.Errorf("the task says %q", text(task))
		}
		if task := p.ended(elsewhere["id"]); elsewhere["id"] == id || text(task) != "elsewhere" {
			t.Errorf("another context says %q", text(task))
		}
		if next := v.begin(p, "m4", "one", "", "say next"); next["id"] == id || turnOf(next) != "started" {
			t.Errorf("a message to an idle context is answered with %v", next)
		}
		if again := v.begin(p, "m3", "one", "", "say other"); again["id"] != id {
			t.Errorf("sent again it is answered with %v", again)
		}
	})
}
