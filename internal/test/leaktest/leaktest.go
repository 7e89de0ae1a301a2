// Package leaktest ends the tests of a package with a look for goroutines that they have
// left behind.
package leaktest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is what goroutines that were told to end may take for it: connections and
// canceled calls do so by themselves, which on a busy machine is not at once.
const patience = time.Minute

// Main runs the tests. It is called by TestMain, and does not return.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main for a TestMain that has something to do at the end: it returns the exit code.
func Run(m *testing.M) int {
	code := m.Run()
	if code == 0 {
		if err := left(patience); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines go on when the tests have ended:", err)
			code = 1
		}
	}
	return code
}

// left waits until the goroutines of the tests are gone, and says which are not.
func left(patience time.Duration) error {
	for deadline := time.Now().Add(patience); ; {
		err := goleak.Find() // looks for about half a second
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
