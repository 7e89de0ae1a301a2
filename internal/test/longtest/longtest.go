// Package longtest marks tests that take long by themselves, or look at what few changes touch. make test, which is
// run for each change, leaves them out (go test -short), make test-all runs them, at night, too, and
// .ci/run those that are not on the real codex.
package longtest

import "testing"

// Mark leaves a test out of make test.
func Mark(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("make test-all runs it")
	}
}
