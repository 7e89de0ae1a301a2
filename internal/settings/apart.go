package settings

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// ownWorkDir is where codex works if the current directory will not do.
const ownWorkDir = "~/codex-work"

// apart keeps what codex's commands may write in their sandbox away from what they must
// not: with its state, configuration and login below the working directory, a command
// could change what this process, or codex, does outside of the sandbox. Without a sandbox
// there is nothing to keep apart, but for messages that ask for one.
func (r *resolver) apart() {
	s := r.s
	s.UserHome = s.User.HomeIn(func(name string) string { return r.vars[name] })
	if s.UserHome == "" { // shells take the account's then
		s.UserHome = r.host.home()
	}
	if s.Sandbox != "workspace-write" {
		s.Exposed = r.exposed()
		return
	}
	if _, inside := r.within(s.WorkDir); inside && r.vars["RUNTIME_WORKDIR"] == "" {
		at := s.WorkDir
		s.WorkDir, s.MadeWorkDir = r.path("RUNTIME_WORKDIR", ownWorkDir, nil), true
		r.warn("RUNTIME_WORKDIR", "codex works in "+s.WorkDir+" and not in "+at+
			", where its commands could write this runtime's state or codex's login; start it in the folder of a project, or set RUNTIME_WORKDIR")
	}
	if p, inside := r.within(s.WorkDir); inside {
		r.fail(p.Name, fmt.Sprintf("%s, %s, lies in the working directory %s, which codex's commands write", p.Name, p.Path, s.WorkDir),
			fmt.Sprintf("set RUNTIME_WORKDIR to the folder of your project, or %s to a directory outside of it", p.Name))
	}
	r.loaded()
}

// exposed says what a sandbox in which commands write the working directory would let them
// write that they must not; empty if nothing.
func (r *resolver) exposed() string {
	if p, inside := r.within(r.s.WorkDir); inside {
		return fmt.Sprintf("%s, %s, lies in the working directory %s (RUNTIME_WORKDIR)", p.Name, p.Path, r.s.WorkDir)
	}
	for _, name := range slices.Sorted(maps.Keys(r.vars)) {
		if within.Beside([]string{r.s.WorkDir}, name, r.vars[name]) != r.vars[name] {
			return fmt.Sprintf("%s leads codex to programs in the working directory %s (RUNTIME_WORKDIR), or by a path that is not absolute", name, r.s.WorkDir)
		}
	}
	return ""
}

// loaded warns about variables by which codex would run what commands have written.
func (r *resolver) loaded() {
	dirs := []string{r.s.WorkDir}
	for _, name := range slices.Sorted(maps.Keys(r.vars)) {
		value := r.vars[name]
		rest := within.Beside(dirs, name, value)
		switch {
		case rest == value:
		case name == "PATH":
			r.warn(name, "codex runs programs of its own by PATH, outside of its sandbox, and commands could replace those in "+r.s.WorkDir+
				" and in what is no absolute path: codex and its commands are given the rest of PATH")
		default:
			r.warn(name, fmt.Sprintf("what codex runs outside of its sandbox would load what %s names, and commands could replace what lies in %s and what is no absolute path: codex itself is given %s%s",
				name, r.s.WorkDir, pick(rest == "", "no "+name, name+"="+rest),
				pick(within.Early(name), "", ". Its commands have all of it, also those that a \"yes\" lets out of the sandbox: let it lead elsewhere where that matters")))
		}
	}
}

// A Place is a file or directory that a variable names.
type Place = within.Place

// Apart are the places that codex's commands must not write in their sandbox.
func (s Settings) Apart() []Place {
	all := []Place{
		{Name: "CODEX_HOME", Path: s.CodexHome},
		{Name: "RUNTIME_STATE_DIR", Path: s.StateDir},
		{Name: "CODEX_CHANNEL_MOLECULE_STATE_DIR", Path: s.ChannelDir},
		{Name: "WORKSPACE_CONFIG_PATH", Path: s.ConfigFile},
		{Name: "MOLECULE_WORKSPACE_TOKEN_FILE", Path: s.TokenFile},
		{Name: "RUNTIME_MACHINE_TOKEN_FILE", Path: s.MachineTokenFile},
		{Name: "RUNTIME_MACHINE_CERT", Path: s.MachineCert},
		{Name: "RUNTIME_MACHINE_KEY", Path: s.MachineKey},
		{Name: "RUNTIME_DEBUG_WIRE", Path: s.DebugWire},
		{Name: "TMPDIR", Path: s.TempDir}, // a root of the sandbox is made there, and must stay what it is
		{Name: "HOME", Path: s.UserHome},  // shells run files there, those of commands that were let out of the sandbox, too
	}
	if s.InWorkspace() {
		all = append(all, Place{Name: "CONFIGS_DIR", Path: s.ConfigsDir}, Place{Name: "PLUGINS_DIR", Path: s.PluginsDir})
	}
	for _, space := range s.Spaces {
		all = append(all, Place{Name: "MOLECULE_WORKSPACES", Path: space.TokenFile})
	}
	all = append(all, files("HOME", s.UserHome, ".profile", ".bashrc", ".bash_profile", ".bash_login", ".zshenv", ".zprofile", ".zshrc", ".zlogin")...)
	all = append(all, files("CODEX_HOME", s.CodexHome, "config.toml", "auth.json", "hooks.json", "rules", "environments.toml", ".env")...)
	return slices.DeleteFunc(all, func(p Place) bool { return p.Path == "" })
}

// files are those in a home that may be links to elsewhere, as to a folder of dotfiles, and
// decide what codex runs outside of its sandbox.
func files(home, dir string, names ...string) (places []Place) {
	for _, name := range names {
		if dir != "" {
			places = append(places, Place{Name: home, Path: filepath.Join(dir, name)})
		}
	}
	return places
}

// within finds one of the places that commands must not write below dir.
func (r *resolver) within(dir string) (Place, bool) {
	for _, p := range r.s.Apart() {
		if r.below(dir, p.Path) {
			return p, true
		}
	}
	return Place{}, false
}

func (r *resolver) below(dir, path string) bool { return r.host.within(dir, path) }
