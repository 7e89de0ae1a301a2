package codex_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// The tests in this file steer turns of the real codex.

func steer(t *testing.T, e *rig, into, id, context, text string) *witness {
	t.Helper()
	w, err := trySteer(e, into, id, context, text)
	if err != nil {
		t.Fatalf("Steer %s: %v", id, err)
	}
	return w
}

func trySteer(e *rig, into, id, context, text string) (*witness, error) {
	w := &witness{ended: make(chan agent.Ended, 1)}
	job := executor.Job{ID: id, Context: context, Input: []agent.Input{agent.Text(text)}}
	return w, e.Steer(into, job, w.observe)
}

// wantTaken checks that messages became part of a turn that has ended.
func wantTaken(t *testing.T, end agent.Ended, outcome agent.Outcome, ids ...string) {
	t.Helper()
	if end.Outcome != outcome || !slices.Equal(end.Taken, ids) {
		t.Errorf("end = %s with %v taken (%+v), want it %s with %v", end.Outcome, end.Taken, end.Failure, outcome, ids)
	}
}

func started(w *witness) func() bool {
	return func() bool { return len(seen[agent.Started](w)) > 0 }
}

func steered(w *witness) func() bool {
	return func() bool { return len(seen[agent.Steered](w)) == 1 }
}

// runUntilTaken has a turn run a command until takenUp is called.
const runUntilTaken = "run until [ -e taken ]; do sleep 0.1; done"

func takenUp(t *testing.T, cfg config) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(cfg.Child.Dir, "taken"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSteerInTime(t *testing.T) {
	t.Parallel()
	for _, busy := range []string{"hang", "stream 500 10 20ms", runUntilTaken} {
		t.Run(strings.Fields(busy)[0], func(t *testing.T) {
			model := modeltest.Start(t, fakemodel.Keywords)
			cfg := codexConfig(t, model)
			e := running(t, cfg)
			w := submit(t, e, "j1", "one", busy)
			eventually(t, "the turn to run", func() bool {
				return len(model.Requests()) == 1 && (busy != runUntilTaken || commandRuns(w))
			})
			s := steer(t, e, "j1", "j2", "one", "say other")
			eventually(t, "codex to take it", steered(s))
			takenUp(t, cfg)
			end := w.wait(t)
			wantTaken(t, end, agent.Completed, "j2")
			if got := said(end); got != "other" {
				t.Errorf("the turn says %q", got)
			}
			if other := s.wait(t); other.Outcome != agent.Completed || len(other.Messages) != 0 {
				t.Errorf("the message that was taken ends with %+v", other)
			}
			if _, err := trySteer(e, "j1", "j3", "one", "say late"); !errors.Is(err, executor.ErrNotRunning) {
				t.Errorf("Steer into what has ended: %v", err)
			}
			wantAlive(t, e, "one")
		})
	}
}

// TestSteerAtOnce steers turns that have hardly begun, and such that are just
// ending: each message is answered once.
func TestSteerAtOnce(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	e := onCodex(t, model, nil)
	submit(t, e, "warm", "one", "say warm").wait(t)
	taken := 0
	for i := range 16 {
		turn, id := fmt.Sprintf("t%d", i), fmt.Sprintf("s%d", i)
		w := submit(t, e, turn, "one", "say first")
		eventually(t, "the turn to start", started(w))
		if i%2 > 0 { // near its end
			eventually(t, "the turn to speak", func() bool { return w.streamed() != "" })
		}
		s, err := trySteer(e, turn, id, "one", "say "+id)
		if errors.Is(err, executor.ErrNotRunning) {
			s = submit(t, e, id, "one", "say "+id)
		}
		end, own := w.wait(t), s.wait(t)
		answers := strings.Count(said(end)+said(own), id)
		if answers != 1 || end.Outcome != agent.Completed || own.Outcome != agent.Completed {
			t.Errorf("message %d was answered %d times: %+v and %+v", i, answers, end, own)
		}
		if len(end.Taken) > 0 {
			taken++
		}
	}
	t.Logf("%d of 16 became part of the turn", taken)
}

// TestSteerAnsweredWithNothing: a model that has read a message, and has nothing to say, is not asked again.
func TestSteerAnsweredWithNothing(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]fakemodel.Script{
		"nothing": func(*fakemodel.Turn) {},
		"a plan": func(turn *fakemodel.Turn) {
			if len(turn.NewToolOutputs()) == 0 {
				turn.Plan([]fakemodel.Step{{Step: "be quiet", Status: "completed"}})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			model := modeltest.Start(t, func(turn *fakemodel.Turn) {
				if turn.LastUserText() == "hush" {
					if len(turn.NewToolOutputs()) == 0 {
						asked.Add(1)
					}
					answer(turn)
					return
				}
				fakemodel.Keywords(turn)
			})
			cfg := codexConfig(t, model)
			e := running(t, cfg)
			w := submit(t, e, "j0", "one", runUntilTaken)
			eventually(t, "the command", func() bool { return commandRuns(w) })
			s := steer(t, e, "j0", "s0", "one", "hush")
			eventually(t, "codex to take it", steered(s))
			takenUp(t, cfg)
			wantTaken(t, w.wait(t), agent.Completed, "s0")
			s.wait(t)
			submit(t, e, "j1", "one", "say next").wait(t)
			if n := asked.Load(); n != 1 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}

func TestSteerBurst(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for _, busy := range []string{"hang", runUntilTaken} {
		t.Run(strings.Fields(busy)[0], func(t *testing.T) {
			model := modeltest.Start(t, func(turn *fakemodel.Turn) {
				if busy == "hang" && turn.LastUserText() != "say s9" { // the turn waits for the last of them
					turn.Hang()
				} else {
					fakemodel.Keywords(turn)
				}
			})
			book := &notebook{}
			cfg := codexConfig(t, model)
			cfg.Journal = book
			e := running(t, cfg)
			w := submit(t, e, "j0", "one", busy)
			eventually(t, "the turn to run", func() bool {
				return len(model.Requests()) == 1 && (busy == "hang" || commandRuns(w))
			})
			var ids []string
			var all []*witness
			for i := range 10 {
				ids = append(ids, fmt.Sprintf("s%d", i))
				all = append(all, steer(t, e, "j0", ids[i], "one", "say "+ids[i]))
			}
			for i, s := range all {
				eventually(t, "codex to take "+ids[i], steered(s))
			}
			takenUp(t, cfg)
			wantTaken(t, w.wait(t), agent.Completed, ids...)
			for _, s := range all {
				s.wait(t)
			}
			requests := model.Requests()
			texts := requests[len(requests)-1].UserTexts()
			want := append([]string{busy}, prefixed("say ", ids)...)
			if !slices.Equal(texts, want) {
				t.Errorf("the model was told %q, want %q", texts, want)
			}
			if err := e.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantHistory(t, cfg, book, append([]string{"j0.1"}, suffixed(ids, ".1")...))
		})
	}
}

// TestSteerWithoutEnd steers one turn more often than messages may wait, and with
// as much as a message may hold. What has arrived does not count as waiting.
func TestSteerWithoutEnd(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		if strings.HasPrefix(turn.LastUserText(), "end") {
			turn.Say("the end")
		} else {
			turn.Hang()
		}
	})
	e := onCodex(t, model, func(c *config) { c.MaxQueue = 3 })
	w := submit(t, e, "j0", "one", "begin")
	eventually(t, "the turn to run", func() bool { return len(model.Requests()) == 1 })
	most := "end" + strings.Repeat("x", 1<<20-3)
	var ids []string
	for i, text := range []string{"a", "b", "c", "d", "e", "f", most} {
		ids = append(ids, fmt.Sprintf("s%d", i))
		steer(t, e, "j0", ids[i], "one", text)
		eventually(t, ids[i]+" to arrive", func() bool { return e.Health().Waiting == 0 })
	}
	end := w.wait(t)
	wantTaken(t, end, agent.Completed, ids...)
	if said(end) != "the end" {
		t.Errorf("the turn says %q", said(end))
	}
}

func prefixed(prefix string, all []string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = prefix + s
	}
	return out
}

