package tasks_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
)

// A slowDepot takes its time for each file.
type slowDepot struct {
	depot
	takes time.Duration
}

func (d *slowDepot) Stage(ctx context.Context, key string, p *a2a.Part, most int64, peer bool) (attach.File, error) {
	select {
	case <-time.After(d.takes):
		return d.depot.Stage(ctx, key, p, most, peer)
	case <-ctx.Done():
		return attach.File{}, context.Cause(ctx)
	}
}

// TestTimeOfFetches: what is fetched for a message by URL has two minutes together; beyond them it
// is to be sent again. Other files have their own time.
func TestTimeOfFetches(t *testing.T) {
	for name, c := range map[string]struct {
		n      int
		scheme string
		takes  time.Duration
		after  time.Duration
		want   error
		says   string
	}{
		"in time":              {n: 20, scheme: "https", takes: 5 * time.Second, after: 100 * time.Second},
		"one after the other":  {n: 20, scheme: "https", takes: 7 * time.Second, after: 2 * time.Minute, want: a2a.ErrServerError, says: "not here within 2m0s"},
		"none":                 {n: 1, scheme: "http", takes: time.Hour, after: 2 * time.Minute, want: a2a.ErrServerError, says: "not here within 2m0s"},
		"held by the platform": {n: 3, scheme: "platform-pending", takes: time.Hour, after: 3 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &slowDepot{takes: c.takes}
				e := newEngine(t, newRunner(), func(cfg *tasks.Config) { cfg.Files = d })
				began := time.Now()
				_, err := e.SendMessage(t.Context(), returning(bringing("m", c.n, c.scheme)))
				if took := time.Since(began); took != c.after {
					t.Errorf("it took %v, want %v", took, c.after)
				}
				if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v, want %v that says %q", err, c.want, c.says)
				}
				if _, has := d.found(); c.want != nil && has != "" {
					t.Errorf("%q are left", has)
				}
			})
		})
	}
}

// TestTimeOfTheSameMessage: the time in which it waits for the files of itself, sent before,
// is its own.
func TestTimeOfTheSameMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &slowDepot{takes: time.Hour}
		e := newEngine(t, newRunner(), func(cfg *tasks.Config) { cfg.Files = d })
		began := time.Now()
		first := make(chan error)
		go func() {
			_, err := e.SendMessage(t.Context(), returning(bringing("m", 1, "https")))
			first <- err
		}()
		synctest.Wait()
		_, err := e.SendMessage(t.Context(), returning(bringing("m", 1, "https")))
		if took := time.Since(began); took != 2*time.Minute || err == nil {
			t.Errorf("after %v: %v", took, err)
		}
		if err := <-first; !errors.Is(err, a2a.ErrServerError) {
			t.Error(err)
		}
	})
}
