package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// git is the program, the repository that it works on, and the user that it runs as.
type git struct {
	program string
	dir     string // of the repository
	user    *asuser.User
	log     *slog.Logger
	env     []string
	kept    map[string]string // files of the repository, by their paths, and what has to stand in them
	queues  queues
}

// A call is one command of git.
type call struct {
	args   []string
	repo   string // what git has for its repository; empty for ours
	work   string // the tree's folder, where it has one
	env    []string
	input  []byte
	file   *os.File // for the input, in place of input
	output io.Writer
	held   *hold // under which it runs
}

// lingering is how long a process that has left its group may keep the pipes of one that was ended.
const lingering = 2 * time.Second

// run runs a command. A lock that is in its way is waited for, and taken away if what has made it is gone.
func (g *git) run(ctx context.Context, c call) error {
	_, err := g.remarks(ctx, c)
	return err
}

// remarks is run for a command whose standard error is read. The end of it is returned.
func (g *git) remarks(ctx context.Context, c call) (string, error) {
	for {
		if err := g.keep(); err != nil {
			return "", err
		}
		said, err := g.once(ctx, c)
		lock := lockIn(saidIn(err))
		if lock == "" || !g.unlock(ctx, c, lock) {
			return said, err
		}
	}
}

// text runs a command and returns what it says, without the line's end.
func (g *git) text(ctx context.Context, c call) (string, error) {
	const most = 1 << 20
	out := &bounded{most: most}
	c.output = out
	err := g.run(ctx, c)
	return strings.TrimRight(out.text.String(), "\n"), err
}

// errEnough ends the reading of a list.
var errEnough = errors.New("enough was read")

// list runs a command that names files, and calls each for them, until that has an error. [errEnough] is none.
func (g *git) list(ctx context.Context, c call, each func(record []byte) error) error {
	out := &records{each: each}
	c.output = out
	err := g.run(ctx, c)
	if errors.Is(out.err, errEnough) {
		return nil
	}
	if out.err != nil {
		return out.err
	}
	return err
}

func (g *git) once(ctx context.Context, c call) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", context.Cause(ctx)
	}
	cmd := exec.CommandContext(ctx, g.program, c.args...)
	cmd.Dir = g.dir
	cmd.Env = append(append([]string{}, g.env...), c.env...)
	if c.repo == "" {
		c.repo = g.dir
	}
	cmd.Env = append(cmd.Env, "GIT_DIR="+c.repo)
	if strings.HasPrefix(c.repo, filepath.Join(g.dir, worktreesDir)+"/") {
		cmd.Env = append(cmd.Env, "GIT_COMMON_DIR="+g.dir) // in place of what a file there names
	}
	if c.work != "" {
		cmd.Env = append(cmd.Env, "GIT_WORK_TREE="+c.work)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a group to be ended, and no terminal to ask at
	cmd.Cancel = func() error {
		return g.user.Do(func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	}
	cmd.WaitDelay = lingering
	var said tail
	cmd.Stderr, cmd.Stdout = &said, c.output
	switch {
	case c.file != nil:
		if _, err := c.file.Seek(0, io.SeekStart); err != nil {
			return "", err
		}
		cmd.Stdin = c.file
	case c.input != nil:
		cmd.Stdin = bytes.NewReader(c.input)
	}
	if c.held != nil {
		cmd.ExtraFiles = []*os.File{c.held.file}
	}
	if err := g.user.Start(cmd); err != nil {
		return "", fmt.Errorf("start git as %v: %w", g.user, err)
	}
	err := cmd.Wait()
	return string(said.text), ended(ctx, c.args[0], err, string(said.text))
}

// ended says what a command has come to.
func ended(ctx context.Context, command string, err error, said string) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("git %s: %w", command, context.Cause(ctx))
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return failure(command, exit.ExitCode(), said)
	}
	return fmt.Errorf("git %s: %w", command, err) // of what was read of it, or written to it
}

const (
	// lockAge is how old a lock is at least that is taken away.
	lockAge = 2 * time.Second
	// lockWait is how long one is waited for.
	lockWait = 20 * time.Second
)

// unlock waits until a lock of git's is gone, and removes it if it is old, no process has it open, and no git of ours
// can have made it that still runs: for those of a branch that is so while its hold is ours, and for
// those of the repository if that hold is free. It reports whether the command can be tried again.
func (g *git) unlock(ctx context.Context, c call, lock string) bool {
	lock = filepath.Clean(lock)
	if !strings.HasPrefix(lock, g.dir+"/") || filepath.Ext(lock) != ".lock" {
		return false
	}
	for end := time.Now().Add(lockWait); time.Now().Before(end); {
		info, err := asuser.Value(g.user, func() (os.FileInfo, error) { return os.Lstat(lock) })
		if errors.Is(err, os.ErrNotExist) {
			return true
		}
		if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > lockAge && g.removeLock(c, lock) {
			return true
		}
		if !sleep.For(ctx, lookAgain) {
			return false
		}
	}
	return false
}

func (g *git) removeLock(c call, lock string) bool {
	if !c.covers(lock, g.dir) {
		shared, err := tryFile(g.user, g.holdFile(""))
		if err != nil {
			return false
		}
		defer shared.Close()
	}
	err := g.user.Do(func() error {
		if isOpen(lock) {
			return syscall.EBUSY
		}
		return os.Remove(lock)
	})
	if err != nil {
		return false
	}
	g.log.Warn("a lock that a git has left was removed", "path", lock)
	return true
}

// covers reports whether the hold that a command runs under is that of a lock.
func (c *call) covers(lock, dir string) bool {
	if c.held == nil {
		return false
	}
	if c.held.name == "" {
		return true
	}
	for _, below := range []string{adminDir(dir, c.held.name), filepath.Join(dir, replaced, c.held.name)} {
		if strings.HasPrefix(lock, below+"/") {
			return true
		}
	}
	return lock == filepath.Join(dir, heads, c.held.name)+".lock"
}

// hold waits until a branch and its tree are ours to be changed.
func (g *git) hold(ctx context.Context, branch string) (*hold, error) {
	return g.queues.acquire(ctx, g.user, g.holdFile(branch), branch)
}

func (g *git) holdFile(branch string) string {
	if branch == "" {
		return filepath.Join(g.dir, locksDir, "repository")
	}
	return filepath.Join(g.dir, locksDir, idOf(branch))
}
