package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fence"
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
		if hole := sandboxHole(s); hole != "" {
			return preflight.Result{Status: preflight.Warn, Detail: hole, Fix: sandboxHoleFix}
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
	return preflight.Result{Status: preflight.OK, Detail: userNote(s.User)}
}

const openFix = "have no other process of this user know the runtime's secrets (exec from the script, secrets in a file), or set CODEX_USER"

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
		return preflight.Result{Status: preflight.OK, Detail: userNote(nil)}
	}
	switch {
	case fenced.Err != nil:
		found += fmt.Sprintf(" (codex cannot be kept from it: %v)", fenced.Err)
	case s.Sandbox != "danger-full-access":
		found += " (which it had not when codex's start was decided: start the runtime anew)"
	}
	return preflight.Result{
		Status: preflight.Warn, Detail: fmt.Sprintf("%v, who is the runtime's: commands can read that %s in its environment", s.User, found),
		Fix: openFix,
	}
}

// kernelSetting is a program that the kernel runs as root, outside of every sandbox.
const kernelSetting = "/proc/sys/kernel/core_pattern"

const sandboxHoleFix = "set CODEX_USER to another user, or run the runtime as one"

// sandboxHole says what codex's sandbox does not keep from commands; empty if nothing is known.
// The kernel lets root write its settings by uid, without capabilities, and codex mounts a
// /proc of its own in the sandbox. Where this process could not open one for writing, as below a
// /proc/sys that is read-only, commands could not either (both seen on 0.169.0).
func sandboxHole(s settings.Settings) string {
	if s.Sandbox == "danger-full-access" || s.User != nil || os.Geteuid() != 0 {
		return ""
	}
	f, err := os.OpenFile(kernelSetting, os.O_WRONLY, 0)
	if err != nil {
		return ""
	}
	_ = f.Close()
	return fmt.Sprintf("%v, who is the runtime's: as root commands can write the kernel's settings (%s) from codex's sandbox, and so run programs outside of it", s.User, kernelSetting)
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

// userNote says who codex's commands run as, for the log.
func userNote(user *asuser.User) string {
	if user == nil {
		return fmt.Sprintf("%v, who is the runtime's: without a sandbox commands can read its state and tokens", user)
	}
	return fmt.Sprintf("%v, who cannot read the runtime's state and tokens", user)
}

// inKeyring reports whether codex's login is out of our reach.
func inKeyring(s settings.Settings) bool {
	kept, _ := asuser.Value(s.User, func() (bool, error) { return preflight.InKeyring(s.CodexHome), nil }) // the check codex user says why not
	return kept
}
