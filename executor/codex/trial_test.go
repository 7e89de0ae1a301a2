package codex_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakecodex"
)

// TestTrials ask a codex of their own, and tell what it refuses from what it cannot be asked.
func TestTrials(t *testing.T) {
	asks := map[string]func(codex.Process) error{
		"account/read": func(p codex.Process) error {
			account, email, err := codex.ReadAccount(t.Context(), p)
			if known := account != (executor.Account{}) || email != ""; known == (err != nil) {
				t.Errorf("the account is %+v, %q, beside %v", account, email, err)
			}
			return err
		},
		"thread/start": func(p codex.Process) error {
			return codex.TryThread(t.Context(), p, codex.Thread{Cwd: t.TempDir()})
		},
	}
	var wire lockedBuffer
	for method, ask := range asks {
		process := func(script string) (p codex.Process) {
			p.Bin, p.Env = fakecodex.Command("state " + t.TempDir() + "; " + script)
			return p
		}
		p := process("")
		p.Wire = &wire
		if err := ask(p); err != nil {
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
	wantTrialThread(t, wire.String())
}

// wantTrialThread holds what a codex was told to a thread that is not written down, whose approvals are the driver's.
func wantTrialThread(t *testing.T, wire string) {
	t.Helper()
	for line := range strings.Lines(wire) {
		var call struct {
			Method string
			Params struct {
				Ephemeral         bool
				ApprovalsReviewer string
			}
		}
		if err := json.Unmarshal([]byte(line), &call); err != nil {
			t.Fatal(err)
		}
		if call.Method == "thread/start" {
			if p := call.Params; !p.Ephemeral || p.ApprovalsReviewer != "user" {
				t.Errorf("thread/start with %+v", p)
			}
			return
		}
	}
	t.Errorf("no thread was started: %s", wire)
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
	if words := (codex.RefusedError{Words: "no"}).Error(); words != "no" {
		t.Errorf("without an error it says %q", words)
	}
}
