package codex_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// The tests in this file run on the real codex: what of a conversation goes with a message that the
// provider refuses to read, and what stays.

// flags is a model that refuses what says FLAGGED, and does the rest by another script.
func flags(t *testing.T, script fakemodel.Script) *modeltest.Model {
	t.Helper()
	return modeltest.Start(t, func(turn *fakemodel.Turn) {
		if strings.Contains(string(turn.Body), "FLAGGED") {
			turn.Fail(http.StatusBadRequest, `{"error":{"message":"no","code":"invalid_prompt"}}`)
			return
		}
		script(turn)
	})
}

// canceled has a message be canceled once the model was asked.
func canceled(t *testing.T, e *rig, id, text string, asked *atomic.Bool) {
	t.Helper()
	w := submit(t, e, id, "one", text)
	eventually(t, "the model to be asked", asked.Load)
	if err := e.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	w.wait(t)
}

// TestUnansweredBeforeARestart: what was canceled in the process before may be why, and what the
// conversation was told since is told again.
func TestUnansweredBeforeARestart(t *testing.T) {
	t.Parallel()
	model, held, release := flagging(t)
	var p persona
	p.is("PERSONA-one")
	cfg := codexConfig(t, model)
	cfg.Instructions, cfg.Journal = p.now, &notebook{}
	e := newRig(cfg)
	submit(t, e, "j1", "one", "remember teal-7").wait(t)
	canceled(t, e, "j2", "say FLAGGED", held)
	release()
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.is("")
	e = running(t, cfg)
	if end := submit(t, e, "j3", "one", "recall").wait(t); end.Failure == nil || !strings.Contains(end.Failure.Message, "those before it") {
		t.Errorf("the next message ends with %+v (%v)", end, end.Failure)
	}
	if end := submit(t, e, "j4", "one", "recall").wait(t); !strings.Contains(said(end), "teal-7") {
		t.Errorf("the one after that ends with %+v (%v)", end, end.Failure)
	}
	requests := model.Requests()
	if body := string(requests[len(requests)-1].Body); !strings.Contains(body, "no longer hold") {
		t.Error("the model is not told that its instructions are none any more")
	}
}

// TestPlannedBeforeARefusal: a message that the model has answered with a plan alone stays.
func TestPlannedBeforeARefusal(t *testing.T) {
	t.Parallel()
	var planned atomic.Bool
	cfg := codexConfig(t, flags(t, func(turn *fakemodel.Turn) {
		switch {
		case !strings.Contains(turn.LastUserText(), "remember"):
			fakemodel.Keywords(turn)
		case len(turn.NewToolOutputs()) > 0:
			planned.Store(true)
			turn.Hang()
		default:
			turn.Plan([]fakemodel.Step{{Step: "look", Status: "in_progress"}})
		}
	}))
	cfg.Child.Args, cfg.Journal = append(cfg.Child.Args, "-c", "tools.update_plan.enabled=true"), &notebook{}
	e := newRig(cfg)
	canceled(t, e, "j1", "remember teal-7", &planned)
	if err := e.Close(t.Context()); err != nil { // the next process has not seen the plan
		t.Fatal(err)
	}
	e = running(t, cfg)
	submit(t, e, "j2", "one", "say FLAGGED").wait(t)
	recalls(t, e)
}

// TestForeignTurnsBehindACancel: what another codex has done in the conversation since stays.
func TestForeignTurnsBehindACancel(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	var hung atomic.Bool
	cfg := codexConfig(t, flags(t, func(turn *fakemodel.Turn) {
		if strings.Contains(turn.LastUserText(), "hang") && hung.CompareAndSwap(false, true) {
			turn.Hang()
			return
		}
		fakemodel.Keywords(turn)
	}))
	cfg.Journal, cfg.MaxThreads = &notebook{}, 1
	e := running(t, cfg)
	submit(t, e, "j1", "one", "say one").wait(t)
	canceled(t, e, "j2", "hang", &hung)
	submit(t, e, "j3", "two", "say two").wait(t)
	killCodex(t, e) // else it is the thread's writer for a while
	other := newRig(cfg)
	submit(t, other, "k1", "one", "remember teal-7").wait(t)
	if err := other.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	submit(t, e, "j4", "one", "say FLAGGED").wait(t)
	recalls(t, e)
}

