package adapter

import (
	"fmt"
	"strings"
	"time"
)

// An MCPServer is one that codex starts for its threads.
type MCPServer struct {
	Name    string // a bare key of TOML
	Command string
	Args    []string
	Env     []string // NAME=value; shown to every user of the machine, so no secrets

	Pass []string // variables of codex's own environment that it gets, too

	Start    time.Duration // how long it may take to start
	Call     time.Duration // and a call of one of its tools
	Disabled []string      // tools that codex is not told of
}

// Overrides returns the arguments that make codex start the server. Its tools are
// ours: they are called side by side, and without asking anybody, because a question
// would only be refused where nobody is asked, and asked about each call elsewhere (seen
// on 0.169.0). The environment is given in full: codex passes hardly any of its own on.
func (m MCPServer) Overrides() []string {
	env := make([]tomlPair, 0, len(m.Env))
	for _, entry := range m.Env {
		name, value, _ := strings.Cut(entry, "=")
		env = append(env, tomlPair{name, value})
	}
	return override("mcp_servers."+m.Name, "{"+strings.Join([]string{
		"command=" + tomlString(m.Command),
		"args=" + tomlList(m.Args),
		"env=" + tomlTable(env),
		"env_vars=" + tomlList(m.Pass),
		fmt.Sprintf("startup_timeout_sec=%d", int(m.Start.Seconds())),
		fmt.Sprintf("tool_timeout_sec=%d", int(m.Call.Seconds())),
		`default_tools_approval_mode="approve"`,
		"supports_parallel_tool_calls=true",
		"disabled_tools=" + tomlList(m.Disabled),
	}, ",")+"}")
}

func tomlList(values []string) string {
	quoted := make([]string, 0, len(values))
	for _, v := range values {
		quoted = append(quoted, tomlString(v))
	}
	return "[" + strings.Join(quoted, ",") + "]"
}
