package codex_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

// codexTrial is what the real codex is tried with, over a model that goes by keywords.
func codexTrial(t *testing.T) (codex.Process, codex.TurnTrial) {
	t.Helper()
	cfg, trial := codexConfig(t, modeltest.Start(t, fakemodel.BuiltIn)), fakeTrial()
	trial.Thread = cfg.Thread
	trial.Thread.Cwd, trial.Thread.ModelProvider = cfg.Child.Dir, "fake"
	trial.Hold = "call " + trialCall
	trial.Work = trial.Hold + "\nrun echo printed\nstream 8 8"
	trial.Steer, trial.Printed = "say heard\nhang", "printed"
	return cfg.Child, trial
}

// TestTurnTrialOnCodex has the real codex take each step.
func TestTurnTrialOnCodex(t *testing.T) {
	t.Parallel()
	p, trial := codexTrial(t)
	version, err := codex.TryTurn(t.Context(), p, trial)
	if err != nil || version == "" {
		t.Errorf("codex %q: %v", version, err)
	}
}

// TestTurnTrialTellsOfCodex: what goes wrong is told in codex's own words, or the model's.
func TestTurnTrialTellsOfCodex(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change      func(*codex.TurnTrial)
		step, words string
	}{
		"the model refuses":    {func(trial *codex.TurnTrial) { trial.Work = "fail 400" }, "item/tool/call", "scripted failure 400"},
		"a tool that is not":   {func(trial *codex.TurnTrial) { trial.Tool.Name = "another" }, "item/tool/call", "unsupported call: try"},
		"a command that fails": {func(trial *codex.TurnTrial) { trial.Work = trial.Hold + "\nrun echo printed; exit 7" }, "commandExecution", "with exit code 7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, trial := codexTrial(t)
			c.change(&trial)
			_, err := codex.TryTurn(t.Context(), p, trial)
			missed, ok := errors.AsType[*codex.StepError](err)
			if !ok || !strings.Contains(missed.Step, c.step) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%v, want the step %q, with %q", err, c.step, c.words)
			}
		})
	}
}
