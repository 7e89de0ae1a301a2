package appserver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// exitGrace is how long a child whose pipes have ended may take to be gone, so
// that an exit is not mistaken for a fault and keeps its own status.
const exitGrace = 2 * time.Second

// A Client is a session with one running child. Create it with [Start].
type Client struct {
	cfg  Config
	log  *slog.Logger
	wire Wire
	info ServerInfo // set before Start returns

	proc     *process
	stderr   tail
	conn     *jsonrpc2.Conn
	stream   *stream
	calls    calls
	requests requests
	router   *router
	stats    counters

	life     context.Context // of request handlers; ends with the ExitError
	endLife  context.CancelCauseFunc
	handlers sync.WaitGroup // goroutines of Config.OnRequest

	closing sync.Once     // Close's ladder runs once
	failed  chan struct{} // closed by fail
	done    chan struct{} // closed last, when nothing is left

	mu    sync.Mutex // guards the fields below
	cause error      // why the child has to be ended; the first reason wins
	ended *ExitError // set when the child is gone and all it wrote has been read
}

// open starts the child and the goroutines around it; supervise waits for all of them.
func open(cfg Config) (*Client, error) {
	proc, err := startProcess(cfg)
	if err != nil {
		cfg.Wire.Ended(End{Code: -1, Cause: err.Error()})
		return nil, err
	}
	c := &Client{
		cfg: cfg, log: cfg.Logger, wire: cfg.Wire, proc: proc,
		failed: make(chan struct{}), done: make(chan struct{}),
	}
	c.wire.Started(proc.cmd.Process.Pid)
	c.life, c.endLife = context.WithCancelCause(context.Background())
	c.router = newRouter(cfg.QueueBytes, cfg.OnGlobal, &c.stats)
	c.stream = newStream(newOutbox(), &c.requests)
	c.conn = jsonrpc2.NewConn(context.Background(), c.stream, c, jsonrpc2.SetLogger(libraryLog{cfg.Logger}))
	go c.supervise()
	return c, nil
}

// supervise waits for the end of the child, whichever way it comes, and takes
// everything down in an order that loses nothing.
func (c *Client) supervise() {
	var readers, writer sync.WaitGroup
	stdoutEnded := make(chan struct{})
	readers.Go(func() { defer close(stdoutEnded); c.read() })
	readers.Go(func() { _, _ = io.Copy(&c.stderr, c.proc.stderr) })
	writer.Go(c.write)

	select {
	case <-c.proc.exited:
	case <-c.failed:
	case <-stdoutEnded:
		c.endUnlessGone(errMute)
	}
	c.proc.kill(syscall.SIGKILL)
	<-c.proc.exited

	_ = c.proc.stdin.Close() // or the writer could wait for a grandchild to read; an error says that it is closed
	c.logError("wake the reader of stdout", c.proc.stdout.exited())
	c.logError("wake the reader of stderr", c.proc.stderr.exited())
	readers.Wait()
	exit := c.setEnded()
	c.stream.out.close(exit)
	writer.Wait()
	c.wire.Ended(exit.end())

	c.logError("close the stream", c.stream.Close())
	<-c.conn.DisconnectNotify() // every answer that was read has been passed on
	c.router.end(exit)
	c.endLife(exit)
	c.handlers.Wait()
	c.logError("close the pipes", c.proc.closePipes())
	close(c.done)
}

// write is the goroutine of the outbox.
func (c *Client) write() {
	err := c.stream.out.write(c.proc.stdin, c.cfg.WriteTimeout, c.wire)
	switch {
	case err == nil:
	case isTimeout(err):
		c.fail(errDeaf)
	default: // a broken pipe: the child is about to be gone, or closed its input
		c.endUnlessGone(err)
	}
}

// endUnlessGone ends a child that a pipe says has ended, if it has not. One that
// is being closed is left to the steps of Close.
func (c *Client) endUnlessGone(cause error) {
	timer := time.NewTimer(exitGrace)
	defer timer.Stop()
	select {
	case <-c.proc.exited:
		return
	case <-c.failed:
		return
	case <-timer.C:
	}
	if c.isClosing() {
		select {
		case <-c.proc.exited:
		case <-c.failed:
		}
		return
	}
	c.fail(cause)
}

func (c *Client) isClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Is(c.cause, ErrClosed)
}

// fail has the child ended because of cause.
func (c *Client) fail(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = cause
	}
	select {
	case <-c.failed:
	default:
		close(c.failed)
	}
}

// setEnded records how the child ended. It is called when the child has been
// reaped and its output read.
func (c *Client) setEnded() *ExitError {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = &ExitError{State: c.proc.state, Cause: c.cause, Stderr: c.stderr.String()}
	return c.ended
}

// exit returns the end of the child, or ErrClosed while it is being closed.
func (c *Client) exit() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended == nil {
		return ErrClosed
	}
	return c.ended
}

func (c *Client) logError(doing string, err error) {
	if err != nil {
		c.log.Warn("ending codex met an error", "doing", doing, "err", err)
	}
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && timeout.Timeout()
}

// libraryLog passes what jsonrpc2 has to say to our log, without its arguments.
type libraryLog struct{ log *slog.Logger }

func (l libraryLog) Printf(format string, _ ...any) {
	l.log.Debug("jsonrpc2 has a remark", "format", format)
}
