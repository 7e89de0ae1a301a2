package adapter

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// trust returns the arguments that say whether the work directory is trusted. They are there
// in every case: where codex finds nothing, the first thread with a writable sandbox
// marks the folder's repository as trusted in the user's config.toml, which would count as the
// user's word from then on (seen on 0.169.0). A folder that is not trusted is so for
// a reason only, because codex then ignores AGENTS.md: settings that a folder brings could
// open the sandbox, and the user has chosen the folder and not them. That goes without
// a sandbox of the user's, too: messages may ask for one. The table is given inline: codex
// splits a dotted key at the dots in the path too.
func (l Launch) trust(config map[string]any) []string {
	levels := l.levels(config)
	entries := make([]string, 0, len(levels))
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		entries = append(entries, tomlString(name)+`={trust_level=`+tomlString(levels[name])+`}`)
	}
	return override("projects", "{"+strings.Join(entries, ",")+"}")
}

// levels say of folders whether codex trusts them: of the work directory, and of those above it that
// would be trusted but for their links.
func (l Launch) levels(config map[string]any) map[string]string {
	level := cmp.Or(l.said(config), "trusted")
	if l.opens(config) {
		level = untrusted
	}
	levels := map[string]string{}
	for _, name := range l.names() {
		levels[name] = level
	}
	for _, name := range l.distrusted() {
		levels[name] = untrusted
	}
	return levels
}

const untrusted = "untrusted"

// distrusted are the names of the folders above the work directory whose links take the trust from them,
// also where it is not known whether they have it.
func (l Launch) distrusted() (names []string) {
	for _, one := range l.links() {
		if one.names[0] != l.names()[0] {
			names = append(names, one.names...)
		}
	}
	return names
}

// opens reports whether the work directory brings settings that could open the sandbox, and
// the user has not said whether it may.
func (l Launch) opens(config map[string]any) bool {
	return len(l.Project.Settles) > 0 && l.said(config) == ""
}

// brought warns of what the work directory brings for nothing.
func (l Launch) brought(config map[string]any) (warnings []Warning) {
	for _, one := range l.inTheWay(config) {
		warnings = append(warnings, Warning{File: filepath.Dir(one.path), Text: one.problem(l.note).Error()})
	}
	switch {
	case !l.opens(config):
		return warnings
	case l.distrust != nil:
		return append(warnings, Warning{File: l.settingsDir(), Text: l.distrust.Error()})
	case len(warnings) > 0:
		return warnings
	}
	return []Warning{{File: l.settingsDir(), Text: fmt.Sprintf("%s: what a folder brings does not settle what codex may do, "+
		"so codex reads neither this nor AGENTS.md there. If you trust it, and have looked at it while no runtime runs, say so in %s: [projects.%s] with trust_level = \"trusted\"",
		strings.Join(l.Project.Settles, ", "), filepath.Join(l.Home, "config.toml"), tomlString(l.WorkDir))}}
}

// said returns what the user's own settings say of the work directory, or of the root of
// its repository; empty if that is nothing, or was said of another .codex.
func (l Launch) said(config map[string]any) string {
	own := func(one link) bool { return one.names[0] == l.names()[0] }
	if l.distrust != nil || slices.ContainsFunc(l.linked(config), own) {
		return ""
	}
	return level(config, l.trustedBy(l.names()))
}
