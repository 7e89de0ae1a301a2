package codex_test

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// TestProviderChanges: a conversation goes on when codex is started with another model
// provider, and asks that one; where its thread has tools, in a new thread.
func TestProviderChanges(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for name, test := range map[string]struct {
		stays bool   // the provider before is configured still
		named string // as the provider to ask
		tools []string
		want  string
	}{
		"to the one that is named":                {true, "other", nil, "recalled: teal-7"},
		"from one that is gone":                   {false, "other", nil, "recalled: teal-7"},
		"from one that is gone, to none by name":  {false, "", nil, "recalled: teal-7"},
		"with tools, to the one that is named":    {true, "other", []string{"list_peers"}, "nothing to recall"},
		"with tools, from one that is gone":       {false, "other", []string{"list_peers"}, "nothing to recall"},
		"to the same":                             {true, "fake", nil, "recalled: teal-7"},
		"with tools, to the same, which is named": {true, "fake", []string{"list_peers"}, "recalled: teal-7"},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := modeltest.Start(t, fakemodel.Keywords), modeltest.Start(t, fakemodel.Keywords)
			cfg := codexConfig(t, before)
			offers(&bench{answer: echo}, test.tools...)(&cfg)
			cfg.Journal = &notebook{}
			e := running(t, cfg)
			first := submit(t, e, "j1", "one", "remember teal-7")
			first.wait(t)
			if err := e.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if test.named != "fake" {
				cfg.Child.Args = otherProvider(cfg.Child.Args, before.BaseURL(), after.BaseURL(), test.stays)
			}
			cfg.Thread.ModelProvider = test.named
			second := submit(t, running(t, cfg), "j2", "one", "recall")
			if got := said(second.wait(t)); !strings.Contains(got, test.want) {
				t.Errorf("it says %q, want %q", got, test.want)
			}
			if asked := len(after.Requests()) > 0; asked != (test.named != "fake") {
				t.Errorf("the new provider was asked: %t", asked)
			}
			started := seen[agent.Started](second)
			if len(started) != 1 || started[0].Replaced != strings.HasPrefix(test.want, "nothing") {
				t.Errorf("Started = %+v", started)
			}
		})
	}
}

// otherProvider makes the provider "other", at another address, the one that codex asks.
func otherProvider(args []string, before, after string, stays bool) (changed []string) {
	rename := strings.NewReplacer("model_providers.fake", "model_providers.other", `model_provider="fake"`, `model_provider="other"`, before, after)
	for _, arg := range args {
		if stays && strings.HasPrefix(arg, "model_providers.fake") {
			changed = append(changed, arg, "-c")
		}
		changed = append(changed, rename.Replace(arg))
	}
	return changed
}
