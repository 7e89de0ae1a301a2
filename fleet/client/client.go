// Package client is what the runtime asks of one machine: the calls of package machine/wire, and the connections that
// codex has there.
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/stayhttp"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// Config says how a machine is reached.
type Config struct {
	Address string        // host:port to connect to
	TLS     *tls.Config   // by which it is known
	Token   func() string // asked for each request, as it may be replaced
	Runtime string        // our id
	Epoch   func() int64  // see [wire.HeaderEpoch]
}

// A Client speaks to one machine. Its methods may be called concurrently.
type Client struct {
	cfg  Config
	tls  *tls.Config
	http *http.Client
}

const (
	dialTimeout = 3 * time.Second
	callTimeout = 10 * time.Second
	mostAnswer  = 1 << 20 // of an answer that is JSON
)

// New returns a client. Nothing is connected to before it is asked for something.
func New(cfg Config) *Client {
	c := &Client{cfg: cfg, tls: cfg.TLS.Clone()}
	c.tls.NextProtos = []string{"http/1.1"}
	c.http = &http.Client{Transport: stayhttp.Transport{Via: &http.Transport{
		DialTLSContext:      func(ctx context.Context, _, _ string) (net.Conn, error) { return c.Dial(ctx) },
		MaxIdleConnsPerHost: 4, IdleConnTimeout: 90 * time.Second,
	}}}
	return c
}

// Dial opens a connection to the machine, and makes sure that it is the one.
func (c *Client) Dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return (&tls.Dialer{Config: c.tls}).DialContext(ctx, "tcp", c.cfg.Address)
}

// Sign makes a request ours.
func (c *Client) Sign(r *http.Request) {
	r.Header.Set("Authorization", "Bearer "+c.cfg.Token())
	r.Header.Set(wire.HeaderRuntime, c.cfg.Runtime)
	r.Header.Set(wire.HeaderEpoch, strconv.FormatInt(c.cfg.Epoch(), 10))
}

// Close lets go of connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// A RefusedError is a refusal of the machine.
type RefusedError struct {
	Status int
	wire.Refusal
}

func (e *RefusedError) Error() string { return e.Message }

// Code is that of a refusal, or empty.
func Code(err error) string {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return refused.Code
	}
	return ""
}

// call asks for something and reads the answer, both as JSON. Either may be nil.
func (c *Client) call(ctx context.Context, method, path string, asked, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var body io.Reader
	if asked != nil {
		text, err := json.Marshal(asked)
		if err != nil {
			return fmt.Errorf("what is asked of a machine: %w", err)
		}
		body = bytes.NewReader(text)
	}
	got, err := c.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	if answer == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(got.Body, mostAnswer))
		return err
	}
	if err := json.NewDecoder(io.LimitReader(got.Body, mostAnswer)).Decode(answer); err != nil {
		return fmt.Errorf("the answer of a machine to %s %s: %w", method, path, err)
	}
	return nil
}

// send makes a request, and returns the answer if it is none of refusal.
func (c *Client) send(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	return c.sendWith(ctx, method, path, body, nil)
}

// sendWith is send with further headers.
func (c *Client) sendWith(ctx context.Context, method, path string, body io.Reader, header http.Header) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "https://"+c.cfg.Address+path, body)
	if err != nil {
		return nil, fmt.Errorf("ask a machine: %w", err)
	}
	c.Sign(r)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(r.Header, header)
	got, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	if got.StatusCode/100 == 2 {
		return got, nil
	}
	defer got.Body.Close()
	refused := &RefusedError{Status: got.StatusCode}
	if err := json.NewDecoder(io.LimitReader(got.Body, mostAnswer)).Decode(&refused.Refusal); err != nil || refused.Message == "" {
		refused.Message = fmt.Sprintf("%s %s: HTTP %d", method, path, got.StatusCode)
	}
	return nil, refused
}
