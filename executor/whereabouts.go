package executor

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// A place is a path that a question shows, and where it led when that was put: codex goes
// by the path, and until the answer comes a command of another turn may have put a link in
// the place of one of its folders.
type place struct {
	path, led string
	there     bool // something has that name
}

// whereabouts notes where paths lead, as the user sees it that codex runs as.
func (d *driver) whereabouts(paths []string) (places []place) {
	for _, path := range paths {
		if filepath.IsAbs(path) {
			places = append(places, place{path: path})
		}
	}
	_ = d.cfg.Child.User.Do(func() error { // a place that was not looked at has moved
		for i := range places {
			places[i].led = within.Real(places[i].path)
			_, err := os.Lstat(places[i].path)
			places[i].there = err == nil
		}
		return nil
	})
	return places
}

// home is the working directory, as a place.
func (d *driver) home() place {
	for _, p := range d.whereabouts([]string{d.cfg.Thread.Cwd}) {
		return p
	}
	return place{} // it is no path
}

// moved says which of the places leads elsewhere by now; empty if none does.
func (d *driver) moved(before []place) string {
	paths := make([]string, len(before))
	for i, p := range before {
		paths[i] = p.path
	}
	for i, now := range d.whereabouts(paths) {
		was := before[i]
		if was.led == "" || now.led == "" {
			return fmt.Sprintf(notFollowed, named(was.path))
		}
		if now.led != was.led {
			return fmt.Sprintf(movedAway, named(was.path), named(was.led), named(now.led))
		}
	}
	return ""
}

// notFollowed is what the sender of a message reads whose answer was about a place that is
// too far away to be found.
const notFollowed = "The answer was yes, but %s leads over too many links or folders. It was declined: have it asked again with a shorter way."

// movedAway is what the sender of a message reads whose answer came too late for its place.
const movedAway = "The answer was yes, but %s leads elsewhere than when that was asked: then to %s, now to %s. It was declined: look at who has changed that, and have it asked again."
