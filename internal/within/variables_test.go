package within

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBeside: what programs load by their environment is nothing in a directory, and nothing
// in the one that they are started in.
func TestBeside(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	link := filepath.Join(other, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, value, want string }{
		{"PATH", "/usr/bin:DIR/.venv/bin::.:bin:~/bin:LINK/bin:DIRx/bin:/bin", "/usr/bin:DIRx/bin:/bin"},
		{"PATH", "DIR/bin:bin", ""},
		{"PATH", "", ""},
		{"LD_LIBRARY_PATH", ":/usr/local/lib", "/usr/local/lib"},
		{"LD_LIBRARY_PATH", "/usr/local/lib;DIR/lib;/lib:$ORIGIN/lib", "/usr/local/lib:/lib"},
		{"LD_LIBRARY_PATH", "/a;/b", "/a;/b"},
		{"LD_LIBRARY_PATH", "/a:", "/a"},
		{"DYLD_FALLBACK_LIBRARY_PATH", "DIR:/b", "/b"},
		{"PYTHONPATH", "LINK/src", ""},
		{"NODE_PATH", "/a:node_modules", "/a"},
		{"PERL5LIB", "/a:/b", "/a:/b"},

		{"BASH_ENV", "DIR/env.sh", ""},
		{"BASH_ENV", "env.sh", ""},
		{"BASH_ENV", "/etc/env.sh", "/etc/env.sh"},
		{"ENV", "production", ""}, // a file of that name would be run
		{"ZDOTDIR", "LINK", ""},
		{"GIT_EXEC_PATH", "DIR", ""},

		{"LD_PRELOAD", "libjemalloc.so.2 /usr/lib/x.so", "libjemalloc.so.2 /usr/lib/x.so"},
		{"LD_PRELOAD", "libjemalloc.so.2:./x.so", ""},
		{"LD_AUDIT", "DIR/x.so", ""},
		{"GIT_SSH_COMMAND", "ssh -i /key", "ssh -i /key"},
		{"GIT_SSH_COMMAND", "DIR/ssh", ""},

		{"NODE_OPTIONS", "--max-old-space-size=4096 --require /opt/a.js", "--max-old-space-size=4096 --require /opt/a.js"},
		{"NODE_OPTIONS", "--max-old-space-size=4096 --require=DIR/a.js", ""},
		{"NODE_OPTIONS", "-r dotenv/config", ""},
		{"NODE_OPTIONS", `--import "file://LINK/a.mjs"`, ""},
		{"NODE_OPTIONS", "--import file:///opt/a.mjs", "--import file:///opt/a.mjs"},
		{"NODE_OPTIONS", "--require", "--require"},

		{"VIRTUAL_ENV", "DIR/.venv", "DIR/.venv"},
		{"PWD", "DIR", "DIR"},

		// as docs/security.md says
		{"JAVA_TOOL_OPTIONS", "-javaagent:DIR/x.jar", "-javaagent:DIR/x.jar"},
		{"CLASSPATH", ".:DIR", ".:DIR"},
		{"DOTNET_STARTUP_HOOKS", "DIR/x.dll", "DIR/x.dll"},
		{"LUA_PATH", "./?.lua;;", "./?.lua;;"},
		{"SSL_CERT_FILE", "DIR/ca.pem", "DIR/ca.pem"},
	} {
		fill := strings.NewReplacer("DIR", dir, "LINK", link).Replace
		if got := Beside([]string{other + "/none", dir}, c.name, fill(c.value)); got != fill(c.want) {
			t.Errorf("%s=%s: %q, want %q", c.name, c.value, got, c.want)
		}
	}
}
