package ask

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// A Place is a path that a question shows, and where it led when that was put: codex goes
// by the path, and until the answer comes a command of another turn may have put a link in
// the place of one of its folders.
type Place struct {
	Path  string // absolute
	Led   string // empty if it leads too far
	There bool   // something has that name
}

// Moved says which of the places leads elsewhere by now; empty if none does.
func (p Posed) Moved(lead func(paths []string) []Place) string {
	paths := make([]string, len(p.Places))
	for i, at := range p.Places {
		paths[i] = at.Path
	}
	for i, now := range lead(paths) {
		was := p.Places[i]
		if was.Led == "" || now.Led == "" {
			return fmt.Sprintf(notFollowed, brief.Named(was.Path))
		}
		if now.Led != was.Led {
			return fmt.Sprintf(movedAway, brief.Named(was.Path), brief.Named(was.Led), brief.Named(now.Led))
		}
	}
	return ""
}

// notFollowed is what the sender of a message reads whose answer was about a place that is
// too far away to be found.
const notFollowed = "The answer was yes, but %s leads over too many links or folders. It was declined: have it asked again with a shorter way."

// movedAway is what the sender of a message reads whose answer came too late for its place.
const movedAway = "The answer was yes, but %s leads elsewhere than when that was asked: then to %s, now to %s. It was declined: look at who has changed that, and have it asked again."

// leads has data say which of the places lead elsewhere than their names do: what is allowed
// happens there. What lies in the working directory by its name does so behind a link to that,
// too, which is the operator's.
func (d *draft) leads(data map[string]any, places []Place) {
	var leads []any
	for _, at := range places {
		if at.Led != "" && at.Led != d.straight(at.Path) {
			leads = append(leads, map[string]any{"path": at.Path, "to": at.Led})
		}
	}
	if len(leads) > mostChanges {
		leads, d.cut = leads[:mostChanges], true
	}
	if len(leads) > 0 {
		data["leads"] = d.value(leads)
	}
}

// straight is where a path leads that no link below the working directory leads elsewhere.
func (d *draft) straight(path string) string {
	if below, err := filepath.Rel(d.Home.Path, path); err == nil && filepath.IsLocal(below) {
		return filepath.Join(d.Home.Led, below)
	}
	return filepath.Clean(path)
}

// folders are the places of files, in fewer of them: their folders, and those files that do not
// lie where their folders lead.
func (d *draft) folders(files []Place) []Place {
	led := map[string]string{}
	for _, f := range files {
		led[filepath.Dir(f.Path)] = ""
	}
	folders := d.look(slices.Collect(maps.Keys(led))...)
	for _, f := range folders {
		led[f.Path] = f.Led
	}
	return append(folders, slices.DeleteFunc(slices.Clone(files), func(f Place) bool {
		return f.Led == filepath.Join(led[filepath.Dir(f.Path)], filepath.Base(f.Path))
	})...)
}
