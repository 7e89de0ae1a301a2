package codex

import (
	"os"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/ask"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// whereabouts notes where paths lead, as the user sees it that codex runs as.
func (d *Driver) whereabouts(paths []string) (places []ask.Place) {
	for _, path := range paths {
		if filepath.IsAbs(path) {
			places = append(places, ask.Place{Path: path})
		}
	}
	_ = d.cfg.Child.User.Do(func() error { // a place that was not looked at has moved
		for i := range places {
			places[i].Led = within.Real(places[i].Path)
			_, err := os.Lstat(places[i].Path)
			places[i].There = err == nil
		}
		return nil
	})
	return places
}

// home is the working directory, as a place.
func (d *Driver) home() ask.Place {
	for _, p := range d.whereabouts([]string{d.cfg.Thread.Cwd}) {
		return p
	}
	return ask.Place{} // it is no path
}
