package codex_test

import (
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakecodex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

func TestMain(m *testing.M) {
	fakecodex.Child()
	mcpDouble()
	process()
	leaktest.Main(m)
}

// patience bounds every wait of these tests; reaching it is a failure.
const patience = progtest.Patience

// onCodex returns an executor on the real codex with a scripted model behind it.
func onCodex(t *testing.T, model *modeltest.Model, change func(*config)) *rig {
	t.Helper()
	cfg := codexConfig(t, model)
	if change != nil {
		change(&cfg)
	}
	return running(t, cfg)
}

// codexConfig describes an executor with a home of its own, which a second one
// may take over.
func codexConfig(t *testing.T, model *modeltest.Model) config {
	t.Helper()
	return config{
		driverConfig: driverConfig{
			Child: codex.Process{
				Bin: codextest.Bin(t), Args: model.Overrides(), Dir: codextest.Dir(t, "work"),
				// A home without a profile: codex runs commands in login shells.
				Env: []string{
					"PATH=" + os.Getenv("PATH"), "HOME=" + codextest.Dir(t, "user"), "CODEX_HOME=" + codextest.Home(t), model.Env(),
				},
				ClientName: "executor-test", ClientVersion: "1",
			},
			Thread: codex.Thread{
				ApprovalPolicy: agent.Never, Sandbox: agent.FullAccess,
			},
		},
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
}

// running returns an executor that ends with the test.
func running(t *testing.T, cfg config) *rig {
	t.Helper()
	e := newRig(cfg)
	t.Cleanup(func() {
		if err := e.Close(t.Context()); err != nil && t.Context().Err() == nil {
			t.Errorf("Close: %v", err)
		}
	})
	return e
}

// A witness observes one job.
type witness struct {
	mu     sync.Mutex
	events []agent.Event
	began  time.Time // when Started was told last
	turned time.Time // when the last of its turn was told, which its slot is held for
	ended  chan agent.Ended
}

func submit(t *testing.T, e *rig, id, context, text string) *witness {
	t.Helper()
	return submitCut(t, e, id, context, text, nil)
}

// submitCut submits a job that an earlier process may have begun.
func submitCut(t *testing.T, e *rig, id, context, text string, cut *executor.Cut) *witness {
	t.Helper()
	w := &witness{ended: make(chan agent.Ended, 1)}
	job := executor.Job{ID: id, Context: context, Input: []agent.Input{agent.Text(text)}, Cut: cut}
	if _, err := e.Submit(job, w.observe); err != nil {
		t.Fatalf("Submit %s: %v", id, err)
	}
	return w
}

func (w *witness) observe(event agent.Event) {
	w.mu.Lock()
	w.events = append(w.events, event)
	if _, ok := event.(agent.Started); ok {
		w.began = time.Now()
	}
	end, ok := event.(agent.Ended)
	if !ok {
		w.turned = time.Now()
	}
	w.mu.Unlock()
	if ok {
		w.ended <- end
	}
}

func (w *witness) wait(t *testing.T) agent.Ended {
	t.Helper()
	select {
	case end := <-w.ended:
		return end
	case <-time.After(patience):
		t.Fatal("the job does not end")
		return agent.Ended{}
	}
}

func seen[E agent.Event](w *witness) []E {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []E
	for _, event := range w.events {
		if e, ok := event.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

func (w *witness) streamed() string {
	var all strings.Builder
	for _, d := range seen[agent.TextDelta](w) {
		all.WriteString(d.Text)
	}
	return all.String()
}

func said(end agent.Ended) string {
	var all strings.Builder
	for _, m := range end.Messages {
		all.WriteString(m.Text)
	}
	return all.String()
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
