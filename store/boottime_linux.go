package store

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot is how long the machine has been up, asleep or not; 0 if that is not known.
func sinceBoot() time.Duration {
	var at unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &at) != nil {
		return 0
	}
	return time.Duration(at.Nano())
}
