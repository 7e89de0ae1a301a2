package adapter

import (
	"maps"
	"slices"
	"strings"
)

// ThreadConfig is the configuration of a thread that is loaded now, above that which codex was
// started with; nil is none. codex reads its own configuration, and that of the work directory,
// anew with each thread. Whether the directory is trusted, and where servers are started, it was
// told at its start. A branch that was checked out since then can have brought settings, and
// either file another server. Where .codex itself is another since then, not even the user's word
// has codex read it.
func (s *Setup) ThreadConfig(started Launch) map[string]any {
	now := started.now()
	config, _ := now.own()
	s.mu.Lock()
	err := now.relink(config, s.linked)
	s.linked = now.had
	s.mu.Unlock()
	if err != nil {
		s.cfg.Logger.Error("which .codex has links cannot be noted; this process knows it, and tries again", "err", notedBy(err))
	}
	warnings := now.brought(config)
	change := s.changed(now)
	if change == replaced {
		warnings = []Warning{{File: now.settingsDir(), Text: "it is not the one that stood there when codex was started, and commands that run can write it, " +
			"so codex reads neither this nor AGENTS.md there. codex is started again as soon as no turn runs, and looks at it anew"}}
	}
	s.mu.Lock()
	s.tell(&s.opened, warnings)
	s.mu.Unlock()
	if (change == replaced || now.dotted(config, started.Moved())) && s.cfg.Replaced != nil {
		s.cfg.Replaced()
	}
	above := map[string]any{}
	switch {
	case change != kept || now.opens(config):
		above["projects"] = now.projects(config, slices.Concat(started.names(), now.names())...)
	case len(now.distrusted()) > 0:
		above["projects"] = now.projects(config)
	}
	maps.Copy(above, now.added(config, started.Moved()))
	if now.Sandboxed {
		for name, value := range now.early(config) {
			above["shell_environment_policy.set."+name] = value
		}
	}
	if len(above) == 0 {
		return nil
	}
	return above
}

// now is a launch with the configuration as it is now. What cannot be read is as it was.
func (l Launch) now() Launch {
	now := l
	if err := now.readConfig(); err != nil {
		now.UserConfig, now.SystemConfig = l.UserConfig, l.SystemConfig
	}
	return now
}

// Untrusted is the configuration of a thread in which nothing counts that the work directory brings, or
// a folder above it, also what comes there while it is begun.
func (l Launch) Untrusted() map[string]any {
	config, _ := l.own()
	all := l.added(config, l.Moved())
	not := l.names()
	for _, folder := range l.Project.Folders {
		not = slices.Concat(not, folder.Names)
	}
	all["projects"] = l.projects(config, not...)
	return all
}

// projects is the table of a thread, which takes back all of the one that codex was started with; the
// names are not trusted in any case.
func (l Launch) projects(config map[string]any, not ...string) map[string]any {
	levels, table := l.levels(config), map[string]any{}
	for _, name := range not {
		levels[name] = untrusted
	}
	for name, level := range levels {
		table[name] = map[string]any{"trust_level": level}
	}
	return table
}

// dotted reports whether a server that is not among known has a dot in its name: its settings can be
// said at codex's start alone.
func (l Launch) dotted(config map[string]any, known []string) bool {
	return slices.ContainsFunc(l.moved(config), func(s ownServer) bool { return strings.Contains(s.name, ".") && !slices.Contains(known, s.name) })
}

// added are the settings by which servers that are not among known are started in codex's home, as
// by [Launch.folders]. Each is a path of its own, and a table of all would take back what codex was
// started with; so it has to be a name without a dot.
func (l Launch) added(config map[string]any, known []string) map[string]any {
	all := map[string]any{}
	for _, s := range l.moved(config) {
		if slices.Contains(known, s.name) || strings.Contains(s.name, ".") {
			continue
		}
		one := map[string]any{"command": s.command, "cwd": l.Home}
		if l.hasOwnTools() && platformServer.MatchString(s.name) {
			one["enabled"] = false
		}
		all["mcp_servers."+s.name] = one
	}
	for _, s := range l.ownServers(config) { // not among codex's arguments, which all users read: there are credentials in it
		if l.Sandboxed && s.helper != "" && !strings.Contains(s.name, ".") {
			all["mcp_servers."+s.name] = map[string]any{"url": s.url, "http_headers_helper": s.helped(l.Home)}
		}
	}
	return all
}
