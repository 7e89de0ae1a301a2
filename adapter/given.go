package adapter

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// given are the arguments that give commands back what codex itself has not: git, and the
// variables that lead to what they write.
func (l Launch) given(config map[string]any) (args []string) {
	give := func(name, value string) {
		args = append(args, override("shell_environment_policy.set."+name, tomlString(value))...)
	}
	settings := lookup(l.Environ)(gitSettings)
	if settings == "" {
		settings = "0"
	}
	give(gitSettings, settings)
	if !l.Sandboxed {
		return args
	}
	for name, value := range l.early(config) {
		give(name, value)
	}
	for _, kv := range l.Environ {
		name, value, _ := strings.Cut(kv, "=")
		if !within.Early(name) && within.Beside(l.fixedRoots(), name, value) != value {
			give(name, value)
		}
	}
	return args
}

// early are the variables which the configuration gives commands, in the order of their names, of which
// something is taken away, and what is left: what builds their sandbox has them, too, and loads libraries
// by them. Programs it takes from no directory that commands write (seen on 0.169.0).
func (l Launch) early(config map[string]any) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		set := tableOf(tableOf(l.withFolders(config, "shell_environment_policy"), "shell_environment_policy"), "set")
		dirs := slices.Concat(l.fixedRoots(), l.Written())
		for _, name := range slices.Sorted(maps.Keys(set)) {
			value := textOf(set, name)
			rest := within.Beside(dirs, name, value)
			if within.Early(name) && name != "PATH" && rest != value && !yield(name, rest) {
				return
			}
		}
	}
}

// temps has commands write their temp directory, beside what the operator lets them write, and not
// codex's. A list of roots takes the place of one that stands in a file, so it has these as well.
func (l Launch) temps(config map[string]any) []string {
	t := l.Temp
	if t.Commands == "" {
		return nil
	}
	roots := append(l.roots(config), t.Roots()...)
	for i, root := range roots {
		roots[i] = tomlString(root)
	}
	args := append(override("sandbox_workspace_write.exclude_tmpdir_env_var", "true"),
		override("sandbox_workspace_write.writable_roots", "["+strings.Join(roots, ",")+"]")...)
	if textOf(tableOf(tableOf(config, "shell_environment_policy"), "set"), "TMPDIR") != "" { // the operator's own word
		return args
	}
	return append(args, override("shell_environment_policy.set.TMPDIR", tomlString(t.Commands))...)
}
