//go:build !linux

package machine

import (
	"context"
	"time"
)

// patience is the system's own here.
func patience(context.Context, time.Duration) {}
