package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/stayhttp"
)

const (
	// callTime bounds a call; a machine that is told something may take most of it.
	callTime   = 20 * time.Second
	mostAnswer = 16 << 20
)

// A Client asks a runtime that runs.
type Client struct{ URL, Token string }

// List asks how the machines stand.
func (c Client) List(ctx context.Context) (a Answer, err error) {
	err = c.call(ctx, http.MethodGet, "/machines", &a)
	return a, err
}

// Drain has a machine take no new turns, or take them again.
func (c Client) Drain(ctx context.Context, name string, drain bool) (d Done, err error) {
	what := "undrain"
	if drain {
		what = "drain"
	}
	err = c.call(ctx, http.MethodPost, "/machines/"+url.PathEscape(name)+"/"+what, &d)
	return d, err
}

// A RefusedError is the answer of a runtime that does not do what it was asked for.
type RefusedError struct {
	Status  int
	Message string
}

func (e *RefusedError) Error() string { return e.Message }

// A whole answer is one of a runtime: what is none has no member of it.
type whole interface{ whole() bool }

func (a *Answer) whole() bool { return a.Machines != nil }
func (d *Done) whole() bool   { return d.Machine != "" }

func (c Client) call(ctx context.Context, method, path string, into whole) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	base := strings.TrimRight(c.URL, "/")
	r, err := http.NewRequestWithContext(ctx, method, base+path, nil)
	if err != nil {
		return fmt.Errorf("RUNTIME_URL: %w", err)
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	// A runtime sends no caller elsewhere, and the token is for it alone.
	stays := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := &http.Client{Transport: stayhttp.Transport{Via: http.DefaultTransport}, CheckRedirect: stays}
	got, err := client.Do(r)
	if err != nil {
		if of, is := errors.AsType[*url.Error](err); is {
			err = of.Err // its own words repeat the method and the URL
		}
		return fmt.Errorf("no runtime answers at %s (%w); start one with runtime serve, or set RUNTIME_URL to where it listens", base, err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(io.LimitReader(got.Body, mostAnswer))
	if err != nil {
		return fmt.Errorf("the answer of the runtime at %s was cut off: %w", base, err)
	}
	if got.StatusCode != http.StatusOK {
		return refused(base, got.StatusCode, text)
	}
	if json.Unmarshal(text, into) != nil || !into.whole() {
		return fmt.Errorf("what answers at %s is no runtime; set RUNTIME_URL to where one listens", base)
	}
	return nil
}

// refused says what an answer that is no 200 comes to, and what to do.
func refused(base string, status int, text []byte) error {
	var p problem
	_ = json.Unmarshal(text, &p)
	say := func(message string) error { return &RefusedError{status, message} }
	switch {
	case p.Error == "":
		return fmt.Errorf("what answers at %s is no runtime with machines (HTTP %d); set RUNTIME_URL to where one listens", base, status)
	case p.Error == noMachines:
		return say(p.Error + "; set RUNTIME_MACHINES there, to what runtime machine prints on each machine, or RUNTIME_URL to another runtime")
	case strings.HasPrefix(p.Error, "there is nothing at"):
		return say("the runtime at " + base + " knows of no machines: it is an older one; install the same release there")
	case status == http.StatusUnauthorized:
		return say("the runtime at " + base + " asks for its token: set RUNTIME_TOKEN to the one that it was started with")
	}
	return say(p.Error)
}
