package channel_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestOnce answers what there is, and says what is left.
func TestOnce(t *testing.T) {
	for name, c := range map[string]struct {
		fail func(op string) error
		told []string
		want func(err error) bool
	}{
		"works": {nil, []string{"re: one", "re: two"}, func(err error) bool { return err == nil }},
		"unsent": {func(op string) error {
			if op == "notify" {
				return unavailable()
			}
			return nil
		}, nil, func(err error) bool { return errors.Is(err, channel.ErrUnsent) }},
		"unread": {func(string) error { return unavailable() }, nil, func(err error) bool { return platform.StatusOf(err) == 503 }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				s := openStore(t, dir)
				defer s.Close()
				d := &desk{fail: c.fail}
				d.put("", "one")
				d.put("", "two")
				if err := newChannel(t, s, d, &clerk{}).Once(t.Context(), nil); !c.want(err) {
					t.Errorf("Once: %v", err)
				}
				if told := d.told(); !slices.Equal(told, c.told) {
					t.Errorf("the user was told %q", told)
				}
			})
		})
	}
}

// TestQuit: what is owed is sent before the end, and nothing new is taken.
func TestQuit(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, dir)
		defer s.Close()
		d := &desk{}
		d.put("", "one")
		quit := make(chan struct{})
		done := make(chan error, 1)
		go func() {
			done <- newChannel(t, s, d, &clerk{}).Run(t.Context(), quit, func(context.Context) error {
				d.put("", "two")
				return nil
			})
		}()
		synctest.Wait()
		close(quit)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if told := d.told(); !slices.Equal(told, []string{"re: one"}) {
			t.Errorf("the user was told %q", told)
		}
	})
}
