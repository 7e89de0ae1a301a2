package codex_test

import (
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// A queued is a conversation into whose queue of codex's own somebody else writes.
type queued struct {
	e      *rig
	model  *modeltest.Model
	home   string
	work   string
	thread string
	wire   lockedBuffer
	log    lockedBuffer
}

// ended waits until a turn of nobody's was ended. Codex may not say so of one that has hardly begun.
func (q *queued) ended(t *testing.T) {
	t.Helper()
	eventually(t, "the turn to be ended", func() bool { return strings.Contains(q.log.String(), "a turn that nobody has sent a message for") })
}

// newQueued returns a conversation "one" that has had one message.
func newQueued(t *testing.T, change func(*queued, *config)) *queued {
	t.Helper()
	return newQueuedOn(t, modeltest.Start(t, fakemodel.Keywords), change)
}

func newQueuedOn(t *testing.T, model *modeltest.Model, change func(*queued, *config)) *queued {
	t.Helper()
	q := &queued{model: model}
	q.e = onCodex(t, q.model, func(c *config) {
		q.home, q.work, c.Child.Wire = homeOf(*c), c.Child.Dir, &q.wire
		c.Logger = slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), &q.log), nil))
		if change != nil {
			change(q, c)
		}
	})
	w := submit(t, q.e, "j1", "one", "say hello")
	w.wait(t)
	q.thread = seen[agent.Started](w)[0].ThreadID
	return q
}

