package platform_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

var errLost = errors.New("the connection was closed")

// A board is a canvas, and its log.
type board struct {
	shown []platform.Row
	lose  int           // answers that are lost on the way
	fail  error         // of what is said instead
	log   error         // of the log
	takes time.Duration // the log
}

func (b *board) Notify(ctx context.Context, message string, _ ...platform.Attachment) error {
	if err := cmp.Or(b.fail, ctx.Err()); err != nil {
		return err
	}
	body, _ := json.Marshal(map[string]string{"message": message})
	b.shown = append(b.shown, platform.Row{ID: fmt.Sprint(len(b.shown)), Method: "notify", CreatedAt: time.Now(), ResponseBody: body})
	if b.lose > 0 {
		b.lose--
		return errLost
	}
	return nil
}

func (b *board) ActivityRows(ctx context.Context, q platform.RowQuery) ([]platform.Row, error) {
	select {
	case <-time.After(b.takes):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return slices.DeleteFunc(slices.Clone(b.shown), func(r platform.Row) bool {
		return r.CreatedAt.Before(time.Now().Add(-q.Since)) || !q.Before.IsZero() && !r.CreatedAt.Before(q.Before)
	}), b.log
}

// TestSpeaker: what may have arrived is looked for before it is said again.
func TestSpeaker(t *testing.T) {
	refused, away := &platform.Error{Op: "test", Status: 404}, &platform.Error{Op: "test", Status: 503}
	for name, c := range map[string]struct {
		board board
		again func(*board, *platform.Speaker) // before the second try
		shown int
		fails bool // the second try
	}{
		"its answer is lost":           {board: board{lose: 1}, shown: 1},
		"it never came":                {board: board{fail: errLost}, again: func(b *board, _ *platform.Speaker) { b.fail = nil }, shown: 1},
		"there is no log":              {board: board{lose: 1, log: refused}, shown: 2},
		"the log takes too long":       {board: board{lose: 1, takes: time.Hour}, shown: 2},
		"the log is away":              {board: board{lose: 1, log: away}, shown: 1, fails: true},
		"a tool has said it":           {board: board{fail: errLost}, again: func(b *board, s *platform.Speaker) { b.fail = nil; _ = s.Notify(t.Context(), "done") }, shown: 2},
		"another of its text is there": {board: board{fail: errLost}, again: func(b *board, s *platform.Speaker) { b.fail = nil; _ = s.Say(t.Context(), "two", "done") }, shown: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &c.board
				s := platform.NewSpeaker(b)
				said := func() error { // in the time that a notice has
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					defer cancel()
					if there, err := s.Arrived(ctx, "one", "done"); there || err != nil {
						return err
					}
					return s.Say(ctx, "one", "done")
				}
				if err := said(); err == nil {
					t.Error("the first try has no error")
				}
				time.Sleep(2 * time.Second)
				if c.again != nil {
					c.again(b, s)
				}
				if err := said(); (err != nil) != c.fails || len(b.shown) != c.shown {
					t.Errorf("shown %d times, want %d; %v", len(b.shown), c.shown, err)
				}
				if !c.fails {
					return
				}
				tries := 2
				for said() != nil {
					tries++
				}
				if tries != 3 || len(b.shown) != c.shown+1 {
					t.Errorf("where the log cannot be read it is shown %d times, with %d tries that failed", len(b.shown), tries)
				}
			})
		})
	}
}
