package executor

import (
	"cmp"
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// prepare says how codex is started the next time.
func (e *Executor) prepare(ctx context.Context) (Launch, error) {
	launch := Launch{Env: e.cfg.Child.Env}
	if e.cfg.Prepare != nil {
		var err error
		if launch, err = e.cfg.Prepare(ctx); err != nil {
			return launch, err
		}
		e.keyName.Store(&launch.KeyVariable)
	}
	launch.whose = e.whose(homeIn(launch.Env))
	return launch, nil
}

// threadOn is what threads are started with in a child.
func (e *Executor) threadOn(on *child) appserver.ThreadStartParams {
	params := e.cfg.Thread
	params.Model = cmp.Or(on.launch.Model, params.Model)
	params.ModelProvider = cmp.Or(on.launch.ModelProvider, params.ModelProvider)
	if on.launch.Thread != nil {
		params.Config = on.launch.Thread()
	}
	return params
}

// keyVariable names the variable that the model's key comes from.
func (e *Executor) keyVariable() string {
	if name := e.keyName.Load(); name != nil {
		return *name
	}
	return e.cfg.KeyVariable
}

// RestartWhenIdle has codex started anew as soon as no turn runs, because of reason:
// it takes a changed login only then. Commands that a turn has left running end with
// it. A turn that begins meanwhile is not lost: it is begun again.
func (e *Executor) RestartWhenIdle(reason string) {
	e.restart.Store(&reason)
	e.slots.settle()
}

// restartAsWanted restarts codex if that has been asked for. It is called while no turn is
// begun, and none begins meanwhile.
func (e *Executor) restartAsWanted() {
	reason := e.restart.Swap(nil)
	if reason == nil {
		return
	}
	if on, _ := e.child.health(); on != nil {
		e.log.Info("codex is restarted", "reason", *reason)
		on.restart(*reason)
	}
}
