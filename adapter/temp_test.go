package adapter

import (
	"slices"
	"testing"
)

// TestTemp: commands write a temp directory of theirs beside what the operator lets them write,
// and codex has another one.
func TestTemp(t *testing.T) {
	const policy = "shell_environment_policy.set.TMPDIR="
	for name, c := range map[string]struct {
		system, config, roots string
		own                   bool // the operator says which TMPDIR commands have
	}{
		"plain":         {"", "", `["/t/in","/t/guard"]`, false},
		"roots":         {"", "sandbox_workspace_write.writable_roots = ['/srv', '~/x', 'a/../b']", `["/srv","~/x","/h/b","/t/in","/t/guard"]`, false},
		"of-system":     {"sandbox_workspace_write.writable_roots = ['a']", "model = 'x'", `["/etc/codex/a","/t/in","/t/guard"]`, false},
		"over-system":   {"sandbox_workspace_write.writable_roots = ['a']", "sandbox_workspace_write.writable_roots = []", `["/t/in","/t/guard"]`, false},
		"other-setting": {"", "sandbox_workspace_write.network_access = true", `["/t/in","/t/guard"]`, false},
		"own-word":      {"", "shell_environment_policy.set = { TMPDIR = '/srv/tmp' }", `["/t/in","/t/guard"]`, true},
		"unread":        {"", "model = ", `["/t/in","/t/guard"]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := Launch{Home: "/h", WorkDir: "/w", Temp: Temp{Commands: "/t/in", Codex: "/t/out", Guard: "/t/guard"}, Environ: []string{"TMPDIR=/tmp"}, SystemConfig: c.system, UserConfig: c.config}
			args := l.Args()
			for _, want := range []string{"sandbox_workspace_write.exclude_tmpdir_env_var=true", "sandbox_workspace_write.writable_roots=" + c.roots} {
				if !slices.Contains(args, want) {
					t.Errorf("codex is started with %q, want %s", args, want)
				}
			}
			if slices.Contains(args, policy+`"/t/in"`) == c.own {
				t.Errorf("codex is started with %q", args)
			}
			if env := l.Env(); !slices.Contains(env, "TMPDIR=/t/out") || slices.Contains(env, "TMPDIR=/tmp") {
				t.Errorf("codex has %q", env)
			}
			l.Temp = Temp{}
			if args, env := l.Args(), l.Env(); slices.Contains(args, policy+`"/t/in"`) || !slices.Contains(env, "TMPDIR=/tmp") {
				t.Errorf("with no directory of its own it has %q, %q", args, env)
			}
		})
	}
}
