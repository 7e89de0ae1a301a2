package preflight

import (
	"cmp"
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// A command is a process that a check starts and waits for. It is not started where we were, which
// may be a folder that codex's commands write: the launchers of version managers run the programs
// that a file of that folder names.
type command struct {
	argv  []string
	user  *asuser.User // that it runs as; nil is ours
	env   []string
	dir   string // that it is started in; empty is the root
	limit time.Duration
}

// run returns the standard output, and the last lines of the standard error
// for the reader. On expiry the whole process group is killed: a launcher
// script must not leave its child behind.
func (c command) run(ctx context.Context) (stdout, said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Env, cmd.Dir = c.env, cmp.Or(c.dir, "/")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // also away from our terminal
	cmd.Cancel = func() error {
		return c.user.Do(func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	}
	cmd.WaitDelay = time.Second // for a grandchild that left the group and kept the pipes
	var out, errs tail
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err = c.user.Start(cmd); err == nil {
		err = cmd.Wait()
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = errors.New("no answer within " + c.limit.String())
	}
	return out.String(), lastWords(errs.String()), err
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

// mostKept is more than any answer that a check understands.
const mostKept = 64 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if len(t.text) > 2*mostKept {
		t.text = append(t.text[:0], t.text[len(t.text)-mostKept:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.text) }

// lastWords picks from the standard error the lines that explain, without the
// backtrace that codex prints after them.
func lastWords(stderr string) string {
	stderr, _, _ = strings.Cut(stderr, "\nStack backtrace:")
	var lines []string
	for line := range strings.Lines(stderr) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-3):], " / ")
}
