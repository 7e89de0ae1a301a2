package adapter

import (
	"path/filepath"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// mostDocument is how large a file of instructions may be that a folder has for codex. Of all of
// them together it takes 32 KiB, but it reads each whole before, up to 512 MiB, for each thread
// that is loaded, each subagent, and each turn that says where it works (seen on 0.169.0). A
// command can make one that takes nothing of the disk.
const mostDocument = 1 << 20

// Oversized returns a file of instructions that is too large, in a folder or above it; empty if
// there is none. codex looks no higher than the repository's root, which is not ours to find: a
// command can make another one meanwhile.
func (l Launch) Oversized(dir string) (found string) {
	_ = l.User.Do(func() error { // what its user cannot see codex does not read
		names := append(l.now().documents(), l.documents()...) // codex was told at its start which folders are trusted
		slices.Sort(names)
		names = slices.Compact(names)
		for at := dir; filepath.IsAbs(at) && found == ""; at = filepath.Dir(at) {
			for _, name := range names {
				path := filepath.Join(at, name)
				if within.Exceeds(path, mostDocument) {
					found = path
				}
			}
			if at == filepath.Dir(at) {
				break
			}
		}
		return nil
	})
	return found
}

// documents are the names of files of instructions that codex reads in a folder: its own, and for
// where there is none of these those that the operator names, or the settings of a folder that is
// trusted.
func (l Launch) documents() []string {
	config, _ := l.own()
	names := append([]string{"AGENTS.override.md", "AGENTS.md"}, fallbacks(config)...)
	for folder := range l.trustedFolders(config) {
		names = append(names, fallbacks(folder)...)
	}
	return names
}

func fallbacks(config map[string]any) (names []string) {
	list, _ := config["project_doc_fallback_filenames"].([]any)
	for _, name := range list {
		if name, ok := name.(string); ok {
			names = append(names, name)
		}
	}
	return names
}