func suffixed(all []string, suffix string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = s + suffix
	}
	return out
}

// wantHistory checks the client ids of the user messages on a thread, over its turns.
func wantHistory(t *testing.T, cfg config, book *notebook, want []string) {
	t.Helper()
	c, err := appserver.Start(t.Context(), appserver.Config{Bin: cfg.Child.Bin, Args: cfg.Child.Args, Env: cfg.Child.Env, Dir: cfg.Child.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	past, err := book.Past(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ThreadResume(t.Context(), appserver.ThreadResumeParams{ThreadID: past.Thread, ExcludeTurns: true}); err != nil {
		t.Fatal(err)
	}
	turns, err := c.TurnsList(t.Context(), past.Thread, 50, true)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, turn := range slices.Backward(turns) {
		for _, item := range turn.Items {
			if item.Type == appserver.ItemUserMessage {
				ids = append(ids, item.ClientID)
			}
		}
	}
	if !slices.Equal(ids, want) {
		t.Errorf("the history holds %v, want %v", ids, want)
	}
}

// TestSteerAndDeath kills codex under a turn that was steered.
func TestSteerAndDeath(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	t.Run("arrived", func(t *testing.T) { // is part of the turn that is run again
		var told atomic.Int32
		model := modeltest.Start(t, func(turn *fakemodel.Turn) {
			if turn.LastUserText() == "say both" && told.Add(1) == 1 {
				turn.Hang()
			} else {
				fakemodel.Keywords(turn)
			}
		})
		e := onCodex(t, model, nil)
		w := submit(t, e, "j1", "one", "hang")
		eventually(t, "the turn to run", func() bool { return len(model.Requests()) == 1 })
		s := steer(t, e, "j1", "j2", "one", "say both")
		eventually(t, "the model to be told", func() bool { return len(model.Requests()) == 2 })
		kill(t, e)
		end := w.wait(t)
		wantTaken(t, end, agent.Completed, "j2")
		if said(end) != "both" || len(seen[agent.Started](w)) != 2 {
			t.Errorf("the turn says %q after %d attempts", said(end), len(seen[agent.Started](w)))
		}
		s.wait(t)
	})
	t.Run("under-a-tool", func(t *testing.T) { // is lost with codex, and gets its own turn
		model := modeltest.Start(t, fakemodel.Keywords)
		e := onCodex(t, model, nil)
		w := submit(t, e, "j1", "one", "run sleep 20")
		eventually(t, "the command to run", func() bool { return commandRuns(w) })
		s := steer(t, e, "j1", "j2", "one", "say own")
		later := submit(t, e, "j3", "one", "say later")
		eventually(t, "codex to take it", steered(s))
		kill(t, e)
		wantTaken(t, w.wait(t), agent.Interrupted)
		if end := s.wait(t); said(end) != "own" || len(seen[agent.Unsteered](s)) != 1 {
			t.Errorf("the message ends with %+v", end)
		}
		if len(seen[agent.Started](later)) != 0 && len(later.ended) == 0 {
			t.Error("a later message came first")
		}
		later.wait(t)
	})
}

func kill(t *testing.T, e *rig) {
	t.Helper()
	if err := syscall.Kill(e.Health().Child.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
