package sandbox

import (
	"os"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/ask"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// Whereabouts notes where paths lead, as the user sees it that codex runs as.
func (g *Guard) Whereabouts(paths []string) (places []ask.Place) {
	for _, path := range paths {
		if filepath.IsAbs(path) {
			places = append(places, ask.Place{Path: path})
		}
	}
	_ = g.terms.User.Do(func() error { // a place that was not looked at has moved
		for i := range places {
			places[i].Led = within.Real(places[i].Path)
			_, err := os.Lstat(places[i].Path)
			places[i].There = err == nil
		}
		return nil
	})
	return places
}

// Home is the working directory, as a place.
func (g *Guard) Home() ask.Place {
	for _, p := range g.Whereabouts([]string{g.terms.Cwd}) {
		return p
	}
	return ask.Place{} // it is no path
}
