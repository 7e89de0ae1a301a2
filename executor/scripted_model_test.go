package executor_test

import (
	"context"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// refuses has the model of all, which probes ask, and each other one refuse from now on; nil for nothing.
func (a *scripted) refuses(r *executor.Refusal) {
	a.setModel(func(string) *executor.Refusal { return r })
}

// refusesRare has a model refuse that jobs name.
func (a *scripted) refusesRare(r *executor.Refusal) {
	a.setModel(func(asked string) *executor.Refusal {
		if asked == "" {
			return nil
		}
		return r
	})
}

func (a *scripted) setModel(model func(asked string) *executor.Refusal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.model = model
}

// refusal is why a model refuses that a job names, or the one of all.
func (a *scripted) refusal(asked string) *executor.Refusal {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.model == nil {
		return nil
	}
	return a.model(asked)
}

// probed counts the probes of the model.
func (a *scripted) probed() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.probes
}

func (a *scripted) Probe(ctx context.Context) (*executor.Refusal, error) {
	a.mu.Lock()
	a.probes++
	a.mu.Unlock()
	if a.probe != nil {
		a.probe()
	}
	return a.refusal(""), context.Cause(ctx)
}

// AwaitLogin looks each second.
func (a *scripted) AwaitLogin(r *executor.Refusal, wake <-chan struct{}, show func(*executor.Pause)) (*executor.Refusal, bool) {
	show(&executor.Pause{Paused: agent.Paused{Kind: agent.FailAuth, Text: r.Why}})
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		select {
		case <-wake:
		case <-look.C:
		case <-a.root.Done():
			return nil, false
		}
		if now := a.refusal(""); now == nil || now.Kind != agent.FailAuth {
			return now, true
		}
	}
}

func (a *scripted) Watch() func() bool { return func() bool { return false } }
