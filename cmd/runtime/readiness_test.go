package main

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
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
	e := executor.New(executor.Config{})
	t.Cleanup(func() { _ = e.Close(t.Context()) })
	made := 0
	r := &readiness{
		executor: e, redact: logging.NewRedactor(), state: ownState(journal),
		checks: []preflight.Check{{Name: "c", Run: func(context.Context) preflight.Result {
			made++
			return preflight.Result{Status: preflight.OK}
		}}},
	}
	defer r.close()
	r.checked(t.Context())
	for _, bytes := range []int64{1 << 30, 13 << 20, 1 << 30} {
		free.Store(bytes)
		want := bytes > 16<<20
		if state := r.get(t.Context()); state.OK != want {
			t.Errorf("with %d MiB free: %+v", bytes>>20, state)
		}
		if r.glance().OK != want || (r.failing() == "") != want {
			t.Errorf("with %d MiB free, ready at a glance: %v; failing: %q", bytes>>20, r.glance().OK, r.failing())
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
		r := &readiness{changed: func() { told++ }, checks: []preflight.Check{{Name: "c", Run: func(context.Context) preflight.Result {
			made++
			return result
		}}}}
		r.doubt()
		synctest.Wait()
		if made != 0 {
			t.Error("checked before there was anything to doubt")
		}
		r.checked(t.Context())
		if got := r.failing(); got != "c: broken" {
			t.Errorf("failing: %q", got)
		}
		result = preflight.Result{Status: preflight.OK}
		r.doubt()
		r.close()
		if got := r.failing(); got != "" || told != 2 {
			t.Errorf("failing: %q, told %d times", got, told)
		}
		r.doubt()
		r.close()
		if made != 2 {
			t.Errorf("checked %d times", made)
		}
	})
}

// TestMended: what can be put right is, before the checks are made and each time.
func TestMended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := true
		r := &readiness{mend: func() { broken = false }, checks: []preflight.Check{{Name: "c", Run: func(context.Context) preflight.Result {
			if broken {
				return preflight.Result{Status: preflight.Fail}
			}
			return preflight.Result{Status: preflight.OK}
		}}}}
		defer r.close()
		for range 2 {
			if !r.checked(t.Context()).OK() {
				t.Error("the checks were made before what can be mended was")
			}
			broken = true
			time.Sleep(2 * yesLasts)
		}
	})
}
