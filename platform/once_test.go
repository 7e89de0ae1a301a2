package platform_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

func overWire(steps ...step) (*platform.Client, *wire) {
	w := &wire{steps: steps}
	return platform.New(platform.Config{
		URL: "http://platform", Workspace: "w", Token: platform.Token{Value: "t"}, HTTP: &http.Client{Transport: w},
	}), w
}

// TestOnce: a caller with a rhythm of its own has one request for each call.
func TestOnce(t *testing.T) {
	for name, s := range map[string]step{"unreached": {}, "unavailable": {status: 503}, "too-often": {status: 429, header: "1"}} {
		t.Run(name, func(t *testing.T) {
			c, w := overWire(s)
			_, err := c.ActivityRows(platform.Once(t.Context()), platform.RowQuery{})
			if noteErr := c.Notify(platform.Once(t.Context()), "hi"); err == nil || noteErr == nil || w.tries != 2 {
				t.Errorf("%d requests: %v, %v", w.tries, err, noteErr)
			}
		})
	}
}

// TestUndone: what has certainly had no effect may be done again.
func TestUndone(t *testing.T) {
	for name, c := range map[string]struct {
		step step
		want bool
	}{
		"unreached": {step{}, true}, "lost": {step{sent: true}, false}, "unavailable": {step{status: 503}, false},
		"refused": {step{status: 400}, true}, "unauthorized": {step{status: 401}, true}, "too-often": {step{status: 429}, true},
		"away": {step{status: 503, body: `{"code":"platform_unavailable"}`}, true},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := overWire(c.step)
			err := client.Notify(platform.Once(t.Context()), "hi")
			if err == nil || platform.Undone(err) != c.want {
				t.Errorf("Undone(%v) = %t", err, platform.Undone(err))
			}
		})
	}
}

// TestTaken: a message that was passed on is not one that may be sent again, whatever the
// peer has answered.
func TestTaken(t *testing.T) {
	for name, c := range map[string]struct {
		step  step
		taken bool
	}{
		"error":   {step{status: 200, body: `{"error":{"code":-32603,"message":"busy"}}`}, true},
		"nothing": {step{status: 200, body: `{}`}, true},
		"html":    {step{status: 200, body: `<html>`}, false},
		"refused": {step{status: 403, body: `{"error":"no"}`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := overWire(c.step)
			_, err := client.Send(t.Context(), "peer", platform.Message{ID: "m", Text: "hi"})
			if _, taken := errors.AsType[*platform.TakenError](err); err == nil || taken != c.taken {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestTooMuch: what is too large is said so that less can be asked for, and a single row
// may be larger than a page.
func TestTooMuch(t *testing.T) {
	large := `[{"id":"` + strings.Repeat("x", 17<<20) + `"}]`
	client, _ := overWire(step{status: 200, body: large})
	if _, err := client.ActivityRows(t.Context(), platform.RowQuery{Limit: 100}); !errors.Is(err, platform.ErrTooMuch) {
		t.Errorf("%.200v", err)
	}
	if rows, err := client.ActivityRows(t.Context(), platform.RowQuery{Limit: 1}); err != nil || len(rows) != 1 {
		t.Errorf("%d rows, %.200v", len(rows), err)
	}
}
