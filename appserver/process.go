package appserver

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// A process is the running child with our ends of its pipes. One goroutine,
// locked to its thread, starts the child and reaps it: on Linux the child is
// told to die with the thread that started it.
type process struct {
	cmd    *exec.Cmd
	user   *asuser.User // whose it is; nil for ours
	stdin  *os.File
	stdout *output
	stderr *output

	exited chan struct{}    // closed when the child has ended and its group was killed
	state  *os.ProcessState // how it ended; nil if it could not be reaped; read only after exited

	mu     sync.Mutex // guards reaped, and so that nothing signals a number that is free again
	reaped bool
}

// startProcess starts cfg.Bin in a session of its own, and so in a process group of its
// own: with the terminal that we may have been started at, what it starts could type into
// the shell there, which may be root's.
func startProcess(cfg Config) (*process, error) {
	p := &process{user: cfg.User, exited: make(chan struct{})}
	bin := cfg.Bin
	if len(cfg.Through) > 0 { // it would look by the child's PATH, and say that there is none in its own words
		path, err := exec.LookPath(bin)
		if err != nil {
			return nil, err
		}
		bin = path
	}
	argv := slices.Concat(cfg.Through, []string{bin, "app-server"}, cfg.Args)
	p.cmd = exec.Command(argv[0], argv[1:]...) //nolint:noctx // the child outlives the context of its start; the client ends it
	p.cmd.Env, p.cmd.Dir = cfg.Env, cfg.Dir
	p.cmd.SysProcAttr = asuser.SessionOfItsOwn(cfg.OwnMounts)
	theirs, err := p.pipes()
	if err != nil {
		return nil, errors.Join(err, p.closePipes())
	}
	started := make(chan error, 1)
	go p.run(started)
	err = <-started
	for _, f := range theirs {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		p.kill(syscall.SIGKILL)
		return nil, errors.Join(err, p.closePipes())
	}
	return p, nil
}

// pipes makes the three pipes and returns the child's ends. Ours are
// non-blocking, so that deadlines work on them.
func (p *process) pipes() (theirs []*os.File, err error) {
	stdin, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.stdin = ours
	var stdout, stderr *os.File
	if p.stdout, stdout, err = outputPipe(); err != nil {
		return nil, errors.Join(err, stdin.Close())
	}
	if p.stderr, stderr, err = outputPipe(); err != nil {
		return nil, errors.Join(err, stdin.Close(), stdout.Close())
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, stdout, stderr
	return []*os.File{stdin, stdout, stderr}, nil
}

// outputPipe makes a pipe and returns our end of it and the child's.
func outputPipe() (*output, *os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	o, err := newOutput(r)
	if err != nil {
		return nil, nil, errors.Join(err, r.Close(), w.Close())
	}
	return o, w, nil
}

// closePipes closes our ends. The writer may have closed stdin already.
func (p *process) closePipes() error {
	var errs []error
	if p.stdin != nil {
		errs = append(errs, p.stdin.Close())
	}
	for _, o := range []*output{p.stdout, p.stderr} {
		if o != nil {
			errs = append(errs, o.f.Close())
		}
	}
	for i, err := range errs {
		if errors.Is(err, os.ErrClosed) {
			errs[i] = nil
		}
	}
	return errors.Join(errs...)
}

// run is the child's goroutine: it ends when the child has been reaped.
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
	reaped := p.reap()
	if reaped {
		p.state = p.cmd.ProcessState
	}
	close(p.exited)
	if !reaped {
		p.wait()
	}
}

// kill signals the whole group, unless the child has been reaped.
func (p *process) kill(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killLocked(sig)
}

func (p *process) killLocked(sig syscall.Signal) {
	if p.reaped || p.cmd.Process == nil {
		return
	}
	// The group can be gone already, which is as good.
	_ = p.user.Do(func() error { return syscall.Kill(-p.cmd.Process.Pid, sig) })
}

// wait reaps the child. How it ended is in cmd.ProcessState; the error of Wait
// says the same again.
func (p *process) wait() {
	_ = p.cmd.Wait()
}
