package appserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// ServerInfo is what the child says of itself in the handshake.
type ServerInfo struct {
	UserAgent      string `json:"userAgent"` // "<our name>/<version of codex> (…)"
	CodexHome      string `json:"codexHome"`
	PlatformFamily string `json:"platformFamily"`
	PlatformOS     string `json:"platformOs"`
}

// Version is the version of codex that runs, "" if it does not say so.
func (i ServerInfo) Version() string {
	_, version, _ := strings.Cut(i.UserAgent, "/")
	version, _, _ = strings.Cut(version, " ")
	return version
}

type initializeParams struct {
	ClientInfo   clientInfo         `json:"clientInfo"`
	Capabilities clientCapabilities `json:"capabilities"`
}

type clientInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type clientCapabilities struct {
	ExperimentalAPI bool     `json:"experimentalApi"`
	OptOut          []string `json:"optOutNotificationMethods,omitempty"`
}

// Start starts codex and introduces us. ctx and [Config.StartTimeout] bound the
// start alone: the child lives on until [Client.Close], [Client.Kill] or its
// own end. It fails with a [StartError], or with an [ExitError] if the child
// started and ended; then nothing is left of it.
func Start(ctx context.Context, cfg Config) (*Client, error) {
	cfg = cfg.withDefaults()
	c, err := open(cfg)
	if err != nil {
		return nil, &StartError{Bin: cfg.Bin, Err: err}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.StartTimeout, errNoAnswer)
	defer cancel()
	if err := c.handshake(ctx); err != nil {
		c.fail(err)
		<-c.done
		if exit, ok := errors.AsType[*ExitError](err); ok {
			return nil, exit
		}
		return nil, &StartError{Bin: cfg.Bin, Err: err, Stderr: c.stderr.String()}
	}
	return c, nil
}

func (c *Client) handshake(ctx context.Context) error {
	params := initializeParams{
		ClientInfo:   clientInfo{Name: c.cfg.ClientName, Version: c.cfg.ClientVersion},
		Capabilities: clientCapabilities{ExperimentalAPI: true, OptOut: c.cfg.OptOut},
	}
	if err := c.Call(ctx, "initialize", params, &c.info); err != nil {
		return err
	}
	// Some versions stall without it.
	if err := c.conn.Notify(ctx, "initialized", nil); err != nil {
		return fmt.Errorf("initialized: %w", err)
	}
	return nil
}

// Info returns what the child said of itself.
func (c *Client) Info() ServerInfo { return c.info }

// Pid returns the number of the child's process, which is also that of its group.
func (c *Client) Pid() int { return c.proc.cmd.Process.Pid }

// Done is closed when the child is gone and nothing of the client is left.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns the child's [ExitError] once Done is closed, and nil before.
func (c *Client) Err() error {
	select {
	case <-c.done:
		return c.exit()
	default:
		return nil
	}
}

// Kill ends the child and its group at once. It does not wait for Done.
func (c *Client) Kill() {
	c.fail(ErrKilled)
	c.proc.kill(syscall.SIGKILL)
}

// Close ends the child in steps, each of which waits [Config.Grace]: its input
// is closed, which is codex's own way to stop; it is sent SIGTERM; its group is
// killed. It returns when Done is closed, with an error only if the last step
// was needed. Closing twice is fine, and so is closing what has ended. It must
// not be called from within OnRequest or OnGlobal.
func (c *Client) Close() error {
	var err error
	c.closing.Do(func() { err = c.ladder() })
	<-c.done
	return err
}

func (c *Client) ladder() error {
	select {
	case <-c.proc.exited:
		return nil
	default:
	}
	c.mu.Lock()
	if c.cause == nil {
		c.cause = ErrClosed
	}
	c.mu.Unlock()
	c.stream.out.close(ErrClosed)
	if c.gone() {
		return nil
	}
	c.proc.kill(syscall.SIGTERM)
	if c.gone() {
		return nil
	}
	c.fail(ErrClosed)
	return fmt.Errorf("close: codex ignored the end of its input and SIGTERM for %v each, and was killed", c.cfg.Grace)
}

// gone waits for the child to end, or be ended for another reason, for as long as Grace.
func (c *Client) gone() bool {
	timer := time.NewTimer(c.cfg.Grace)
	defer timer.Stop()
	select {
	case <-c.proc.exited:
		return true
	case <-c.failed:
		return true
	case <-timer.C:
		return false
	}
}