// TestMessageThatIsTooLongByWords: an endpoint that says in words that the context is full has the message
// that alone is too long left out.
func TestMessageThatIsTooLongByWords(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, func(turn *fakemodel.Turn) {
		switch {
		case len(turn.Body) > 300_000:
			turn.Fail(http.StatusBadRequest, `{"error":{"message":"This model's maximum context length is 32768 tokens. However, you requested 40000 tokens.","type":"BadRequestError","code":400}}`)
		case summarises(turn):
			turn.Say("summary: remember teal-7")
		default:
			fakemodel.Keywords(turn)
		}
	}), nil)
	submit(t, e, "j1", "one", "remember teal-7").wait(t)
	end := submit(t, e, "j2", "one", "say "+strings.Repeat("long ", 80_000)).wait(t)
	if end.Failure == nil || end.Failure.Kind != agent.FailContext || !strings.Contains(end.Failure.Message, "will not read this message") {
		t.Errorf("it ends with %+v (%v)", end.Outcome, end.Failure)
	}
	if end := submit(t, e, "j3", "one", "say hello").wait(t); end.Outcome != agent.Completed {
		t.Errorf("the next ends with %+v (%v)", end, end.Failure)
	}
}

// TestRefusedBehindASubagentsEnd: that a subagent has ended codex tells in the next turn, whatever the model
// has read.
func TestRefusedBehindASubagentsEnd(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	var ended atomic.Bool
	e := onCodex(t, flags(t, func(turn *fakemodel.Turn) {
		outputs := len(turn.NewToolOutputs())
		switch {
		case turn.FromSubagent() && outputs == 0:
			turn.Exec("sleep 1; touch deployed")
		case turn.FromSubagent():
			turn.Say("it is deployed")
		case strings.HasPrefix(turn.LastUserText(), "spawn") && outputs == 0:
			message, _ := json.Marshal(map[string]any{"task_name": "sub", "message": "spawn: deploy it"})
			turn.CallIn("collaboration", "spawn_agent", string(message))
		case strings.HasPrefix(turn.LastUserText(), "spawn"):
			turn.Say("it is on its way")
		default:
			fakemodel.Keywords(turn)
		}
	}), func(c *config) {
		c.OnItem = func(item agent.Item) {
			if item.Text == "it is deployed" {
				ended.Store(true)
			}
		}
	})
	submit(t, e, "j1", "one", "remember teal-7").wait(t)
	submit(t, e, "j2", "one", "spawn").wait(t)
	eventually(t, "the subagent to end", ended.Load)
	submit(t, e, "j3", "one", "say FLAGGED").wait(t)
	recalls(t, e)
}

