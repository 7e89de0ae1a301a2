package notify

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Local is the target that is this runtime itself.
const Local = "local"

// longestTarget bounds what is kept, and shown with the task.
const longestTarget = 4 << 10

// A Platform tells people at places that only it knows.
type Platform interface {
	// Notify sends a message, and returns what the platform says of it, of plain
	// JSON values.
	Notify(ctx context.Context, target, message string) (delivery any, err error)
}

// errNoWorkspace says why a target cannot be had.
var errNoWorkspace = errors.New("it is a place of the platform's, and this runtime belongs to no workspace: " +
	"set WORKSPACE_ID and PLATFORM_URL, or give local or a URL")

// isURL reports whether a target is a webhook.
func isURL(target string) bool {
	lower := strings.ToLower(target)
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}

// Check refuses a target that nobody can be told at. Where the name of a URL leads
// is judged when it is posted to.
func (d *Deliverer) Check(target string) error {
	switch {
	case len(target) > longestTarget:
		return fmt.Errorf("it is longer than %d bytes", longestTarget)
	case target == Local:
		return nil
	case isURL(target) && d.post == nil:
		return errors.New("calling out is switched off (RUNTIME_PUSH=0)")
	case isURL(target):
		return d.post.Check(target)
	case d.cfg.Platform == nil:
		return errNoWorkspace
	}
	return nil
}
