package adapter

import (
	"iter"
	"path/filepath"
	"slices"
	"strings"
)

// Written are the directories, beside the work directory and the temp directory, that commands write
// as the configuration is now: by the operator's own, and by that of folders that are trusted.
func (l Launch) Written() []string {
	config, _ := l.own()
	home := lookup(l.Env())("HOME")
	var roots []string
	for _, root := range slices.Concat(namedRoots(config), l.roots(config)) {
		if below, ok := strings.CutPrefix(root, "~"); ok && home != "" && (below == "" || below[0] == '/') {
			root = filepath.Join(home, below)
		}
		if filepath.IsAbs(root) && !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	return roots
}

// namedRoots are these as codex takes them: in ~ too.
func namedRoots(config map[string]any) (roots []string) {
	all, _ := tableOf(config, "sandbox_workspace_write")["writable_roots"].([]any)
	for _, one := range all {
		if root, ok := one.(string); ok {
			roots = append(roots, root)
		}
	}
	return roots
}

// A Folder is one on the way from the root of the work directory's repository to that itself,
// with the settings that it brings.
type Folder struct {
	Names  []string // as in [Project]
	Dir    string   // that its relative paths lead from
	Config string
}

// roots are those that codex would let commands write.
func (l Launch) roots(config map[string]any) []string { return namedRoots(l.sandbox(config)) }

// Network reports whether commands have the network in their sandbox where they may write, as the
// configuration says it now. It is not known where that cannot be read.
func (l Launch) Network() (given, known bool) {
	config, unread := l.own()
	given = tableOf(l.sandbox(config), "sandbox_workspace_write")["network_access"] == true
	return given, len(unread) == 0
}

// sandbox is a configuration with no more than what codex takes of the sandbox.
func (l Launch) sandbox(config map[string]any) map[string]any {
	return l.withFolders(config, "sandbox_workspace_write")
}

// withFolders is a configuration with no more than a table of it: the operator's, or what a folder
// that is trusted has in its place, the nearest last.
func (l Launch) withFolders(config map[string]any, table string) map[string]any {
	all := map[string]any{table: map[string]any{}}
	merge(tableOf(all, table), tableOf(config, table))
	for folder := range l.trustedFolders(config) {
		merge(tableOf(all, table), tableOf(folder, table))
	}
	return all
}

// trustedFolders are the settings of the folders that the operator's trusts, the nearest last.
func (l Launch) trustedFolders(config map[string]any) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		linked := l.linked(config)
		for _, folder := range l.Project.Folders {
			if l.distrust != nil && folder.Dir == l.settingsDir() {
				continue
			}
			isFolders := func(one link) bool { return one.names[0] == folder.Names[0] }
			if level(config, l.trustedBy(folder.Names)) != "trusted" || slices.ContainsFunc(linked, isFolders) {
				continue
			}
			read, err := readTOML(folder.Config)
			if err != nil { // codex complains
				continue
			}
			fromFolder(read, folder.Dir)
			if !yield(read) {
				return
			}
		}
	}
}