// put puts words into the queue.
func (q *queued) put(t *testing.T, words string) {
	t.Helper()
	queue := exec.Command(codextest.Bin(t), "queue", "--thread", q.thread, "--message", words)
	queue.Env = []string{"CODEX_HOME=" + q.home, "PATH=/usr/bin:/bin", "HOME=" + q.home}
	if out, err := queue.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// goesOn looks that the next message has a turn of its own, and that the model reads nothing but
// what was sent.
func (q *queued) goesOn(t *testing.T) {
	t.Helper()
	if strings.Contains(q.next(t), "QUEUED") {
		t.Error("the model reads the words of the queue as the user's")
	}
}

// next sends the next message, and returns what the model was asked for it.
func (q *queued) next(t *testing.T) string {
	t.Helper()
	if end := submit(t, q.e, "next", "one", "say next").wait(t); end.Outcome != agent.Completed || said(end) != "next" {
		t.Errorf("the next message ends with %+v", end)
	}
	requests := q.model.Requests()
	return string(requests[len(requests)-1].Body)
}

// TestTurnsOfNobody: what somebody puts into codex's own queue is no message of the conversation's:
// the turn that codex begins for it is ended, and the next message has one of its own, in a history
// without those words.
func TestTurnsOfNobody(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	q := newQueued(t, nil)
	q.put(t, "hang QUEUED")
	q.ended(t)
	q.goesOn(t)
}

// TestWordsOfNobody: words that cannot be taken out of the history, because that would end a command
// that goes on, are said to be nobody's.
func TestWordsOfNobody(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	q := newQueued(t, nil)
	submit(t, q.e, "j2", "one", "background sleep 64.75").wait(t)
	q.put(t, "hang QUEUED")
	q.ended(t)
	if !strings.Contains(q.next(t), "Another process of this machine has put words") {
		t.Error("the model is not told whose words those of the queue are")
	}
	if countProcesses("sleep 64.75") == 0 {
		t.Error("the command that goes on was ended")
	}
}

// TestTurnsOfNobodyBehindOurs: as above, of a turn that codex begins as soon as one of ours has
// ended, which may be before we know that it has.
func TestTurnsOfNobodyBehindOurs(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	q := newQueued(t, nil)
	w := submit(t, q.e, "j2", "one", "run sleep 2")
	eventually(t, "the command to run", func() bool { return commandRuns(w) })
	for range 4 {
		q.put(t, "hang QUEUED")
	}
	w.wait(t)
	q.ended(t)
	again := submit(t, q.e, "again", "one", "say again").wait(t)
	if again.Outcome == agent.Completed {
		q.goesOn(t)
		return
	}
	// codex had begun with a further one when its queue was emptied, and the sender is told so.
	if again.Failure == nil || !strings.Contains(again.Failure.Message, "send the message again") {
		t.Fatalf("the message behind it ends with %+v", again)
	}
	if body := q.next(t); strings.Contains(body, "QUEUED") && !strings.Contains(body, "Another process of this machine has put words") {
		t.Error("the model is not told whose words those of the queue are")
	}
}

// TestQueueOfAThreadThatIsNotLoaded: what stands in the queue is gone before the thread is loaded,
// at which codex would begin a turn for it and take the message into that.
func TestQueueOfAThreadThatIsNotLoaded(t *testing.T) {
	t.Parallel()
	q := newQueued(t, nil)
	for _, id := range []string{"j2", "j3"} { // codex is asked before the first of them, and once
		submit(t, q.e, id, "one", "say hello").wait(t)
	}
	if n := strings.Count(q.wire.String(), `"thread/queue/list"`); n != 1 {
		t.Errorf("codex was asked for its queue %d times", n)
	}
	before := q.e.Health().Child.Pid
	if err := syscall.Kill(before, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "codex to be restarted", func() bool {
		child := q.e.Health().Child
		return child.Pid != 0 && child.Pid != before
	})
	q.put(t, "hang QUEUED")
	q.goesOn(t)
}

// TestTurnsOfNobodyInAThreadThatLingers: codex keeps a thread for a minute that we have let go of.
func TestTurnsOfNobodyInAThreadThatLingers(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	q := newQueued(t, func(_ *queued, c *config) { c.MaxThreads = 1 })
	submit(t, q.e, "j2", "two", "say hello").wait(t)
	q.put(t, "hang QUEUED")
	active := `"threadId":"` + q.thread + `","status":{"type":"active"`
	begun := strings.Count(q.wire.String(), active)
	eventually(t, "codex to begin the turn", func() bool { return strings.Count(q.wire.String(), active) > begun })
	eventually(t, "the turn to be ended", func() bool {
		wire := q.wire.String()
		return strings.LastIndex(wire, `"threadId":"`+q.thread+`","status":{"type":"idle"}`) > strings.LastIndex(wire, active)
	})
	q.goesOn(t)
}

// waiting is a wire that waits in its reader while a line is read that has something in it.
type waiting struct {
	*lockedBuffer
	line atomic.Pointer[string]
	wait func() // is set before line
}

func (w *waiting) Received(line []byte) {
	w.lockedBuffer.Received(line)
	if some := w.line.Load(); some != nil && strings.Contains(string(line), *some) {
		w.wait()
	}
}

// TestEndedTurnOfNobody: such a turn may have ended before it is looked for.
func TestEndedTurnOfNobody(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	wire := &waiting{}
	q := newQueued(t, func(q *queued, c *config) {
		wire.lockedBuffer = &q.wire
		c.MaxThreads, c.Child.Wire = 1, wire
	})
	ended := func() (n int) {
		files, _ := filepath.Glob(filepath.Join(q.home, "sessions", "*", "*", "*", "*"+q.thread+"*"))
		for _, file := range files {
			text, _ := os.ReadFile(file)
			n += strings.Count(string(text), `"task_complete"`)
		}
		return n
	}
	submit(t, q.e, "j2", "two", "say hello").wait(t)
	before := ended()
	wire.wait = func() {
		for deadline := time.Now().Add(10 * time.Second); ended() == before && time.Now().Before(deadline); {
			time.Sleep(2 * time.Millisecond)
		}
	}
	active := `"threadId":"` + q.thread + `","status":{"type":"active"`
	wire.line.Store(&active)
	q.put(t, "say QUEUED")
	eventually(t, "the turn to be taken out", func() bool { return strings.Contains(q.wire.String(), `"thread/revert"`) })
	if ended() == before {
		t.Error("the turn has not ended by itself")
	}
	q.goesOn(t)
}

// TestMessageInATurnOfNobody: where codex begins such a turn between the look at its queue and the
// begin of ours, it takes the message into it. The turn is ended, and said to be none.
func TestMessageInATurnOfNobody(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	q := newQueued(t, func(q *queued, c *config) {
		c.Trace = func(j executor.Job, _ int) agent.TraceContext {
			if j.ID == "late" {
				begun := strings.Count(q.wire.String(), `"turn/started"`)
				q.put(t, "hang QUEUED")
				eventually(t, "codex to begin the turn", func() bool { return strings.Count(q.wire.String(), `"turn/started"`) > begun })
			}
			return agent.TraceContext{}
		}
	})
	end := submit(t, q.e, "late", "one", "say late").wait(t)
	if end.Outcome != agent.Failed || end.Failure == nil || !strings.Contains(end.Failure.Message, "codex's own queue") {
		t.Errorf("the message ends with %+v", end)
	}
	q.goesOn(t)
}
