package codex_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/rollout"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// The tests in this file go on, on the real codex, with what another program has begun.

// execSession has codex exec begin a session and returns its id.
func execSession(t *testing.T, cfg config, prompt string) string {
	t.Helper()
	return codextest.ExecSession(t, cfg.Child.Bin, cfg.Child.Dir, cfg.Child.Env, cfg.Child.Args, prompt)
}

// oldSession puts a session of codex 0.57.0 into the home, as codex exec has left it,
// and returns its id.
func oldSession(t *testing.T, cfg config) string {
	t.Helper()
	const id = "01a1fee7-1c8f-7461-b714-6d5fec2d0046"
	text, err := os.ReadFile(filepath.Join("testdata", "exec-0.57.0.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(homeOf(cfg), "sessions/2026/11/21")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "rollout-2026-11-21T16-18-41-"+id+".jsonl"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return id
}

// TestForeignThreadsGoOn forks sessions of codex exec: of the pinned version, of the one
// that the first bridges were made for, and of a model provider that is gone. They keep
// their history, and the tools that are offered now are no reason to give them up.
func TestForeignThreadsGoOn(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	elsewhere := func(t *testing.T, cfg config) string {
		cfg.Child.Args = slices.Clone(cfg.Child.Args)
		for i, arg := range cfg.Child.Args {
			arg = strings.ReplaceAll(arg, "model_providers.fake", "model_providers.gone")
			cfg.Child.Args[i] = strings.ReplaceAll(arg, `model_provider="fake"`, `model_provider="gone"`)
		}
		return execSession(t, cfg, "remember teal-7")
	}
	for name, begin := range map[string]func(t *testing.T, cfg config) string{
		"pinned": func(t *testing.T, cfg config) string { return execSession(t, cfg, "remember teal-7") },
		"0.57.0": oldSession, "other-provider": elsewhere,
	} {
		t.Run(name, func(t *testing.T) {
			cfg := codexConfig(t, modeltest.Start(t, fakemodel.Keywords))
			offers(&bench{answer: echo}, "list_peers")(&cfg)
			theirs := begin(t, cfg)
			book := &notebook{attempts: []executor.Attempt{{Conversation: "one", Thread: theirs, Tools: codex.ForeignTools}}}
			cfg.Journal = book
			ours := ""
			for _, job := range []string{"j1", "j2", "j3"} { // the second process finds what the first has written down
				e := running(t, cfg)
				w := submit(t, e, job, "one", "recall")
				if got := said(w.wait(t)); !strings.Contains(got, "teal-7") {
					t.Errorf("it recalls %q", got)
				}
				started := seen[agent.Started](w)
				if len(started) != 1 || started[0].ThreadID == theirs || started[0].Replaced || ours != "" && started[0].ThreadID != ours {
					t.Errorf("Started = %+v, of %s, before on %s", started, theirs, ours)
				}
				ours = started[0].ThreadID
				if err := e.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if has, err := (rollout.Home{Dir: homeOf(cfg)}).Has(theirs); err != nil || !has {
				t.Errorf("the session of the other program is gone, %v", err)
			}
		})
	}
}

func homeOf(cfg config) string {
	for _, variable := range cfg.Child.Env {
		if home, ok := strings.CutPrefix(variable, "CODEX_HOME="); ok {
			return home
		}
	}
	return ""
}
