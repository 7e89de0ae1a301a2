package platform_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestInTurn: what is asked again has a turn of its own, and what would have to wait too long
// is not sent.
func TestInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{steps: []step{{status: http.StatusTooManyRequests}}}
		client := platform.New(platform.Config{URL: "http://platform", Workspace: "w", Token: platform.Token{Value: "t"}, HTTP: &http.Client{Transport: w}})
		ctx := platform.InTurn(t.Context(), rate.NewLimiter(rate.Every(15*time.Second), 2))
		began := time.Now()
		for range 2 {
			limited, cancel := context.WithTimeout(ctx, 5*time.Second)
			if _, err := client.Peers(limited); !errors.Is(err, platform.ErrBusy) {
				t.Errorf("got %v", err)
			}
			cancel()
		}
		if took := time.Since(began); w.tries != 2 || took > 10*time.Second {
			t.Errorf("%d requests were made within %s, want 2 soon", w.tries, took)
		}
		if _, err := client.Peers(ctx); err == nil || w.tries < 3 || time.Since(began) < 10*time.Second {
			t.Errorf("who has time was not let wait: %v", err)
		}
	})
}

// TestAwait: a turn that comes soon is waited for, and a later one is not begun to be.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for behind, want := range map[time.Duration]error{15 * time.Second: nil, 25 * time.Second: platform.ErrBusy} {
			turns := rate.NewLimiter(rate.Every(behind), 1)
			if err := platform.Await(t.Context(), turns); err != nil {
				t.Error(err)
			}
			began := time.Now()
			err := platform.Await(t.Context(), turns)
			if waited := time.Since(began); !errors.Is(err, want) || (err == nil) != (waited == behind) || err != nil && waited > 0 {
				t.Errorf("a turn in %s: %v after %s", behind, err, waited)
			}
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		time.AfterFunc(time.Second, func() { cancel(gone) })
		turns := rate.NewLimiter(rate.Every(10*time.Second), 1)
		turns.Allow()
		if err := platform.Await(ctx, turns); !errors.Is(err, gone) {
			t.Errorf("where the caller goes: %v", err)
		}
	})
}
