//go:build !linux

package store

import "time"

// sinceBoot is not known: a machine that sleeps has what is kept grow old later.
func sinceBoot() time.Duration { return 0 }
