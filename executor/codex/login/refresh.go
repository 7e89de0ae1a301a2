package login

import (
	"math/rand/v2"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// Refresh has codex renew its login from time to time, so that it does not expire
// between two messages. It runs until we are closing, and returns at once where nothing is to be renewed.
func (c *Credential) Refresh() {
	if c.cfg.RefreshEvery <= 0 {
		return
	}
	for sleep.For(c.root, jittered(c.cfg.RefreshEvery)) {
		c.refreshOnce()
	}
}

// jittered is about d: many runtimes that were started together must not come
// together.
func jittered(d time.Duration) time.Duration {
	return time.Duration((0.8 + 0.4*rand.Float64()) * float64(d)) //nolint:gosec // a guess at it is of no use
}

// refreshOnce renews a ChatGPT login, if that is what codex uses. A login that
// cannot be renewed any more is known before a message has to find out.
func (c *Credential) refreshOnce() {
	on, _ := c.cfg.Child.Health()
	if on == nil || c.host.IsPaused() {
		return
	}
	status, err := c.readAccount(c.root, on, false)
	if err != nil || status.Account == nil || status.Account.Type != "chatgpt" {
		return
	}
	status, err = c.readAccount(c.root, on, true)
	switch {
	case c.root.Err() != nil:
	case err != nil:
		c.log.Warn("the login could not be renewed; codex tries again when it needs to", "err", err)
	case loggedOut(status):
		c.host.Refused(&executor.Refusal{Kind: agent.FailAuth, Code: "unauthorized", Why: "the login has expired and could not be renewed"})
	default:
		c.log.Debug("the login was renewed")
	}
}
