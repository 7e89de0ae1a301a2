package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Local is the target that is this runtime itself.
const Local = "local"

// longestTarget bounds what is kept, and shown with the task.
const longestTarget = 4 << 10

// A Platform has the other places. An error with a method Permanent that returns true is not tried again
// by itself.
type Platform interface {
	// Notify says something at a place, by the name that it has each time it is tried.
	Notify(ctx context.Context, at Place, id, message string) error
}

// A Place is where the platform brings a message. Of the zero value it is the canvas, where the user of the
// workspace reads.
type Place struct {
	Peer          string // the id of another workspace, if it is that
	Service, Chat string // or a chat of a service, such as slack, that the workspace is connected to
}

// peer begins the target that is another workspace, as the names of conversations with it do.
const peer = "peer"

var service = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

// placeOf is the place of the platform's that a target is.
func placeOf(target string) (at Place, ok bool) {
	if target == Canvas || target == user {
		return Place{}, true
	}
	kind, id, _ := strings.Cut(target, ":")
	switch {
	case id == "" || len(id) > longestID || strings.TrimSpace(id) != id || strings.HasPrefix(id, "//"):
		return Place{}, false
	case kind == peer:
		return Place{Peer: id}, !strings.ContainsAny(id, "/?#% ")
	}
	return Place{Service: kind, Chat: id}, service.MatchString(kind)
}

// Canvas is the target that is the user of the workspace, and so is user.
const (
	Canvas = "canvas"
	user   = "user"

	longestID = 256 // bytes of the id of a workspace or a chat
)

// Why a target cannot be had.
var (
	errNoWorkspace = errors.New("there is no canvas, agent or chat, as this runtime belongs to no workspace: " +
		"set WORKSPACE_ID and PLATFORM_URL, or give local or a URL")
	errNoTarget = errors.New("it is none of local, canvas (or user), peer:<workspace id>, <service>:<chat id>, such as slack:C042, and the URL of a webhook")
	errNoPosts  = errors.New("calling out is switched off (RUNTIME_PUSH=0)")
)

func isPlace(target string) bool {
	_, ok := placeOf(target)
	return ok
}

// host is what bounds the tries at a target together: the host of a URL, and any other place by itself.
func host(target string) string {
	if isURL(target) {
		return target
	}
	sum := sha256.Sum256([]byte(target))
	return "http://" + hex.EncodeToString(sum[:8]) + ".invalid/"
}

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
	case !isPlace(target):
		return errNoTarget
	case d.notices.cfg.Platform == nil:
		return errNoWorkspace
	}
	return nil
}
