package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// busy has two loops use as much of the machine as they get until the test ends.
func busy(t *testing.T) {
	t.Helper()
	var over atomic.Bool
	ended := make(chan struct{})
	for range 2 {
		go func() {
			for !over.Load() {
			}
			ended <- struct{}{}
		}()
	}
	t.Cleanup(func() {
		over.Store(true)
		<-ended
		<-ended
	})
}

// shows waits until a page has a text.
func (p *program) shows(path, text string) {
	p.t.Helper()
	progtest.WaitFor(p.t, fmt.Sprintf("%q on %s", text, path), func() bool {
		res, err := http.Get(p.URL + path)
		if err != nil {
			p.t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		body, _ := io.ReadAll(res.Body)
		return strings.Contains(string(body), text)
	})
}

// TestOpenQuestionsStopNoOther: more questions are open than turns may run, on a busy
// machine, and another conversation is answered; then each question is.
func TestOpenQuestionsStopNoOther(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for _, limit := range []int{1, 4} {
		t.Run(fmt.Sprintf("%d turns", limit), func(t *testing.T) {
			p := start(t, fmt.Sprintf("RUNTIME_MAX_TURNS=%d", limit))
			busy(t)
			var open []object
			for i := range limit + 1 {
				id := fmt.Sprintf("asks-%d", i)
				task := p.send(id, id, "escalate echo ran-"+id) // blocks until it asks
				asked(t, task, 0, "ran-"+id)
				open = append(open, task)
			}
			if task := p.send("m1", "another", "say still here"); text(task) != "still here" {
				t.Errorf("another conversation: %v with %q", task["status"], text(task))
			}
			p.shows("/metrics", fmt.Sprintf("\nmolecule_codex_questions_open %d\n", limit+1))
			p.shows("/readyz", fmt.Sprintf("0 of %d run, %d wait for answers, 0 messages wait", limit, limit+1))
			for i, task := range open {
				ended := p.task(p.call("SendMessage", answer(task, fmt.Sprintf("a%d", i), "yes")))
				if state(ended) != "TASK_STATE_COMPLETED" || !strings.Contains(text(ended), fmt.Sprintf("ran-asks-%d", i)) {
					t.Errorf("task = %v with %q", ended["status"], text(ended))
				}
			}
			p.shows("/metrics", "\nmolecule_codex_questions_open 0\n")
		})
	}
}

// kept has a question answered while the only slot is taken by a turn that the model does
// not end until release is called.
func kept(t *testing.T) (p *program, task object, release func()) {
	t.Helper()
	p = start(t, "RUNTIME_MAX_TURNS=1")
	released := make(chan struct{})
	p.Model.SetScript(func(turn *fakemodel.Turn) {
		if turn.LastUserText() != "hold" {
			fakemodel.Keywords(turn)
			return
		}
		select {
		case <-released:
			turn.Say("held")
		case <-turn.Context().Done():
		}
	})
	task = p.send("m1", "one", "escalate echo ran")
	asked(t, task, 0, "echo ran")
	asked := len(p.Model.Requests())
	p.begin("m2", "two", "hold")
	p.modelAsked(asked + 1)
	yes := answer(task, "a1", "yes")
	yes["configuration"] = object{"returnImmediately": true}
	if task = p.task(p.call("SendMessage", yes)); state(task) != "TASK_STATE_WORKING" {
		t.Errorf("task = %v, want it to work", task["status"])
	}
	p.shows("/readyz", `"returning":1`)
	return p, task, func() { close(released) }
}

// TestAnswerWaitsForItsSlot and the turn goes on with it when there is one.
func TestAnswerWaitsForItsSlot(t *testing.T) {
	t.Parallel()
	p, task, release := kept(t)
	last := p.begin("m3", "three", "say last")
	release()
	if ended := p.ended(task["id"]); state(ended) != "TASK_STATE_COMPLETED" || !strings.Contains(text(ended), "ran") {
		t.Errorf("task = %v with %q", ended["status"], text(ended))
	}
	if ended := p.ended(last["id"]); text(ended) != "last" {
		t.Errorf("task = %v with %q", ended["status"], text(ended))
	}
}

// TestKeptAnswerSurvives the end of the program: it starts one new turn, and is given once.
func TestKeptAnswerSurvives(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for name, end := range restarts {
		t.Run(name, func(t *testing.T) {
			p, task, release := kept(t)
			end(p)
			release()
			ended := p.ended(task["id"])
			if state(ended) != "TASK_STATE_COMPLETED" {
				t.Errorf("task = %v with %q", ended["status"], text(ended))
			}
			p.call("SendMessage", answer(task, "a1", "yes")) // is the same message, and no second answer
			carried := 0
			for _, request := range p.Model.Requests() {
				if said := request.LastUserText(); strings.Contains(said, "echo ran") && strings.Contains(said, "The user's answer:") {
					carried++
				}
			}
			if carried != 1 {
				t.Errorf("%d turns carry question and answer", carried)
			}
		})
	}
}

// TestStopWithAStaleQuestion beside a turn that waits: the program ends at once, not with
// the time of the question.
func TestStopWithAStaleQuestion(t *testing.T) {
	t.Parallel()
	p := start(t, "RUNTIME_MAX_TURNS=1")
	p.Model.SetScript(func(turn *fakemodel.Turn) {
		if turn.LastUserText() == "two" {
			turn.Call("exec_command", fakemodel.Escalated("echo ran-one"))
			turn.Call("exec_command", fakemodel.Escalated("echo ran-two"))
			return
		}
		<-turn.Context().Done()
	})
	task := p.begin("m1", "one", "two")
	p.shows("/metrics", "\nmolecule_codex_questions_open 2\n")
	before := len(p.Model.Requests())
	p.begin("m2", "two", "hold")
	p.modelAsked(before + 1)
	yes := answer(task, "a1", "yes")
	yes["configuration"] = object{"returnImmediately": true}
	p.call("SendMessage", yes)
	p.shows("/readyz", `"returning":1`)
	p.again() // the question is stale, and its answer a turn in the queue
	p.Signal(syscall.SIGTERM)
	progtest.WaitFor(t, "the program to end", func() bool {
		select {
		case <-p.Exited():
			return true
		default:
			return false
		}
	})
}
