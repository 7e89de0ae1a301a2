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

// Canvas is the target that is the user of the workspace, on the platform's canvas.
const Canvas = "canvas"

// A Platform has the canvas.
type Platform interface {
	// Notify says something to the user of the workspace, by the name that it has each time it is
	// tried. An error with a method Permanent that returns true is not tried again by itself.
	Notify(ctx context.Context, id, message string) error
}

// Why a target cannot be had.
var (
	errNoWorkspace = errors.New("there is no canvas, as this runtime belongs to no workspace: " +
		"set WORKSPACE_ID and PLATFORM_URL, or give local or a URL")
	errNoPosts = errors.New("calling out is switched off (RUNTIME_PUSH=0)")
)

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
	case isURL(target) && d.notices.cfg.Poster == nil:
		return errNoPosts
	case isURL(target):
		return d.notices.cfg.Poster.Check(target)
	case target != Canvas:
		return errors.New("it is none of local, canvas and the URL of a webhook")
	case d.notices.cfg.Platform == nil:
		return errNoWorkspace
	}
	return nil
}
