package codex_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// The tests in this file run on the real codex and a model whose context is full.

// summarises reports whether codex asks for a summary of the conversation.
func summarises(turn *fakemodel.Turn) bool {
	return strings.Contains(turn.LastUserText(), "focused on helping the next LLM")
}

func full(turn *fakemodel.Turn) {
	turn.FailStream("context_length_exceeded", "Your input exceeds the context window of this model.")
}

// compacted counts the compactions that a job was told of.
func compactions(w *witness) (n int) {
	for _, item := range seen[agent.ItemCompleted](w) {
		if item.Item.Kind == agent.KindCompaction {
			n++
		}
	}
	return n
}

func TestFullContextIsCompacted(t *testing.T) {
	t.Parallel()
	for name, full := range map[string]func(*fakemodel.Turn){"by its code": full, "by its words": fullInWords} {
		t.Run(name, func(t *testing.T) { fullContextIsCompacted(t, full) })
	}
}

// fullInWords is what vLLM says.
func fullInWords(turn *fakemodel.Turn) {
	turn.Fail(http.StatusBadRequest, `{"error":{"message":"This model's maximum context length is 32768 tokens. However, you requested 40000 tokens.","type":"BadRequestError","code":400}}`)
}

func fullContextIsCompacted(t *testing.T, full func(*fakemodel.Turn)) {
	t.Parallel()
	var compacted bool // the model is asked one thing at a time
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		switch {
		case summarises(turn):
			compacted = true
			turn.Say("summary: remember blue-42")
		case !compacted && strings.Contains(turn.LastUserText(), "say big"):
			full(turn)
		default:
			fakemodel.Keywords(turn)
		}
	})
	e := onCodex(t, model, nil)
	submit(t, e, "j1", "one", "say before").wait(t)
	w := submit(t, e, "j2", "one", "say big")
	end := w.wait(t)
	if end.Outcome != agent.Completed || !strings.Contains(said(end), "big") || compactions(w) != 1 {
		t.Fatalf("end = %+v (%v) after %d compactions", end, end.Failure, compactions(w))
	}
	requests := model.Requests()
	all := strings.Join(requests[len(requests)-1].UserTexts(), "|")
	if strings.Count(all, "say big") != 1 || !strings.Contains(all, "blue-42") {
		t.Errorf("the model reads %q, want the summary, and the message once", all)
	}
	if started := seen[agent.Started](w); len(started) != 2 || started[1].Attempt != 2 {
		t.Errorf("started = %+v, want two attempts", started)
	}
}

// TestFullContextInMidTurn meets the end of the context after a tool has run: the
// turn goes on, and the tool does not run again.
func TestFullContextInMidTurn(t *testing.T) {
	t.Parallel()
	var compacted bool
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		switch {
		case summarises(turn):
			compacted = true
			turn.Say("summary: the command has run")
		case compacted:
			turn.Say("goes on: " + turn.LastUserText())
		case len(turn.NewToolOutputs()) > 0:
			full(turn)
		default:
			fakemodel.Keywords(turn)
		}
	})
	e := onCodex(t, model, nil)
	w := submit(t, e, "j1", "one", "run echo once")
	end := w.wait(t)
	if end.Outcome != agent.Completed || !strings.Contains(said(end), "Do not repeat") {
		t.Errorf("end = %+v (%v)", end, end.Failure)
	}
	commands := 0
	for _, started := range seen[agent.ItemStarted](w) {
		if started.Item.Kind == agent.KindCommand {
			commands++
		}
	}
	if commands != 1 {
		t.Errorf("the command ran %d times", commands)
	}
}

// TestContextThatStaysFull fails the turn: the model has no room for a summary either.
func TestContextThatStaysFull(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, func(turn *fakemodel.Turn) {
		if summarises(turn) || strings.Contains(turn.LastUserText(), "say big") {
			full(turn)
			return
		}
		fakemodel.Keywords(turn)
	}), nil)
	submit(t, e, "j1", "one", "say before").wait(t)
	end := submit(t, e, "j2", "one", "say big").wait(t)
	wantEnd(t, end, agent.Failed, agent.FailContext)
	if !strings.Contains(end.Failure.Message, "new contextId") {
		t.Errorf("failure = %v", end.Failure)
	}
	wantAlive(t, e, "two") // a full thread stays full: codex tries to compact it before each turn
}

// TestCompactionThatIsRefused has the credential refused between the two.
func TestCompactionThatIsRefused(t *testing.T) {
	t.Parallel() // it mostly waits
	e, _, d := onDoor(t, func(turn *fakemodel.Turn) {
		if summarises(turn) || strings.Contains(turn.LastUserText(), "the word OK") {
			unauthorized(turn)
			return
		}
		full(turn)
	}, nil)
	w := submit(t, e, "j1", "one", "say big")
	heldWith(t, w)
	d.shut.Store(false)
	if end := w.wait(t); end.Outcome != agent.Completed {
		t.Errorf("end = %+v (%v)", end, end.Failure)
	}
}

// TestCompactionThatIsStopped ends the job as the stop wants it, not as one whose
// context is full.
func TestCompactionThatIsStopped(t *testing.T) {
	t.Parallel()
	t.Run("cancel", func(t *testing.T) {
		t.Parallel()
		e, w := beingSummarised(t)
		cancel(t, e, "j1")
		wantEnd(t, w.wait(t), agent.Canceled, "")
		wantAlive(t, e, "one")
	})
	t.Run("close", func(t *testing.T) {
		t.Parallel()
		e, w := beingSummarised(t)
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
		end := w.wait(t)
		wantEnd(t, end, agent.Interrupted, agent.FailShutdown)
		if end.Tools {
			t.Error("nothing was done, and the job is not left to the next process")
		}
	})
}

// beingSummarised submits the job j1, and returns while codex waits for the summary of its conversation.
func beingSummarised(t *testing.T) (*rig, *witness) {
	t.Helper()
	compacting := make(chan struct{}, 8)
	e := onCodex(t, modeltest.Start(t, func(turn *fakemodel.Turn) {
		switch {
		case summarises(turn):
			compacting <- struct{}{}
			turn.Hang()
		case strings.Contains(turn.LastUserText(), "say big"):
			full(turn)
		default:
			fakemodel.Keywords(turn)
		}
	}), nil)
	w := submit(t, e, "j1", "one", "say big")
	<-compacting
	return e, w
}

// TestDeathBehindACompaction before the turn that goes on: only the process that has
// died knew where to go on.
func TestDeathBehindACompaction(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	var compacted bool
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		switch {
		case summarises(turn):
			compacted = true
			turn.Say("summary: the command has run")
		case !compacted && len(turn.NewToolOutputs()) > 0:
			full(turn)
		default:
			fakemodel.Keywords(turn)
		}
	})
	cfg, book := codexConfig(t, model), &notebook{}
	cfg.Journal = book
	e := newRig(cfg)
	submit(t, e, "j1", "one", "run echo once").wait(t)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	cut := book.last("j1")
	cut.Attempt, cut.Tool = cut.Attempt+1, false // begun, and not sent
	w := submitCut(t, running(t, cfg), "j1", "one", "run echo once", cut)
	wantEnd(t, w.wait(t), agent.Interrupted, agent.FailUnreachable)
}
