package host

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
)

// A told runtime notes what is done with it.
type told struct {
	notes        []string
	recover, end error
}

func (r *told) note(what string) { r.notes = append(r.notes, what) }

func (r *told) Recover(context.Context) error {
	r.note("recover")
	return r.recover
}

func (r *told) Serve(context.Context) error {
	r.note("serve")
	return r.end
}

type part func()

func (p part) Close() error {
	p()
	return nil
}

// TestLive: what was built is drained in its order and closed in the reverse one, whatever the life ended by.
func TestLive(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		build, recover, end error
		want                []string
	}{
		"the end of serving": {nil, nil, nil, []string{"recover", "serve", "turns", "tasks", "state", "codex"}},
		"a failure":          {nil, nil, broken, []string{"recover", "serve", "turns", "tasks", "state", "codex"}},
		"no recovery":        {nil, broken, nil, []string{"recover", "turns", "tasks", "state", "codex"}},
		"half built":         {broken, nil, nil, []string{"turns", "tasks", "state", "codex"}},
	} {
		r := &told{recover: c.recover, end: c.end}
		err := Live(t.Context(), slog.New(slog.DiscardHandler), func(_ context.Context, life *Life) (Runtime, error) {
			life.Opened(part(func() { r.note("codex") }))
			life.Opened(part(func() { r.note("state") }))
			for _, what := range []string{"turns", "tasks"} {
				life.Drains(func(ctx context.Context) error {
					r.note(what)
					return ctx.Err()
				})
			}
			life.GoesOn(func(ctx context.Context) { <-ctx.Done() })
			return r, c.build
		})
		if want := errors.Join(c.build, c.recover, c.end); (err == nil) != (want == nil) || !slices.Equal(r.notes, c.want) {
			t.Errorf("%s: %v, %v", name, r.notes, err)
		}
	}
}

// TestLiveUntilAPartFails: what goes on and fails ends the runtime.
func TestLiveUntilAPartFails(t *testing.T) {
	deleted := errors.New("the workspace is deleted")
	err := Live(t.Context(), slog.New(slog.DiscardHandler), func(_ context.Context, life *Life) (Runtime, error) {
		life.Goes(func(context.Context) error { return deleted })
		return patient{}, nil
	})
	if !errors.Is(err, deleted) {
		t.Errorf("%v", err)
	}
}

type patient struct{}

func (patient) Recover(context.Context) error { return nil }

func (patient) Serve(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
