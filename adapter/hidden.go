package adapter

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// The permission profiles that codex is given in place of its plain sandboxes.
const (
	ProfileReadOnly       = "runtime-read-only"
	ProfileWorkspaceWrite = "runtime-workspace-write"
)

// systemRules are the machine's rules of commands, beside those in codex's home.
const systemRules = "/etc/codex/rules"

// Register is where codex's sandbox notes, in TMPDIR, what it has mounted: no command
// begins while another process holds the lock in it.
func Register(temp string, uid int) string {
	return filepath.Join(temp, fmt.Sprintf("codex-bwrap-synthetic-mount-targets-%d", uid))
}

// Hides reports whether codex's commands cannot open what codex itself lives by: its databases
// and locks, of which reading is enough to lock them and so to hold up all of codex, and its
// logins. That takes permission profiles, and with one that denies anything codex lets no command
// out of its sandbox any more, neither by a yes, which then opens no network, nor by
// a rule (seen on 0.169.0). So it is done where nobody is asked, and no rules stand.
func (l Launch) Hides() bool {
	config, _ := l.own()
	// In a path these would stand for others.
	return l.Unasked && !l.Rules && l.Temp != "" && !strings.ContainsAny(strings.Join(append(l.homes(config), l.Temp), ""), `*?[]{}!\`)
}

// profiles are the arguments that give codex the permission profiles.
func (l Launch) profiles(config map[string]any) []string {
	if !l.Hides() {
		return nil
	}
	hidden := l.hidden(config)
	write := maps.Clone(hidden)
	write[":slash_tmp"] = "read"
	network := false
	if l.Sandboxed { // a message's own, under danger-full-access, has nothing of the operator's
		own := tableOf(config, "sandbox_workspace_write")
		for _, root := range writableRoots(config) {
			write[root] = "write"
		}
		if without, _ := own["exclude_tmpdir_env_var"].(bool); without {
			write[":tmpdir"] = "read"
		}
		network, _ = own["network_access"].(bool)
	}
	var args []string
	if _, chosen := config["default_permissions"]; !chosen { // codex takes no profiles without; threads name theirs
		args = override("default_permissions", tomlString(ProfileReadOnly))
	}
	return slices.Concat(args,
		override("permissions."+ProfileReadOnly, profile(":read-only", hidden, false)),
		override("permissions."+ProfileWorkspaceWrite, profile(":workspace", write, network)))
}

// profile is one in TOML. Patterns are looked for in their own folder only.
func profile(extends string, files map[string]string, network bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{extends=%s,network={enabled=%t},filesystem={glob_scan_max_depth=1", tomlString(extends), network)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, ",%s=%s", tomlString(path), tomlString(files[path]))
	}
	return b.String() + "}}"
}

// hidden are the places that commands cannot open.
func (l Launch) hidden(config map[string]any) map[string]string {
	paths, _ := asuser.Value(l.User, func() (paths []string, err error) {
		for _, name := range []string{"auth.json", ".credentials.json", "thread-writer-locks"} {
			paths = append(paths, leadsTo(filepath.Join(l.Home, name)))
		}
		for _, home := range l.homes(config) {
			paths = append(paths, filepath.Join(leadsTo(home), "*.sqlite*"))
		}
		return append(paths, Register(leadsTo(l.Temp), l.uid())), nil
	})
	hidden := map[string]string{}
	for _, path := range paths {
		hidden[path] = "deny"
	}
	return hidden
}

// homes are where codex may keep its databases.
func (l Launch) homes(config map[string]any) []string {
	homes := []string{l.Home}
	for _, dir := range []string{textOf(config, "sqlite_home"), lookup(l.Environ)("CODEX_SQLITE_HOME")} {
		if dir != "" {
			homes = append(homes, l.path(dir))
		}
	}
	return homes
}

func (l Launch) uid() int {
	if l.User != nil {
		return int(l.User.UID)
	}
	return os.Getuid()
}

// leadsTo is where path really is, as far as there is anything: the sandbox cannot hide a link,
// nor what lies behind one.
func leadsTo(path string) string {
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(leadsTo(dir), filepath.Base(path))
	}
	return path
}

// hasRules reports whether rules of commands stand in dir.
func hasRules(dir string) bool {
	found, err := filepath.Glob(filepath.Join(dir, "*.rules"))
	return err != nil || len(found) > 0
}
