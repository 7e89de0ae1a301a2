package codexlog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// ErrNotRun says that the user whose the home is may not run the program.
var ErrNotRun = errors.New("its process cannot be started")

var errStays = errors.New("the process that cuts it short does not end, though it was killed")

const (
	dying     = 2 * time.Second // what a killed process gets to be gone; one that waits for a disk is not
	mostSaid  = 1 << 10         // bytes of what it says
	closeTime = time.Second     // for what holds its pipes when it has ended
)

// start has a process do the work. It returns when that is gone, or soon after it was killed.
func (t *Trimmer) start(ctx context.Context, path string, threads []byte) (deleted int64, err error) {
	if !t.running.TryLock() {
		return 0, errStays
	}
	out, said := &head{}, &head{}
	cmd := t.command(ctx, path, threads)
	cmd.Stdout, cmd.Stderr = out, said
	ended := make(chan error, 1)
	go func() {
		defer t.running.Unlock()
		ended <- t.run(cmd)
	}()
	select {
	case err = <-ended:
	case <-ctx.Done():
		select {
		case err = <-ended:
		case <-time.After(dying):
			return 0, errStays
		}
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return 0, fmt.Errorf("the process that cuts it short was killed: %w", context.Cause(ctx))
	case errors.Is(err, syscall.EACCES):
		return 0, fmt.Errorf("%w: %w", ErrNotRun, err)
	case err != nil:
		return 0, errors.New(cmp.Or(said.line(), err.Error()))
	}
	return strconv.ParseInt(out.line(), 10, 64)
}

// command is the process: with nothing of ours but the list of threads.
func (t *Trimmer) command(ctx context.Context, path string, threads []byte) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.Program)
	cmd.Args = slices.Concat([]string{"runtime"}, t.Args, []string{path, strconv.FormatInt(t.Rows, 10)})
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.Stdin = bytes.NewReader(threads)
	cmd.SysProcAttr = asuser.SessionOfItsOwn(false)
	cmd.Cancel = func() error { return t.User.Do(cmd.Process.Kill) }
	cmd.WaitDelay = closeTime
	return cmd
}

// run starts the process on a thread that stays until it has ended.
func (t *Trimmer) run(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	if t.User == nil { // else the thread is good for nothing else any more
		defer runtime.UnlockOSThread()
	}
	if err := t.User.StartHere(cmd); err != nil {
		return err
	}
	return cmd.Wait()
}

// A head keeps the beginning of what is written to it: the process is its user's, who can
// have it say anything.
type head struct{ text []byte }

func (h *head) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), mostSaid-len(h.text))]...)
	return len(p), nil
}

func (h *head) line() string {
	line, _, _ := strings.Cut(string(h.text), "\n")
	return strings.TrimSpace(line)
}
