package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// terminalEnv names the terminal that a copy of this binary takes, in [takeTerminal].
const terminalEnv = "E2E_TERMINAL"

// takeTerminal has the process lead a session of its own on a terminal, as a shell does
// that a person logs in to.
func takeTerminal(path string) {
	if _, err := unix.Setsid(); err != nil {
		panic(err)
	}
	tty, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		err = unix.IoctlSetInt(tty, unix.TIOCSCTTY, 0)
	}
	if err != nil {
		panic(path + ": " + err.Error())
	}
}

// newTerminal makes a pseudoterminal, which lives as long as the test.
func newTerminal(t *testing.T) (path string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("/dev/pts/%d", number)
}

// TestNoTerminal: of a program that is started at a terminal, neither codex, looked at or
// run, nor what it starts has that terminal, which could be told what to type into the
// shell there.
func TestNoTerminal(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, start := range map[string]func(*testing.T, ...string) *program{
		"one user": func(t *testing.T, extra ...string) *program {
			return startAs(t, self, append(extra, fencedEnv+"="+binary, "CODEX_SANDBOX=danger-full-access")...)
		},
		"two users": startAsTwo,
	} {
		t.Run(name, func(t *testing.T) {
			codex, starts := watchedCodex(t)
			p := start(t, terminalEnv+"="+newTerminal(t), "CODEX_BIN="+codex)
			if terminalOf(t, p.Pid()) == "0" {
				t.Fatal("the program itself is at no terminal")
			}
			said := text(p.send("m1", "one", "run "+watch(starts, "command")+"; (: < /dev/tty) || echo none to open"))
			if !strings.Contains(said, "none to open") {
				t.Errorf("a command opens the terminal: %s", said)
			}
			if tty := terminalOf(t, p.Child()); tty != "0" {
				t.Errorf("codex has the terminal %s", tty)
			}
			server := fmt.Sprintf("[mcp_servers.watched]\ncommand = \"/bin/sh\"\nargs = [\"-c\", %q]\n", watch(starts, "server"))
			if err := os.WriteFile(filepath.Join(p.Home, "config.toml"), []byte(server), 0o644); err != nil {
				t.Fatal(err)
			}
			killChild(t, p)
			p.send("m2", "one", "say again")
			progtest.WaitFor(t, "codex to start the server", func() bool { return strings.Contains(contents(t, starts), " server\n") })
			started := contents(t, starts)
			for line := range strings.Lines(started) {
				if !strings.HasPrefix(line, "0 ") {
					t.Errorf("started with a terminal: %s", line)
				}
			}
			for _, what := range []string{"--version", "app-server", "command"} {
				if !strings.Contains(started, "0 "+what+"\n") {
					t.Errorf("of %s it is not known: %q", what, started)
				}
			}
		})
	}
}

// watch is the line of a shell that writes down at which terminal that shell is, 0 for none.
func watch(starts, as string) string {
	return fmt.Sprintf(`echo "$(cut -d' ' -f7 /proc/$$/stat) %s" >> %s`, as, starts)
}

// watchedCodex is codex, but it writes down at which terminal it is started, and with what.
func watchedCodex(t *testing.T) (bin, starts string) {
	t.Helper()
	dir := codextest.Dir(t, "bin")
	bin, starts = filepath.Join(dir, "codex"), filepath.Join(dir, "starts")
	script := fmt.Sprintf("#!/bin/sh\n%s\nexec %s \"$@\"\n", watch(starts, "$1"), codextest.Bin(t))
	for path, what := range map[string]string{bin: script, starts: ""} {
		if err := os.WriteFile(path, []byte(what), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, mode := range map[string]os.FileMode{dir: 0o755, bin: 0o755, starts: 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	return bin, starts
}

// terminalOf is the number of the process's controlling terminal, 0 for none.
func terminalOf(t *testing.T, pid int) string {
	t.Helper()
	stat := contents(t, fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(stat, ") ") // state, ppid, pgrp, session, tty_nr
	return strings.Fields(rest)[4]
}
