package execs

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/commands"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/tenancy"
)

// A process is an exec-server. One goroutine, locked to its thread, starts it and reaps it: on Linux the child
// is told to die with the thread that started it.
type process struct {
	cmd    *exec.Cmd
	user   *asuser.User
	exec   tenancy.Exec
	exited chan struct{} // closed when it has been reaped, and its group was killed
	ours   []*os.File    // our ends of its pipes
	output sync.WaitGroup

	mu     sync.Mutex // guards reaped, and so that nothing signals a number that is free again
	reaped bool
}

// arguments are those of an exec-server. It is given the digest of its token alone: arguments can be read by all.
// (--exit-on-stdin-close is refused without --remote by codex 0.169.0; the kernel ties it to us in its place.)
func arguments(token string) []string {
	sum := sha256.Sum256([]byte(token))
	return []string{
		"exec-server", "--listen", "ws://127.0.0.1:0", "--concurrent-requests", "64",
		"--ws-auth", "capability-token", "--ws-token-sha256", hex.EncodeToString(sum[:]),
	}
}

// start starts an exec-server for a runtime, and returns when it listens.
func (s *Servers) start(ctx context.Context, of string, log *slog.Logger) (*process, error) {
	home, err := s.makeHome(of)
	if err != nil {
		return nil, err
	}
	temp, err := s.makeFolder(temp(of))
	if err != nil {
		return nil, err
	}
	token := rand.Text()
	p := &process{user: s.cfg.User, exited: make(chan struct{})}
	p.cmd = exec.Command(s.cfg.Bin, arguments(token)...) //nolint:noctx // it outlives the context of its start
	p.cmd.Env = append(slices.Clone(s.cfg.Env), "CODEX_HOME="+home, "TMPDIR="+temp, commands.MarkVariable+"="+s.Mark(of))
	p.cmd.Dir = home // not where commands write
	p.cmd.SysProcAttr = asuser.SessionOfItsOwn(false)
	said, err := p.begin(log)
	if err != nil {
		return nil, err
	}
	url := make(chan string, 1)
	p.output.Go(func() { firstLine(said, url) })
	addr, err := p.await(ctx, url)
	if err != nil {
		p.end()
		return nil, err
	}
	p.exec = tenancy.Exec{Addr: addr, Token: token}
	return p, nil
}

// begin starts the program, and returns its standard output. Its standard error goes to the log.
func (p *process) begin(log *slog.Logger) (said io.Reader, err error) {
	stdout, ourOut, err := pipe(&p.cmd.Stdout)
	if err != nil {
		return nil, err
	}
	stderr, ourErr, err := pipe(&p.cmd.Stderr)
	if err != nil {
		return nil, errors.Join(err, stdout.Close(), ourOut.Close())
	}
	started := make(chan error, 1)
	go p.run(started)
	err = <-started
	_, _ = stdout.Close(), stderr.Close()
	if err != nil {
		return nil, errors.Join(err, ourOut.Close(), ourErr.Close())
	}
	p.ours = []*os.File{ourOut, ourErr}
	p.output.Go(func() { logLines(ourErr, log) })
	return ourOut, nil
}

// pipe makes a pipe whose one end is the child's.
func pipe(to *io.Writer) (theirs, ours *os.File, err error) {
	ours, theirs, err = os.Pipe()
	if err == nil {
		*to = theirs
	}
	return theirs, ours, err
}

// run is the child's goroutine: it ends when that has been reaped.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	if p.user == nil { // else the thread is good for nothing else any more
		defer runtime.UnlockOSThread()
	}
	err := p.user.StartHere(p.cmd)
	started <- err
	if err != nil {
		return
	}
	p.awaitDeath()
	p.mu.Lock()
	p.killLocked()
	p.reaped = true
	p.mu.Unlock()
	_ = p.cmd.Wait() // how it has ended is in ProcessState
	close(p.exited)
}

// end kills it and its group, and waits for that.
func (p *process) end() {
	p.mu.Lock()
	p.killLocked()
	p.mu.Unlock()
	<-p.exited
	for _, f := range p.ours { // others may hold the other ends
		_ = f.Close()
	}
	p.output.Wait()
}

func (p *process) killLocked() {
	if p.reaped {
		return
	}
	// The group can be gone already, which is as good.
	_ = p.user.Do(func() error { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) })
}

// await waits for the first line of an exec-server, which is its URL.
func (p *process) await(ctx context.Context, url <-chan string) (addr string, err error) {
	select {
	case line := <-url:
		addr, ok := strings.CutPrefix(line, "ws://")
		if at, err := netip.ParseAddrPort(addr); !ok || err != nil || !at.Addr().IsLoopback() {
			return "", fmt.Errorf("codex exec-server says %.80q in place of its address", line)
		}
		return addr, nil
	case <-p.exited:
		return "", fmt.Errorf("codex exec-server has ended at once: %s; the log has what it said", p.cmd.ProcessState)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// mostLine is how much of a line of an exec-server is kept.
const mostLine = 4 << 10

// firstLine hands the first line on, and reads what comes behind it to nothing. A process that the
// exec-server has started may hold the pipe for long.
func firstLine(from io.Reader, to chan<- string) {
	lines := bufio.NewReaderSize(from, mostLine)
	line, _, err := lines.ReadLine()
	if err == nil {
		to <- string(line)
	}
	_, _ = io.Copy(io.Discard, lines)
}

// logLines writes what an exec-server says on its standard error into the log.
func logLines(from io.Reader, log *slog.Logger) {
	lines := bufio.NewReaderSize(from, mostLine)
	for {
		line, more, err := lines.ReadLine()
		if err != nil {
			return
		}
		for more && err == nil {
			_, more, err = lines.ReadLine()
		}
		if text := strings.TrimSpace(string(line)); text != "" {
			log.Info("codex exec-server says something", "text", text)
		}
	}
}
