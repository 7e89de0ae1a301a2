package adapter

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// settled returns the names in dir/.codex that have a say in what codex does there, where the
// folder is trusted: its settings, its rules of what runs outside of the sandbox unasked.
func settled(dir string) (names []string) {
	entries, err := os.ReadDir(filepath.Join(dir, ".codex"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []string{".codex"} // a link, or what cannot be read
	}
	for _, entry := range entries {
		if !slices.Contains([]string{"skills", "prompts", "environments", ".gitignore", "README.md"}, entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	return names
}

// trust returns the arguments that say of the work directory what codex would otherwise
// write into the user's config.toml: the first thread in a git repository
// with a writable sandbox marks it as trusted there (seen on 0.169.0). One that is not
// trusted is so for a reason only, because codex then ignores AGENTS.md: settings that a
// folder brings could open the sandbox, and the user has chosen the folder and not them.
// Where the user has said something about the directory or one above it, that
// stands. The table is given inline: codex splits a dotted key at the dots in
// the path too.
func (l Launch) trust(config map[string]any) []string {
	level := "trusted"
	switch {
	case l.said(config):
		return nil
	case l.opens(config):
		level = "untrusted"
	}
	return override("projects", "{"+tomlString(l.WorkDir)+`={trust_level=`+tomlString(level)+`}}`)
}

// opens reports whether the work directory brings settings that could open the sandbox, and
// the user has not said that it may.
func (l Launch) opens(config map[string]any) bool {
	return l.Sandboxed && len(l.Project) > 0 && !l.said(config)
}

// said reports whether the user's own settings have the work directory or one above it among
// the projects.
func (l Launch) said(config map[string]any) bool {
	projects := tableOf(config, "projects")
	for dir := l.WorkDir; ; dir = filepath.Dir(dir) {
		if _, said := projects[dir]; said {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
