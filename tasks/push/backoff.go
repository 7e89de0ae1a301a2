package push

import (
	"time"
)

const (
	firstWait    = time.Second
	longestWait  = 5 * time.Minute
	longestAsked = 10 * time.Minute // by a receiver
)

// wait is how long to wait after so many failures, at least as long as was asked
// for. Jitter is in [0, 1): receivers that come back are not overrun by everybody
// at once.
func wait(failures int, asked time.Duration, jitter float64) time.Duration {
	w := longestWait
	if failures < 10 { // 2^9 seconds is longer
		w = min(firstWait<<max(failures-1, 0), longestWait)
	}
	return max(asked, time.Duration(float64(w)*(0.8+0.4*jitter)))
}
