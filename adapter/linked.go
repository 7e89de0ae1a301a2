package adapter

import (
	"path/filepath"
	"slices"
)

// linked are the links in what the operator trusts, where commands have a sandbox.
func (l Launch) linked(config map[string]any) (links []link) {
	for _, one := range l.links() {
		if level(config, l.trustedBy(one.names)) == "trusted" {
			links = append(links, one)
		}
	}
	return links
}

// links are those that there are, or have been, where commands have a sandbox.
func (l Launch) links() []link {
	if !l.Sandboxed {
		return nil
	}
	links := slices.Clone(l.Project.Links)
	for _, dir := range l.had {
		if !slices.ContainsFunc(links, func(one link) bool { return one.names[0] == dir }) {
			links = append(links, link{names: l.named(dir), path: filepath.Join(dir, ".codex"), gone: true})
		}
	}
	return links
}

// everLinked are the folders whose .codex has links or, as is noted, has had some, in what the operator
// trusts. Those that are trusted no more are dropped where that is known.
func (l Launch) everLinked(config map[string]any, noted []string, known bool) (dirs []string) {
	for _, dir := range noted {
		if !known || level(config, l.trustedBy(l.named(dir))) == "trusted" {
			dirs = append(dirs, dir)
		}
	}
	for _, one := range l.linked(config) {
		if !slices.Contains(dirs, one.names[0]) {
			dirs = append(dirs, one.names[0])
		}
	}
	return dirs
}

// named are all names of a folder that is noted by one.
func (l Launch) named(dir string) []string {
	for _, names := range l.Project.Way {
		if names[0] == dir {
			return names
		}
	}
	return []string{dir}
}

// relink looks at what is noted of links, and notes those that have come since, and those that this
// process has seen already.
func (l *Launch) relink(config map[string]any, seen []string) error {
	if l.note == "" {
		return nil
	}
	noted, err := l.noted()
	l.had = l.everLinked(config, union(noted.links, seen), false)
	if err == nil && len(l.had) > len(noted.links) {
		noted.links = l.had
		err = l.keep(noted)
	}
	return err
}

func union(some, more []string) []string {
	all := slices.Concat(some, more)
	slices.Sort(all)
	return slices.Compact(all)
}

// trustsAbove reports whether the operator trusts a folder above the work directory that brings settings.
func (l Launch) trustsAbove(config map[string]any) bool {
	return slices.ContainsFunc(l.Project.Folders, func(f Folder) bool { return level(config, l.trustedBy(f.Names)) == "trusted" }) || len(l.linked(config)) > 0
}

// inTheWay are the links in what the operator trusts and codex would go by.
func (l Launch) inTheWay(config map[string]any) []link {
	return slices.DeleteFunc(l.linked(config), func(one link) bool { return one.gone && !l.brings(one.names) })
}

func (l Launch) names() []string {
	if len(l.Project.Names) == 0 {
		return []string{l.WorkDir}
	}
	return l.Project.Names
}

// level is what is said of the first of the names of which anything is.
func level(config map[string]any, names []string) string {
	for _, name := range names {
		if level := textOf(tableOf(tableOf(config, "projects"), name), "trust_level"); level != "" {
			return level
		}
	}
	return ""
}

// trustedBy are the names by which codex trusts what a folder brings, which is the work directory or
// lies above it.
func (l Launch) trustedBy(names []string) []string {
	all := slices.Concat(names, l.Project.Root)
	if names[0] != l.names()[0] {
		all = slices.Concat(all, l.Project.Top, l.Project.Main)
	}
	return all
}

// brings reports whether codex would go by the .codex of a folder.
func (l Launch) brings(names []string) bool {
	if names[0] == l.names()[0] {
		return len(l.Project.Settles) > 0
	}
	return slices.ContainsFunc(l.Project.Folders, func(f Folder) bool { return f.Names[0] == names[0] })
}
