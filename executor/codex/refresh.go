package codex

import (
	"math/rand/v2"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// refresh has codex renew its login from time to time, so that it does not expire
// between two messages. It runs until the executor is closed.
func (d *Driver) refresh() {
	for sleep.For(d.root, jittered(d.cfg.RefreshEvery)) {
		d.refreshOnce()
	}
}

// jittered is about d: many runtimes that were started together must not come
// together.
func jittered(d time.Duration) time.Duration {
	return time.Duration((0.8 + 0.4*rand.Float64()) * float64(d)) //nolint:gosec // nobody guesses it to any end
}

// refreshOnce renews a ChatGPT login, if that is what codex uses. A login that
// cannot be renewed any more is known before a message has to find out.
func (d *Driver) refreshOnce() {
	on, _ := d.child.Health()
	if on == nil || d.host.IsPaused() {
		return
	}
	status, err := d.readAccount(d.root, on, false)
	if err != nil || status.Account == nil || status.Account.Type != "chatgpt" {
		return
	}
	status, err = d.readAccount(d.root, on, true)
	switch {
	case d.root.Err() != nil:
	case err != nil:
		d.log.Warn("the login could not be renewed; codex tries again when it needs to", "err", err)
	case loggedOut(status):
		d.host.Refused(&executor.Refusal{Kind: agent.FailAuth, Code: "unauthorized", Why: "the login has expired and could not be renewed"})
	default:
		d.log.Debug("the login was renewed")
	}
}
