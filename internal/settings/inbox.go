package settings

import (
	"os"
	"path/filepath"
)

// LoadInbox reads the settings of a process that keeps the inboxes of workspaces for an MCP host. It is [LoadChannel]
// without all that is codex's: that may be missing here, or set for another program. The token may also stand where the
// platform's own programs put it.
func LoadInbox(environ []string) (Settings, error) {
	vars := toMap(environ)
	s, problems := parse(vars, Rows())
	if len(problems) > 0 {
		return s, join(problems)
	}
	r := resolver{s: &s, vars: vars, host: osHost{}, channel: true}
	r.tokenOfFile()
	r.spaces()
	r.paths()
	s.TokenFile = ""
	s.AllowedNetworks, _ = networks(s.Networks)
	return s, join(r.problems)
}

// tokenOfFile has the token of a workspace that has none be the one that a file of CONFIGS_DIR holds.
func (r *resolver) tokenOfFile() {
	if r.s.WorkspaceToken.Set() || r.s.TokenFile != "" || r.s.Workspaces.Set() {
		return
	}
	file := filepath.Join(r.path("CONFIGS_DIR", r.s.ConfigsDir, r.configsDir), ".auth_token")
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
		r.s.TokenFile = file
	}
}
