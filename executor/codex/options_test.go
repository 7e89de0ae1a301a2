package codex_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// look is a command that shows what a turn runs with: where, and whether it may
// write there.
const look = "run pwd -P; touch here && echo writes"

// TestOptionsAreOneTurns runs turns that ask for something else on the real codex,
// which would keep it for the turns that follow. They must not notice, neither on
// the same thread nor on one that was resumed by another process.
func TestOptionsAreOneTurns(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	cfg := codexConfig(t, model)
	cfg.Journal = &notebook{}
	work, err := filepath.EvalSymlinks(cfg.Child.Dir)
	if err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(work, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg.Thread = codex.Thread{
		Cwd: work, ApprovalPolicy: agent.OnRequest, Sandbox: agent.WorkspaceWrite,
	}
	e := running(t, cfg)
	plain := func(e *rig, id string) {
		t.Helper()
		got := said(submit(t, e, id, "one", look).wait(t))
		if !strings.HasPrefix(got, work+"\n") || !strings.Contains(got, "writes") || usedModel(model) == "another" {
			t.Errorf("%s ran with model %q and says %q", id, usedModel(model), got)
		}
	}
	strays := func(e *rig, id string) {
		t.Helper()
		got := said(submitWith(t, e, id, look, agent.Options{
			Cwd: sub, Model: "another", Sandbox: agent.ReadOnly, ApprovalPolicy: agent.Never,
		}).wait(t))
		if !strings.Contains(got, sub+"\n") || strings.Contains(got, "writes") || usedModel(model) != "another" {
			t.Errorf("%s ran with model %q and says %q", id, usedModel(model), got)
		}
	}
	plain(e, "j1")
	strays(e, "j2")
	plain(e, "j3")
	plain(e, "j4")
	strays(e, "j5")
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	plain(running(t, cfg), "j6")
}

// TestFolderThatMoved runs nothing in a folder in whose place a turn before has put a
// symlink: its sandbox would have let it write outside of the working directory.
func TestFolderThatMoved(t *testing.T) {
	t.Parallel()
	cfg := codexConfig(t, modeltest.Start(t, fakemodel.Keywords))
	work, err := filepath.EvalSymlinks(cfg.Child.Dir)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Thread = codex.Thread{Cwd: work, ApprovalPolicy: agent.Never, Sandbox: agent.WorkspaceWrite}
	sub, outside := filepath.Join(work, "sub"), codextest.Dir(t, "outside")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	e := running(t, cfg)
	submit(t, e, "j1", "one", "run rmdir sub && ln -s "+outside+" sub")
	end := submitWith(t, e, "j2", look, agent.Options{Cwd: sub}).wait(t)
	wantEnd(t, end, agent.Rejected, agent.FailModel)
	if _, err := os.Stat(filepath.Join(outside, "here")); err == nil || !strings.Contains(end.Failure.Message, sub) {
		t.Errorf("%v; the turn says %q", end.Failure, said(end))
	}
	if got := said(submit(t, e, "j3", "one", look).wait(t)); !strings.Contains(got, "writes") {
		t.Errorf("the next turn says %q", got)
	}
}

// TestPolicyOfOneTurn has one turn ask although everything is allowed, and another
// one not although the operator is asked.
func TestPolicyOfOneTurn(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), nil)
	w := submitWith(t, e, "j1", "run echo done", agent.Options{ApprovalPolicy: agent.Untrusted})
	mustReply(t, e, "j1", w.asked(t, 1), "no")
	if got := said(w.wait(t)); strings.Contains(got, "done") {
		t.Errorf("the command ran without leave: %q", got)
	}
	w = submit(t, e, "j2", "one", "run echo done")
	if got := said(w.wait(t)); !strings.Contains(got, "done") || len(seen[agent.Question](w)) > 0 {
		t.Errorf("the turn after it says %q", got)
	}

	e = onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) {
		asks()(c)
		c.Thread.ApprovalPolicy = agent.OnRequest
	})
	w = submitWith(t, e, "j1", "escalate echo done", agent.Options{ApprovalPolicy: agent.Never})
	if got := said(w.wait(t)); strings.Contains(got, "done") || len(seen[agent.Question](w)) > 0 {
		t.Errorf("a turn in which nobody is asked says %q", got)
	}
}

func usedModel(m *modeltest.Model) string {
	all := m.Requests()
	return all[len(all)-1].Model
}

func submitWith(t *testing.T, e *rig, id, text string, o agent.Options) *witness {
	t.Helper()
	w := &witness{ended: make(chan agent.Ended, 1)}
	job := executor.Job{ID: id, Context: "one", Input: []agent.Input{agent.Text(text)}, Options: o}
	if _, err := e.Submit(job, w.observe); err != nil {
		t.Fatalf("Submit %s: %v", id, err)
	}
	return w
}
