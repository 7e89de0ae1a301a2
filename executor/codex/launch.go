package codex

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/sandbox"
)

// newLaunch says how codex is started the next time, and which credential is there for it.
func (d *Driver) newLaunch(ctx context.Context) (launch Launch, credential string, err error) {
	launch = Launch{Env: d.cfg.Child.Env}
	if d.cfg.Prepare != nil {
		if launch, err = d.cfg.Prepare(ctx); err != nil {
			return launch, "", err
		}
		d.credential.Key(launch.KeyVariable)
	}
	return launch, d.credential.At(launch.Env), nil
}

// placesOf are what a codex that was started so goes by, and commands write.
func placesOf(l child.Launch) sandbox.Places {
	return sandbox.Places{Loaded: l.Loaded, Written: l.Written, Temp: l.Temp, Env: l.Env}
}

// RestartWhenIdle has codex started anew as soon as no turn runs, because of reason:
// it takes a changed login only then. Commands that a turn has left running end with
// it. A turn that begins meanwhile is not lost: it is begun again.
func (d *Driver) RestartWhenIdle(reason string) {
	d.restart.Store(&reason)
	d.host.Settle()
}

// Idle implements [executor.Driver]: it restarts codex if that has been asked for.
func (d *Driver) Idle() {
	reason := d.restart.Swap(nil)
	if reason == nil {
		return
	}
	if on, _ := d.child.Health(); on != nil {
		d.log.Info("codex is restarted", "reason", *reason)
		on.Restart(*reason)
	}
}
