package codex_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakecodex"
)

// TestTrials ask a codex of their own, and tell what it refuses from what it cannot be asked.
func TestTrials(t *testing.T) {
	asks := map[string]func(codex.Process) error{
		"account/read": func(p codex.Process) error {
			_, _, err := codex.ReadAccount(t.Context(), p)
			return err
		},
		"thread/start": func(p codex.Process) error {
			return codex.TryThread(t.Context(), p, codex.Thread{Cwd: t.TempDir()})
		},
	}
	for method, ask := range asks {
		process := func(script string) (p codex.Process) {
			p.Bin, p.Env = fakecodex.Command("state " + t.TempDir() + "; " + script)
			return p
		}
		if err := ask(process("")); err != nil {
			t.Errorf("%s: %v", method, err)
		}
		err := ask(process("refuse " + method + " routing discovery"))
		if no, ok := errors.AsType[codex.RefusedError](err); !ok || no.Words != "routing discovery" || !strings.Contains(err.Error(), method) {
			t.Errorf("%s, refused: %v", method, err)
		}
		if err := ask(codex.Process{Bin: "/no/such/codex"}); err == nil || errors.As(err, new(codex.RefusedError)) {
			t.Errorf("%s, without codex: %v", method, err)
		}
	}
}

// TestRefusedDeletion is told from a codex that does not run.
func TestRefusedDeletion(t *testing.T) {
	e := onFake(t, "refuse thread/delete it is in use", nil)
	if err := e.Delete(t.Context(), "some"); !errors.Is(err, codex.ErrNoCodex) {
		t.Errorf("before codex runs: %v", err)
	}
	submit(t, e, "j1", "one", "hello").wait(t)
	if err := e.Delete(t.Context(), "some"); !errors.As(err, new(codex.RefusedError)) {
		t.Errorf("refused: %v", err)
	}
}
