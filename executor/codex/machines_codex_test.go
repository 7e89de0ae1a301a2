package codex_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/place"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/commands"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

func codextestLog(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

// onMachines returns an executor whose commands run on machines.
func onMachines(t *testing.T, names ...string) (*rig, *machines) {
	t.Helper()
	fleet := &machines{}
	for _, name := range names {
		fleet.on = append(fleet.on, newMachine(t, name))
	}
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) { c.Machines = fleet })
	return e, fleet
}

// running waits until a command has begun, which writes a file.
func begun(t *testing.T, file string) {
	t.Helper()
	eventually(t, "a command to begin", func() bool { _, err := os.Stat(file); return err == nil })
}

// TestOnMachine: the commands of a conversation run in its place, and what it says of where they do is true.
func TestOnMachine(t *testing.T) {
	t.Parallel()
	e, fleet := onMachines(t, "m1")
	at := fleet.on[0]
	w := submit(t, e, "j1", "one", "run echo $MACHINE; pwd; echo x > made")
	if end := w.wait(t); end.Outcome != agent.Completed || said(end) != "m1\n"+at.dir {
		t.Errorf("it ended %v: %q, %+v", end.Outcome, said(end), end.Failure)
	}
	if started := seen[agent.Started](w); len(started) != 1 || started[0].Machine != "m1" || started[0].Cwd != at.dir {
		t.Errorf("started %+v", started)
	}
	begun(t, filepath.Join(at.dir, "made"))
	if len(fleet.left) != 1 || fleet.left[0] != "turn j1" {
		t.Errorf("places left: %q", fleet.left)
	}
}

// TestMachineDies: a turn in the middle of a command is interrupted within seconds, with the name of its machine, and
// the conversation goes on elsewhere, with its history.
func TestMachineDies(t *testing.T) {
	t.Parallel()
	e, fleet := onMachines(t, "m1", "m2")
	first := submit(t, e, "j1", "one", "remember the sea\nrun touch begun; sleep 600")
	begun(t, filepath.Join(fleet.on[0].dir, "begun"))
	at := time.Now()
	fleet.on[0].kill()
	end := first.wait(t)
	if end.Outcome != agent.Interrupted || end.Failure == nil || !strings.HasPrefix(end.Failure.Message, "machine m1: it has died. Look at what") || !end.Tools {
		t.Errorf("it ended %v, %+v", end.Outcome, end.Failure)
	}
	if took := time.Since(at); took > patience/2 {
		t.Errorf("after %v", took)
	}
	second := submit(t, e, "j2", "one", "recall")
	if end := second.wait(t); said(end) != "recalled: the sea" {
		t.Errorf("it ended %v: %q, %+v", end.Outcome, said(end), end.Failure)
	}
	third := submit(t, e, "j3", "one", "run echo $MACHINE")
	if end := third.wait(t); said(end) != "m2" {
		t.Errorf("it ended %v: %q, %+v", end.Outcome, said(end), end.Failure)
	}
	if started := seen[agent.Started](third); len(started) != 1 || started[0].Replaced || started[0].Machine != "m2" {
		t.Errorf("started %+v", started)
	}
}

// TestMachineDiesBeforeTools: a turn that had done nothing is run again, elsewhere, by itself.
func TestMachineDiesBeforeTools(t *testing.T) {
	t.Parallel()
	e, fleet := onMachines(t, "m1", "m2")
	w := submit(t, e, "j1", "one", "wait 1s\nrun echo $MACHINE")
	eventually(t, "the turn", func() bool { return len(seen[agent.Started](w)) == 1 })
	fleet.on[0].kill()
	if end := w.wait(t); end.Outcome != agent.Completed || said(end) != "m2" {
		t.Errorf("it ended %v: %q, %+v", end.Outcome, said(end), end.Failure)
	}
	if started := seen[agent.Started](w); len(started) != 2 || started[1].Attempt != 2 {
		t.Errorf("started %+v", started)
	}
}

// TestMachineLostAsTurnFails: a turn that fails by itself as it is ended with its machine has failed, and was not canceled.
func TestMachineLostAsTurnFails(t *testing.T) {
	t.Parallel()
	fleet := &machines{on: []*machine{newMachine(t, "m1")}}
	e := onFake(t, "", func(c *config) { c.Machines = fleet })
	w := submit(t, e, "j1", "one", "!hang-fail other no model")
	eventually(t, "the turn", func() bool { return len(seen[agent.Started](w)) == 1 })
	fleet.on[0].kill()
	wantEnd(t, w.wait(t), agent.Failed, agent.FailModel)
}

// TestCommandLostWithMachine: a turn whose command could not be begun as its machine died is interrupted, although codex
// completes it with what the model says to that, before it is known of the machine.
func TestCommandLostWithMachine(t *testing.T) {
	t.Parallel()
	e, fleet := onMachines(t, "m1")
	at := fleet.on[0]
	submit(t, e, "j0", "one", "run true").wait(t)
	fleet.dies = true
	at.link.Refuse("it is gone")
	w := submit(t, e, "j1", "one", "run echo here")
	eventually(t, "the model's answer", func() bool { return strings.Contains(w.streamed(), "it is gone") })
	at.lose(&place.LostError{Machine: at.name, Why: "it has died"})
	end := w.wait(t)
	wantEnd(t, end, agent.Interrupted, agent.FailUnreachable)
	if !strings.HasPrefix(end.Failure.Message, "machine m1: it has died. Look at") || !end.Tools {
		t.Errorf("it ended %+v", end)
	}
}

// TestShutdownWithoutMachine: a turn without a tool goes on in the next process also where its machine does not say what
// runs there.
func TestShutdownWithoutMachine(t *testing.T) {
	t.Parallel()
	e, fleet := onMachines(t, "m1")
	fleet.silent = true
	w := submit(t, e, "j1", "one", "wait 600s")
	eventually(t, "the turn", func() bool { return len(seen[agent.Started](w)) == 1 })
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, w.wait(t), agent.Interrupted, agent.FailShutdown)
}

// TestCancelOnMachine: a turn is canceled when nothing of it runs on its machine, what has left its session included.
func TestCancelOnMachine(t *testing.T) {
	t.Parallel()
	e, fleet := onMachines(t, "m1")
	dir := fleet.on[0].dir
	w := submit(t, e, "j1", "one", "run (setsid sleep 600 &); touch begun; sleep 600")
	begun(t, filepath.Join(dir, "begun"))
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Fatal(err)
	}
	if end := w.wait(t); end.Outcome != agent.Canceled {
		t.Errorf("it ended %v, %+v", end.Outcome, end.Failure)
	}
	thread := seen[agent.Started](w)[0].ThreadID
	if left := commands.Find(t.Context(), func(c commands.Command) bool { return c.ThreadID == thread }); len(left) > 0 {
		t.Errorf("still there: %+v", left)
	}
}

// TestNoMachine: where there is none, and none is waited for, the sender reads why.
func TestNoMachine(t *testing.T) {
	t.Parallel()
	e, _ := onMachines(t)
	if end := submit(t, e, "j1", "one", "say hello").wait(t); end.Outcome != agent.Failed || end.Failure.Message != "no machine is up" {
		t.Errorf("it ended %v, %+v", end.Outcome, end.Failure)
	}
}
