package doctor

import (
	"context"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// accountLimit is what codex gets to start and to say who it is logged in as.
const accountLimit = 15 * time.Second

// accountCheck asks a codex of its own who it is logged in as, and changes nothing.
func accountCheck(c Case, at scratch) preflight.Check {
	return preflight.Check{Name: "account", Run: func(ctx context.Context) preflight.Result {
		s := c.Settings
		if s.Scripted() {
			return preflight.Result{Status: preflight.OK, Detail: "none needed"}
		}
		ctx, cancel := context.WithTimeout(ctx, accountLimit)
		defer cancel()
		start, _, _, err := adapter.Look(launch.Setup(s, c.Environ, ""))
		if err != nil {
			return preflight.Result{Status: preflight.Warn, Detail: "codex is not asked", Fix: "see the check configuration"}
		}
		if inKeyring(s) {
			return preflight.Result{
				Status: preflight.Warn, Detail: "codex is not asked: its login is in the keyring, where only a codex that works in " + s.CodexHome + " finds it",
				Fix: "codex login status says whether there is one",
			}
		}
		var account executor.Account
		var email string
		err = at.alone(func() (err error) {
			account, email, err = codex.ReadAccount(ctx, process(c, start, at))
			return err
		})
		return accountResult(account, email, err)
	}}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
