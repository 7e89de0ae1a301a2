package readiness

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// TestStateIsLookedAtEachTime: a disk fills up and is made room on, while the other checks
// are believed.
func TestStateIsLookedAtEachTime(t *testing.T) {
	var free atomic.Int64 // the store's writer asks, too
	free.Store(1 << 30)
	journal, err := store.Open(t.Context(), store.Config{
		Dir: t.TempDir(), Space: func(string) (int64, int64, error) { return free.Load(), 1 << 30, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	e := executor.New(executor.Config{}, codex.New(codex.Config{}))
	t.Cleanup(func() { _ = e.Close(t.Context()) })
	made := 0
	c := NewChecks(ChecksConfig{State: StateOf(journal), Checks: []preflight.Check{{Name: "c", Run: func(context.Context) preflight.Result {
		made++
		return preflight.Result{Status: preflight.OK}
	}}}})
	r := New(Config{Checks: c, Turns: e, Redact: logging.NewRedactor()})
	defer closed(t, r, c)
	c.Made(t.Context())
	for _, bytes := range []int64{1 << 30, 13 << 20, 1 << 30} {
		free.Store(bytes)
		want := bytes > 16<<20
		if state := r.Get(t.Context()); state.OK != want {
			t.Errorf("with %d MiB free: %+v", bytes>>20, state)
		}
		if r.Glance().OK != want || (c.Failing() == "") != want {
			t.Errorf("with %d MiB free, ready at a glance: %v; failing: %q", bytes>>20, r.Glance().OK, c.Failing())
		}
		if series := readinessGauges(t, r); series["molecule_codex_ready"] != truth(want) || series["molecule_codex_check state"] != truth(want) {
			t.Errorf("with %d MiB free: %v", bytes>>20, series)
		}
	}
	if made != 1 {
		t.Errorf("the other checks were made %d times", made)
	}
}

// TestDoubt: a turn that has run clears what an old check says, at once; where nothing is
// wrong no check is made for it.
func TestDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		result, made, told := preflight.Result{Status: preflight.Fail, Detail: "broken"}, 0, 0
		c := NewChecks(ChecksConfig{Checks: []preflight.Check{{Name: "c", Run: func(context.Context) preflight.Result {
			made++
			return result
		}}}})
		c.OnMade(func() { told++ })
		c.Doubt()
		synctest.Wait()
		if made != 0 {
			t.Error("checked before there was anything to doubt")
		}
		c.Made(t.Context())
		if got := c.Failing(); got != "c: broken" {
			t.Errorf("failing: %q", got)
		}
		result = preflight.Result{Status: preflight.OK}
		c.Doubt()
		closed(t, c)
		if got := c.Failing(); got != "" || told != 2 {
			t.Errorf("failing: %q, told %d times", got, told)
		}
		c.Doubt()
		closed(t, c)
		if made != 2 {
			t.Errorf("checked %d times", made)
		}
	})
}

// TestMended: what can be put right is, before the checks are made and each time.
func TestMended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := true
		c := NewChecks(ChecksConfig{Mend: func() { broken = false }, Checks: []preflight.Check{{Name: "c", Run: func(context.Context) preflight.Result {
			if broken {
				return preflight.Result{Status: preflight.Fail}
			}
			return preflight.Result{Status: preflight.OK}
		}}}})
		defer closed(t, c)
		for range 2 {
			if !c.Made(t.Context()).OK() {
				t.Error("the checks were made before what can be mended was")
			}
			broken = true
			time.Sleep(2 * yesLasts)
		}
	})
}

func closed(t *testing.T, all ...io.Closer) {
	t.Helper()
	for _, c := range all {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestGlance waits for no check, and for no codex.
func TestGlance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := 0
		c := NewChecks(ChecksConfig{Checks: []preflight.Check{{
			Name: "slow", Run: func(context.Context) preflight.Result {
				made++
				time.Sleep(10 * time.Second)
				return preflight.Result{Status: preflight.Fail, Detail: "has s3cret-value in it", Fix: "mend it"}
			},
		}}})
		r := New(Config{Checks: c, Turns: executor.New(executor.Config{}, codex.New(codex.Config{})), Redact: logging.NewRedactor("s3cret-value")})
		begin := time.Now()
		if g := r.Glance(); g.OK || g.Checked {
			t.Errorf("before the check was made: %+v", g)
		}
		r.Glance()
		if time.Since(begin) != 0 {
			t.Errorf("a glance took %v", time.Since(begin))
		}
		closed(t, r, c)
		g := r.Glance()
		if g.OK || !g.Checked || g.Checks[0].OK || strings.Contains(g.Checks[0].Message, "s3cret") || !strings.Contains(g.Checks[0].Message, "mend it") {
			t.Errorf("after it: %+v", g)
		}
		if made != 1 {
			t.Errorf("checked %d times", made)
		}
		time.Sleep(noLasts + time.Second)
		r.Glance()
		closed(t, r, c)
		if made != 2 {
			t.Errorf("an old no was looked at %d times, want once more", made)
		}
	})
}
