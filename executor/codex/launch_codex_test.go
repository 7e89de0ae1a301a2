package codex_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

// A launcher says how codex is started, or why not.
type launcher struct {
	mu     sync.Mutex
	launch codex.Launch
	err    error
}

func (l *launcher) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

func (l *launcher) prepare(context.Context) (codex.Launch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.launch, l.err
}

// prepared returns an executor whose codex is started as the launcher says.
func prepared(t *testing.T) (*rig, *launcher, *modeltest.Model, string) {
	t.Helper()
	l := &launcher{}
	home := ""
	model := modeltest.Start(t, fakemodel.Keywords)
	e := onCodex(t, model, func(c *config) {
		l.launch = codex.Launch{Args: c.Child.Args, Env: c.Child.Env, Model: "gpt-first"}
		for _, kv := range c.Child.Env {
			if dir, ok := strings.CutPrefix(kv, "CODEX_HOME="); ok {
				home = dir
			}
		}
		c.Child.Args, c.Child.Env, c.Prepare = []string{"-c", "hide_agent_reasoning=true"}, nil, l.prepare
	})
	return e, l, model, home
}

// TestUnreadyIsAnswered has every message answered with the reason, and the first
// one after that is gone with a turn.
func TestUnreadyIsAnswered(t *testing.T) {
	t.Parallel()
	e, l, _, _ := prepared(t)
	l.set(func() { l.err = codex.Unready("not configured: c.yaml:3: what is wrong (what to do)") })
	for _, id := range []string{"j1", "j2"} {
		end := submit(t, e, id, "one", "say one").wait(t)
		wantEnd(t, end, agent.Failed, agent.FailUnreachable)
		if end.Failure.Message != "not configured: c.yaml:3: what is wrong (what to do)" {
			t.Errorf("message %q", end.Failure.Message)
		}
	}
	if health := e.Health().Child; !strings.Contains(health.Error, "c.yaml:3") {
		t.Errorf("health %+v", health)
	}
	l.set(func() { l.err = errors.New("secret insides") })
	if end := submit(t, e, "j3", "one", "say one").wait(t); end.Outcome != agent.Failed {
		t.Errorf("end %+v", end)
	}
	l.set(func() { l.err = nil })
	wantEnd(t, submit(t, e, "j4", "one", "say one").wait(t), agent.Completed, "")
}

// TestModelFollowsTheLaunch: a thread that is resumed keeps its model, unless codex
// is told another.
func TestModelFollowsTheLaunch(t *testing.T) {
	t.Parallel()
	e, l, model, _ := prepared(t)
	wantEnd(t, submit(t, e, "j1", "one", "remember blue-7").wait(t), agent.Completed, "")
	l.set(func() { l.launch.Model = "gpt-second" })
	pid := e.Health().Child.Pid
	e.RestartWhenIdle("another model")
	eventually(t, "another codex", func() bool { now := e.Health().Child.Pid; return now != 0 && now != pid })
	if got := said(submit(t, e, "j2", "one", "recall").wait(t)); !strings.Contains(got, "blue-7") {
		t.Errorf("the conversation is lost: %q", got)
	}
	requests := model.Requests()
	if first, last := requests[0].Model, requests[len(requests)-1].Model; first != "gpt-first" || last != "gpt-second" {
		t.Errorf("models %q and %q", first, last)
	}
}

// TestRestartWaitsForTheTurn, and does not cut it.
func TestRestartWaitsForTheTurn(t *testing.T) {
	t.Parallel()
	e, _, model, _ := prepared(t)
	release := make(chan struct{})
	model.SetScript(func(turn *fakemodel.Turn) {
		select {
		case <-release:
		case <-turn.Context().Done():
		}
		fakemodel.Keywords(turn)
	})
	w := submit(t, e, "j1", "one", "say one")
	eventually(t, "the model to be asked", func() bool { return len(model.Requests()) > 0 })
	pid := e.Health().Child.Pid
	e.RestartWhenIdle("login")
	if now := e.Health(); now.Child.Pid != pid || now.Running != 1 {
		t.Errorf("health %+v", now)
	}
	close(release)
	wantEnd(t, w.wait(t), agent.Completed, "")
	if n := len(model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times: the turn was cut", n)
	}
	eventually(t, "another codex", func() bool { now := e.Health().Child.Pid; return now != 0 && now != pid })
	wantEnd(t, submit(t, e, "j2", "one", "say two").wait(t), agent.Completed, "")
}

// TestBadConfigurationCostsNoThread: codex refuses to resume while its config.toml
// cannot be read, and the conversation is there when it can.
func TestBadConfigurationCostsNoThread(t *testing.T) {
	t.Parallel()
	e, _, _, home := prepared(t)
	wantEnd(t, submit(t, e, "j1", "one", "remember blue-9").wait(t), agent.Completed, "")
	file := filepath.Join(home, "config.toml")
	if err := os.WriteFile(file, []byte("[model_providers.old]\nname = \"o\"\nbase_url = \"http://o/v1\"\nwire_api = \"chat\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pid := e.Health().Child.Pid
	e.RestartWhenIdle("test")
	eventually(t, "another codex", func() bool { now := e.Health().Child.Pid; return now != 0 && now != pid })
	end := submit(t, e, "j2", "one", "recall").wait(t)
	wantEnd(t, end, agent.Failed, agent.FailModel)
	if !strings.Contains(end.Failure.Message, "config.toml:4") {
		t.Errorf("message %q", end.Failure.Message)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := said(submit(t, e, "j3", "one", "recall").wait(t)); !strings.Contains(got, "blue-9") {
		t.Errorf("the conversation is lost: %q", got)
	}
}
