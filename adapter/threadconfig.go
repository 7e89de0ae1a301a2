package adapter

import "slices"

// ThreadConfig is the configuration that a thread is loaded with by now, above that which codex
// was started with; nil is none. codex reads its own configuration, and that of the work directory,
// anew with each thread, and goes by what it was told at its start of whether the directory is
// trusted and where servers are started. Since then a branch that was checked out can have brought
// settings, and either file another server.
func (s *Setup) ThreadConfig(started Launch) map[string]any {
	now := started
	_ = now.readConfig() // what cannot be read says nothing
	config, _ := now.own()
	s.mu.Lock()
	s.tell(&s.opened, now.brought(config))
	s.mu.Unlock()
	above := map[string]any{}
	if now.opens(config) {
		above["projects"] = now.untrusted(started)
	}
	if servers := now.moved(config); len(servers) > 0 {
		above["mcp_servers"] = now.placed(servers)
	}
	if len(above) == 0 {
		return nil
	}
	return above
}

// untrusted is the table of projects by which the work directory is not trusted, by whatever name.
func (l Launch) untrusted(started Launch) map[string]any {
	projects := map[string]any{}
	for _, name := range slices.Concat(started.names(), l.names()) {
		projects[name] = map[string]any{"trust_level": "untrusted"}
	}
	return projects
}

// placed is the table of servers by which these are started in codex's home, as in [Launch.folders].
func (l Launch) placed(servers []ownServer) map[string]any {
	table := map[string]any{}
	for _, s := range servers {
		table[s.name] = map[string]any{"command": s.command, "cwd": l.Home}
	}
	return table
}
