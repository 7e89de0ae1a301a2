package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// ErrSilent says that a machine has not been heard for too long.
var ErrSilent = errors.New("it is silent")

// Watch tells how the machine stands, as often as that changes and each [wire.Beat], until ctx ends, or the connection
// does, or nothing is heard for silence.
func (c *Client) Watch(ctx context.Context, silence time.Duration, tell func(wire.Status)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(silence, func() { cancel(ErrSilent) })
	defer silent.Stop()
	err := c.watch(ctx, func(s wire.Status) {
		silent.Reset(silence)
		tell(s)
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (c *Client) watch(ctx context.Context, tell func(wire.Status)) error {
	got, err := c.send(ctx, http.MethodGet, "/v1/watch", nil)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	lines := bufio.NewScanner(got.Body)
	lines.Buffer(nil, mostAnswer)
	for lines.Scan() {
		var s wire.Status
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return fmt.Errorf("how a machine stands: %w", err)
		}
		tell(s)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}

// Begin says that a turn begins, which a machine may refuse.
func (c *Client) Begin(ctx context.Context, turn string, what wire.Turn) error {
	return c.call(ctx, http.MethodPut, "/v1/turns/"+url.PathEscape(turn), what, nil)
}

// End says that it has ended.
func (c *Client) End(ctx context.Context, turn string) error {
	return c.call(ctx, http.MethodDelete, "/v1/turns/"+url.PathEscape(turn), nil, nil)
}

// Commands are those that run there for us.
func (c *Client) Commands(ctx context.Context) ([]wire.Command, error) {
	var all wire.Commands
	err := c.call(ctx, http.MethodGet, "/v1/commands", nil, &all)
	return all.Commands, err
}

// EndCommands ends commands, and returns those that are left.
func (c *Client) EndCommands(ctx context.Context, commands []wire.Command) ([]wire.Command, error) {
	var left wire.Commands
	err := c.call(ctx, http.MethodPost, "/v1/commands/end", wire.Commands{Commands: commands}, &left)
	return left.Commands, err
}

// Place asks for a place.
func (c *Client) Place(ctx context.Context, place string, want wire.Want) (got wire.Place, err error) {
	err = c.call(ctx, http.MethodPut, of(place), want, &got)
	return got, err
}

// Forget has a place be taken away.
func (c *Client) Forget(ctx context.Context, place string) error {
	return c.call(ctx, http.MethodDelete, of(place), nil, nil)
}

// Drain has the machine take no new turns, or take them again.
func (c *Client) Drain(ctx context.Context, drain bool) error {
	return c.call(ctx, http.MethodPut, "/v1/drain", wire.Drain{Draining: drain}, nil)
}

func of(place string) string { return "/v1/places/" + url.PathEscape(place) }

func file(place, path string) string {
	return of(place) + "/file?path=" + url.QueryEscape(path)
}

// Read opens a file of a place. The caller closes it, within the time that ctx gives.
func (c *Client) Read(ctx context.Context, place, path string) (io.ReadCloser, wire.File, error) {
	got, err := c.send(ctx, http.MethodGet, file(place, path), nil)
	if err != nil {
		return nil, wire.File{}, err
	}
	about := wire.File{Size: got.ContentLength}
	now, errNow := http.ParseTime(got.Header.Get("Date"))
	changed, errChanged := http.ParseTime(got.Header.Get("Last-Modified"))
	if errNow == nil && errChanged == nil {
		about.Age = max(now.Sub(changed), 0)
	}
	return got.Body, about, nil
}

// Write makes a file of a place.
func (c *Client) Write(ctx context.Context, place, path string, from io.Reader) error {
	return c.drained(c.send(ctx, http.MethodPut, file(place, path), from))
}

// Absorb brings a bundle of a place's branch to the machine, which stands at head then. An empty one is of a commit that the
// machine has.
func (c *Client) Absorb(ctx context.Context, place, head string, bundle io.Reader) (now wire.Place, err error) {
	got, err := c.sendWith(ctx, http.MethodPost, of(place)+"/bundle", bundle, http.Header{wire.HeaderHead: {head}})
	if err != nil {
		return now, err
	}
	defer got.Body.Close()
	if err := json.NewDecoder(io.LimitReader(got.Body, mostAnswer)).Decode(&now); err != nil {
		return now, fmt.Errorf("the answer of a machine to a bundle: %w", err)
	}
	return now, nil
}

func (c *Client) drained(got *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer got.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(got.Body, mostAnswer))
	return err
}