// TestHeldBesideACommand: of a message whose attempt was held beside a command, both attempts are taken out.
func TestHeldBesideACommand(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	var refuses atomic.Bool
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		switch {
		case refuses.CompareAndSwap(true, false):
			unauthorized(turn)
		case strings.Contains(string(turn.Body), "FLAGGED"):
			turn.Fail(http.StatusBadRequest, `{"error":{"message":"no","code":"invalid_prompt"}}`)
		default:
			fakemodel.Keywords(turn)
		}
	})
	var work string
	e := onCodex(t, model, func(c *config) {
		work, c.KeyVariable, c.LoginProbe = c.Child.Dir, modeltest.KeyVar, 100*time.Millisecond
	})
	submit(t, e, "j1", "one", "background until [ -e stopnow ]; do sleep 0.1; done; touch over").wait(t)
	submit(t, e, "j2", "one", "remember teal-7").wait(t)
	refuses.Store(true)
	submit(t, e, "j3", "one", "say FLAGGED").wait(t)
	if err := os.WriteFile(filepath.Join(work, "stopnow"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command to end", func() bool { _, err := os.Stat(filepath.Join(work, "over")); return err == nil })
	recalls(t, e)
}

// TestCalledBeforeTwoRefusals: what a command has done in a turn stays, also behind a first refusal, after
// which codex goes on in another file.
func TestCalledBeforeTwoRefusals(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	cfg := codexConfig(t, flags(t, fakemodel.Keywords))
	cfg.Journal = &notebook{}
	e := newRig(cfg)
	submit(t, e, "j1", "one", "say one").wait(t)
	w := submit(t, e, "j2", "one", "run : remember teal-7; touch deployed; sleep 63.25")
	eventually(t, "the command to run", func() bool { _, err := os.Stat(filepath.Join(cfg.Child.Dir, "deployed")); return err == nil })
	killCodex(t, e)
	w.wait(t)
	submit(t, e, "j3", "one", "say FLAGGED").wait(t)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	e = running(t, cfg)
	if end := submit(t, e, "j4", "one", "say FLAGGED again").wait(t); end.Failure == nil || strings.Contains(end.Failure.Message, "those before it") {
		t.Errorf("the second refusal ends with %+v (%v)", end, end.Failure)
	}
}

// TestPassingBehindARestart: a message that fails in passing stays, also where it is not known which model
// was asked last.
func TestPassingBehindARestart(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	cfg := codexConfig(t, flags(t, func(turn *fakemodel.Turn) {
		if away.Load() {
			turn.Fail(http.StatusNotFound, "not now")
			return
		}
		fakemodel.Keywords(turn)
	}))
	cfg.Journal = &notebook{}
	e := newRig(cfg)
	submit(t, e, "j1", "one", "say one").wait(t)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	e = running(t, cfg)
	away.Store(true)
	submit(t, e, "j2", "one", "remember teal-7").wait(t)
	away.Store(false)
	recalls(t, e)
}

// TestTooLongByWordsBehindACancel: what alone is too long and was canceled goes with the next message.
func TestTooLongByWordsBehindACancel(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	var asked atomic.Bool
	e := onCodex(t, modeltest.Start(t, func(turn *fakemodel.Turn) {
		switch {
		case len(turn.Body) > 300_000 && asked.CompareAndSwap(false, true):
			turn.Hang()
		case len(turn.Body) > 300_000:
			turn.Fail(http.StatusBadRequest, `{"error":{"message":"This model's maximum context length is 32768 tokens. However, you requested 40000 tokens.","type":"BadRequestError","code":400}}`)
		default:
			fakemodel.Keywords(turn)
		}
	}), nil)
	submit(t, e, "j1", "one", "remember teal-7").wait(t)
	canceled(t, e, "j2", "say "+strings.Repeat("long ", 80_000), &asked)
	recalls(t, e)
}

// TestRefusedBehindLargeTurns: a message that is refused is taken out also where codex's list of the turns
// before it is too long to be read.
func TestRefusedBehindLargeTurns(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	cfg := codexConfig(t, flags(t, func(turn *fakemodel.Turn) {
		if n := len(turn.NewToolOutputs()); strings.Contains(turn.LastUserText(), "much") && n < 6 {
			turn.Exec("head -c 1000000 /dev/zero")
			return
		}
		fakemodel.Keywords(turn)
	}))
	cfg.Child.MaxLine = 4 << 20
	e := running(t, cfg)
	submit(t, e, "j1", "one", "remember teal-7").wait(t)
	submit(t, e, "j2", "one", "say much").wait(t)
	submit(t, e, "j3", "one", "say FLAGGED").wait(t)
	recalls(t, e)
}

// TestLostHistoryBehindARefusal: that its history is lost the model is told again where the turn that had
// this with it is taken out.
func TestLostHistoryBehindARefusal(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	var hung atomic.Bool
	model := flags(t, func(turn *fakemodel.Turn) {
		if strings.Contains(turn.LastUserText(), "hang") && hung.CompareAndSwap(false, true) {
			turn.Hang()
			return
		}
		fakemodel.Keywords(turn)
	})
	cfg := codexConfig(t, model)
	cfg.Journal = &notebook{}
	e := running(t, cfg)
	submit(t, e, "j1", "one", "remember teal-7").wait(t)
	killCodex(t, e)
	var home string
	for _, variable := range cfg.Child.Env {
		if dir, is := strings.CutPrefix(variable, "CODEX_HOME="); is {
			home = dir
		}
	}
	if err := os.RemoveAll(filepath.Join(home, "sessions")); err != nil {
		t.Fatal(err)
	}
	canceled(t, e, "j2", "hang", &hung)
	submit(t, e, "j3", "one", "say FLAGGED").wait(t)
	submit(t, e, "j4", "one", "recall").wait(t)
	requests := model.Requests()
	if body := string(requests[len(requests)-1].Body); !strings.Contains(body, "could not be loaded and is lost") {
		t.Error("the model is not told that the history is lost")
	}
}

// TestFailedBeforeAFullContext: what failed in passing stays, where the summary does, too, that a full context
// needs. The message that did not fit does not, and that is said of it alone.
func TestFailedBeforeAFullContext(t *testing.T) {
	t.Parallel()
	var failed atomic.Bool
	e := onCodex(t, modeltest.Start(t, func(turn *fakemodel.Turn) {
		switch {
		case strings.Contains(turn.LastUserText(), "teal-7") && failed.CompareAndSwap(false, true):
			turn.Fail(http.StatusBadGateway, "not now")
		case summarises(turn):
			turn.Fail(http.StatusInternalServerError, "not now")
		case strings.Contains(turn.LastUserText(), "say big"):
			full(turn)
		default:
			fakemodel.Keywords(turn)
		}
	}), nil)
	submit(t, e, "j1", "one", "say hi").wait(t)
	submit(t, e, "j2", "one", "remember teal-7").wait(t)
	end := submit(t, e, "j3", "one", "say big").wait(t)
	if end.Failure == nil || !strings.Contains(end.Failure.Message, "will not read") || strings.Contains(end.Failure.Message, "those before it") {
		t.Errorf("it ends with %+v (%v)", end, end.Failure)
	}
	recalls(t, e)
}
