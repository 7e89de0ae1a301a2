// Package fence keeps codex, and the commands that it runs, from what other processes of their user have
// in memory and in their environment: this process among them.
package fence

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// A Fence is what codex is started through, so that it cannot look into other processes of its
// user: outside of its sandbox it reads files of the working directory by itself (AGENTS.md,
// skills, what a patch changes), and follows links there, which a command can lead to
// another process's environment (seen on 0.169.0). Another user needs none; without a
// sandbox commands may do what their user may, become another one included. What it costs a
// plain user is worth it where another process has secrets of ours.
type Fence struct {
	Argv []string // empty without one
	Err  error    // why it cannot be had

	OwnMounts bool  // codex is started with mounts of its own
	Shared    error // why what is mounted later arrives in codex's sandbox
}

// Make finds out what fence codex needs on this machine, and what it can have. known replaces what is secret.
func Make(ctx context.Context, s settings.Settings, known func(string) string) Fence {
	var f Fence
	if s.Sandbox == "danger-full-access" {
		return f
	}
	if s.User == nil {
		f.Argv, f.Err = asuser.Fence(ctx, func() bool { return InEnviron(slices.Concat(Above(), Everyone()), known) != "" })
	}
	f.OwnMounts, f.Shared = s.User.OwnMounts(ctx, f.Argv)
	return f
}

// SharedFix says how the runtime itself has mounts of its own. A user's own namespace has
// no other user in it.
func SharedFix(s settings.Settings) string {
	if s.User != nil || os.Getuid() == 0 {
		return "start the runtime from root's shell by: unshare --mount --propagation private --"
	}
	return `start the runtime by: unshare --user --map-current-user --mount --propagation private -- (what that costs: docs/security.md, "What is mounted while a command runs")`
}

// mostOfProcess is how much is read of what a process says of itself. It may say gigabytes.
const mostOfProcess = 1 << 20

// InEnviron names the first of processes that has secrets in its environment, and
// those, where a process of our user can read them. It is empty if there is none. Known
// replaces what is secret.
func InEnviron(processes []int, known func(string) string) string {
	return first(processes, func(pid int) string {
		var names []string
		environ, _ := regular.Read(fmt.Sprintf("/proc/%d/environ", pid), mostOfProcess) // of another user it cannot be read
		for kv := range strings.SplitSeq(string(environ), "\x00") {
			if name, _, ok := strings.Cut(kv, "="); ok && known(kv) != kv {
				names = append(names, name)
			}
		}
		return strings.Join(names, ", ")
	})
}

// InCommandLine is the same for command lines, which everybody can read.
func InCommandLine(processes []int, known func(string) string) string {
	return first(processes, func(pid int) string {
		line, _ := regular.Read(fmt.Sprintf("/proc/%d/cmdline", pid), mostOfProcess)
		if known(string(line)) == string(line) {
			return ""
		}
		return "a secret"
	})
}

// first names the first of processes of which something is found, with that. This one and
// what it has started, codex and its commands, are left out.
func first(processes []int, find func(pid int) string) string {
	for _, pid := range processes {
		if found := find(pid); found != "" && !isOurs(pid) {
			command, _ := parentOf(pid)
			return fmt.Sprintf("process %d (%s) has %s", pid, command, found)
		}
	}
	return ""
}

// mostAbove is how many processes above another one are looked at.
const mostAbove = 64

// Above are the processes above this one, the nearest first.
func Above() (pids []int) {
	for pid := os.Getppid(); pid != 0 && len(pids) < mostAbove; _, pid = parentOf(pid) {
		pids = append(pids, pid)
	}
	return pids
}

// Everyone are all processes.
func Everyone() (pids []int) {
	entries, _ := os.ReadDir("/proc") // elsewhere there is none
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func isOurs(pid int) bool {
	for range mostAbove {
		if pid == os.Getpid() {
			return true
		}
		if _, pid = parentOf(pid); pid <= 1 {
			return false
		}
	}
	return false
}

// parentOf returns a process's name, and the process above it; 0 is none.
func parentOf(pid int) (command string, above int) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), "(")
	end := strings.LastIndex(rest, ")")
	if end < 0 {
		return "", 0
	}
	if fields := strings.Fields(rest[end+1:]); len(fields) > 1 {
		above, _ = strconv.Atoi(fields[1])
	}
	return rest[:end], above
}

// OpenFix says how others' processes have no secrets of the runtime, or codex does not look into them.
const OpenFix = "have no other process of this user know the runtime's secrets (exec from the script, secrets in a file), or set CODEX_USER"
