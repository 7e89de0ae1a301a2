package doctor

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fence"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// as has a check look at the files as another user.
func as(user *asuser.User, c preflight.Check) preflight.Check {
	run := c.Run
	c.Run = func(ctx context.Context) (result preflight.Result) {
		err := user.Do(func() error {
			result = run(ctx)
			return nil
		})
		if err != nil {
			return preflight.Result{Status: preflight.Fail, Detail: err.Error(), Fix: "see the check codex user"}
		}
		return result
	}
	return c
}

// userCheck says who codex's commands run as, and whether that keeps from them what is
// the runtime's alone.
func userCheck(s settings.Settings, environ []string, fenced fence.Fence) preflight.Check {
	return preflight.Check{Name: "codex user", Run: func(context.Context) preflight.Result {
		if hole := fence.SandboxHole(s); hole != "" {
			return preflight.Result{Status: preflight.Warn, Detail: hole, Fix: fence.SandboxHoleFix}
		}
		if s.User == nil {
			return ownUser(s, secrets.Of(s, environ).Known, fenced)
		}
		return anotherUser(s)
	}}
}

// anotherUser says what codex's commands get at where they run as a user of their own.
func anotherUser(s settings.Settings) preflight.Result {
	kept := append(secrets.TokenFiles(s), s.StateDir)
	open, err := asuser.Value(s.User, func() (string, error) { return secrets.Readable(kept), nil })
	if err != nil {
		return preflight.Result{Status: preflight.Fail, Detail: err.Error(), Fix: "start the runtime as root or with CAP_SETUID and CAP_SETGID, or unset CODEX_USER"}
	}
	if open != "" {
		return preflight.Result{Status: preflight.Warn, Detail: fmt.Sprintf("%v can read %s", s.User, open), Fix: "make it readable for the runtime's user alone"}
	}
	if theirs := changeable(s.User, append(kept, s.ConfigFile, s.SecretsDir, filepath.Join(s.StateDir, "state.db"))); theirs != "" {
		return preflight.Result{
			Status: preflight.Warn, Detail: fmt.Sprintf("%v can change %s, or what it leads to", s.User, theirs),
			Fix: "give it, and each folder and link on the way to it, to the runtime's user, and let no others write there",
		}
	}
	return preflight.Result{Status: preflight.OK, Detail: launch.UserNote(s.User)}
}

// ownUser says what codex's commands find where they run as our user.
func ownUser(s settings.Settings, known func(string) string, fenced fence.Fence) preflight.Result {
	found := ""
	if len(fenced.Argv) == 0 {
		processes := fence.Above()
		if s.Sandbox != "danger-full-access" { // without a sandbox commands find more than that
			processes = append(processes, fence.Everyone()...)
		}
		found = fence.InEnviron(processes, known)
	}
	if told := fence.InCommandLine(fence.Above(), known); told != "" {
		return preflight.Result{
			Status: preflight.Warn, Detail: fmt.Sprintf("everybody on this machine, and codex, can read that %s in its command line", told),
			Fix: "give it in the environment, or in a file",
		}
	}
	if found == "" {
		return preflight.Result{Status: preflight.OK, Detail: launch.UserNote(nil)}
	}
	switch {
	case fenced.Err != nil:
		found += fmt.Sprintf(" (codex cannot be kept from it: %v)", fenced.Err)
	case s.Sandbox != "danger-full-access":
		found += " (which it had not when codex's start was decided: start the runtime anew)"
	}
	return preflight.Result{
		Status: preflight.Warn, Detail: fmt.Sprintf("%v, who is the runtime's: commands can read that %s in its environment", s.User, found),
		Fix: fence.OpenFix,
	}
}

// changeable returns the first file or folder that a user can change; "" if there is none.
func changeable(user *asuser.User, paths []string) string {
	for _, path := range paths {
		if path != "" && user.Changes(path) {
			return path
		}
	}
	return ""
}

// inKeyring reports whether codex's login is out of our reach.
func inKeyring(s settings.Settings) bool {
	kept, _ := asuser.Value(s.User, func() (bool, error) { return preflight.InKeyring(s.CodexHome), nil }) // the check codex user says why not
	return kept
}
