package adapter

import (
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// A Launch says how codex's app-server is started.
type Launch struct {
	Provider Provider
	Home     string       // CODEX_HOME
	Temp     Temp         // where it and its commands have their temp directories
	User     *asuser.User // that codex runs as, and that its home belongs to; nil is ours
	WorkDir  string       // where threads work; absolute
	Lean     bool         // without the features that [Lean] switches off
	Environ  []string
	// UserConfig is the text of Home/config.toml, or empty if there is none, and SystemConfig
	// that of the machine's.
	UserConfig, SystemConfig string
	// Project is what the work directory is as one of codex's.
	Project Project
	// Workspace says that the home is a workspace's: what its config.toml says of
	// model providers is left over, and does not count.
	Workspace bool
	// OwnTools says that codex gets the platform's tools from us: the MCP servers that
	// the home's config.toml has for them, for an interactive codex, are left out.
	OwnTools bool
	// Sandboxed says that a sandbox holds codex's commands, and so what codex runs by itself
	// must be nothing that they can write. Without, a message can still ask for one.
	Sandboxed bool
	// distrust is why the operator's trust of the work directory does not count; nil where it does.
	distrust *Problem
	note     string   // the file that notes what is trusted; empty for none
	had      []string // the folders whose .codex has had links, as it notes
}

// Args returns the arguments after "app-server". They hold no secret.
func (l Launch) Args() []string {
	config, _ := l.own()
	args := slices.Concat(l.folders(config), l.hidden(config), l.Provider.Overrides(), Always(), l.trust(config), l.markers(config), l.given(config), l.temps(config))
	if l.Workspace {
		args = append(args, l.leftovers()...)
	}
	if l.hasOwnTools() {
		args = append(args, l.servers(config)...)
	}
	if l.Lean {
		args = append(args, Lean()...)
	}
	return args
}

// hasOwnTools reports whether the platform's tools come from us.
func (l Launch) hasOwnTools() bool { return l.Workspace || l.OwnTools }

// BareEnv returns the whole environment of a codex that does nothing but say its version or
// try its sandbox: of [Launch.Env] what it takes to start, without a credential. Other processes
// of its user can read it.
func (l Launch) BareEnv() []string {
	return slices.DeleteFunc(l.Env(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !bare(name)
	})
}

// login reads the login in codex's home.
func (l Launch) login() (Login, error) {
	return asuser.Value(l.User, func() (login Login, err error) {
		login, _, err = ReadLogin(l.Home)
		return login, err
	})
}
