package main

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

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
