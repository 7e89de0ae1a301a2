package adapter

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// managedConfig is one that codex reads above all others (seen on 0.169.0).
const managedConfig = "/etc/codex/managed_config.toml"

// codex starts an MCP server that names no folder in that of the thread, outside of its
// sandbox, and what many of them run is looked for there first: npx takes the programs of a
// node_modules, python3 -m any file of that name (seen on 0.169.0). Commands can write those.
// So these servers are started in codex's home, and so is the line of a shell that makes the headers of
// one that is called over HTTP (http_headers_helper). The program of notify, and a folder that is
// given as a relative path, go by where codex itself is started: see [Launch.Dir].

// An ownServer is an MCP server of the operator's own that codex starts as a program, or calls at a url
// with the headers that its helper makes.
type ownServer struct {
	name, command, cwd string
	url, helper        string
	env                map[string]any
}

// ownServers are in the order of their names, those of folders that the operator trusts among them.
func (l Launch) ownServers(config map[string]any) (servers []ownServer) {
	all := tableOf(l.withFolders(config, "mcp_servers"), "mcp_servers")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		one := tableOf(all, name)
		s := ownServer{name, textOf(one, "command"), textOf(one, "cwd"), textOf(one, "url"), textOf(one, "http_headers_helper"), tableOf(one, "env")}
		if s.command != "" || s.helper != "" {
			servers = append(servers, s)
		}
	}
	return servers
}

// loads are the variables that are set for a server alone and lead it to what lies in dirs.
func (s ownServer) loads(dirs []string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(s.env)) {
		if value := textOf(s.env, name); within.Beside(dirs, name, value) != value {
			names = append(names, name)
		}
	}
	return names
}

// Moved are the names of the MCP servers that are started in codex's home for want of a
// folder of their own.
func (l Launch) Moved() (names []string) {
	config, _ := l.own()
	for _, s := range l.moved(config) {
		names = append(names, s.name)
	}
	return names
}

func (l Launch) moved(config map[string]any) []ownServer {
	if !l.Sandboxed {
		return nil
	}
	return slices.DeleteFunc(l.ownServers(config), func(s ownServer) bool { return s.command == "" || s.cwd != "" })
}

// helped is the line of a shell that makes the headers, which goes elsewhere first.
func (s ownServer) helped(dir string) string {
	return "cd '" + strings.ReplaceAll(dir, "'", `'\''`) + "' || exit; " + s.helper
}

// folders returns the arguments that say where these are started. The command stands with it
// because codex takes no server without one, and reads its configuration anew for each
// thread: without, none would start any more once a server was removed. As one table it has
// names with dots in it, which a key would be split at, and takes back what stands before it.
func (l Launch) folders(config map[string]any) []string {
	moved := l.moved(config)
	if len(moved) == 0 {
		return nil
	}
	tables := make([]string, 0, len(moved))
	for _, s := range moved {
		tables = append(tables, tomlString(s.name)+"="+tomlTable([]tomlPair{{"command", s.command}, {"cwd", l.Home}}))
	}
	return override("mcp_servers", "{"+strings.Join(tables, ",")+"}")
}

// doubts are what the work directory has for codex that it does not take, and, in a sandbox,
// what the operator's own settings have codex run outside of it in folders that commands write.
func (l Launch) doubts() (doubts []Warning) {
	config, doubts := l.own()
	if !l.Sandboxed {
		return l.brought(config)
	}
	doubts = append(doubts, l.brought(config)...)
	doubt := func(format string, args ...any) {
		doubts = append(doubts, Warning{File: filepath.Join(l.Home, "config.toml"), Text: fmt.Sprintf(format, args...)})
	}
	writes := slices.Concat(l.fixedRoots(), l.Written())
	dirs := within.Resolve(writes...)
	written := func(path string) bool {
		if path == "" {
			return false
		}
		_, inside := dirs.Holding(l.path(path))
		return inside
	}
	if _, err := os.Lstat(managedConfig); err == nil {
		doubts = append(doubts, Warning{File: managedConfig, Text: "codex goes by this file of the machine's above all that the runtime says: what it has codex run (mcp_servers, notify), and whom it has codex trust, is not looked at here"})
	}
	const there = "where commands can put what codex then runs outside of its sandbox"
	for _, s := range l.ownServers(config) {
		if s.helper != "" && strings.Contains(s.name, ".") {
			doubt("the http_headers_helper of the MCP server %s is run in the folder of the conversation, %s: call the server by a name without a dot", s.name, there)
		}
		if s.cwd != "" && written(s.cwd) {
			doubt("the MCP server %s is started in %s, %s: give it another cwd", s.name, s.cwd, there)
		}
		if written(l.program(s.command)) {
			doubt("the program of the MCP server %s is %s, %s: keep it elsewhere", s.name, s.command, there)
		}
		for _, name := range s.loads(writes) {
			doubt("the %s of the MCP server %s leads to places %s, or by a path that is not absolute: name others in its env", name, s.name, there)
		}
	}
	for name := range l.early(config) {
		doubt("the %s that shell_environment_policy gives commands leads to places %s, or by a path that is not absolute: commands are given the rest of it", name, there)
	}
	for _, key := range []string{"sqlite_home", "log_dir"} {
		if at := textOf(config, key); written(at) {
			doubt("%s is %s, where commands can write what codex goes by: name another", key, at)
		}
	}
	if notify, _ := config["notify"].([]any); len(notify) > 0 {
		if program, _ := notify[0].(string); written(l.program(program)) {
			doubt("the program of notify is %s, %s: keep it elsewhere", program, there)
		}
	}
	if trusted(config) {
		doubt("codex runs hooks in the folder of the conversation, %s: have each of them name its programs by absolute paths, or go elsewhere first (cd)", there)
	}
	return few(filepath.Join(l.Home, "config.toml"), doubts)
}

// program is where codex finds a program, which may lead elsewhere by a link; empty for a name that is
// nowhere in its PATH.
func (l Launch) program(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	for _, dir := range filepath.SplitList(lookup(l.Env())("PATH")) {
		at := filepath.Join(dir, name)
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return at
		}
	}
	return ""
}

// path is one of the configuration as codex takes it.
func (l Launch) path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(l.Dir(), path)
}

// trusted reports whether codex runs any hook: it runs those that its user has trusted.
func trusted(config map[string]any) bool {
	for _, state := range tableOf(tableOf(config, "hooks"), "state") {
		if one, ok := state.(map[string]any); ok && textOf(one, "trusted_hash") != "" {
			return true
		}
	}
	return false
}
