package preflight

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSetuid warns where others can run what a command makes as its user.
func TestSetuid(t *testing.T) {
	base := t.TempDir()
	if err := os.Chmod(filepath.Dir(base), 0o755); err != nil {
		t.Fatal(err)
	}
	if !reached(filepath.Join(base, "any")) {
		t.Skip("nobody else gets to the temp directory")
	}
	open, closed := filepath.Join(base, "open"), filepath.Join(base, "closed")
	for dir, mode := range map[string]os.FileMode{open: 0o755, filepath.Join(closed, "below"): 0o755} {
		if err := os.MkdirAll(dir, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	alone := file(t, base, "alone", "root:x:0:0:root:/root:/bin/bash\nme:x:4711:4711::/home/me:/bin/bash\nnobody:x:65534:65534::/:/bin/sh\ndaemon:x:2:2::/:/bin/sh\nno line\n", 0o644)
	shared := file(t, base, "shared", "me:x:4711:4711::/home/me:/bin/bash\nserver:x:1001:1001::/:/usr/sbin/nologin\nal:x:1002:1002::/home/al:/bin/zsh\n", 0o644)
	for name, c := range map[string]struct {
		accounts, dir string
		status        Status
		detail, fix   string
	}{
		"alone":              {alone, open, OK, "no other user", ""},
		"open":               {shared, open, Warn, `such as "al", get to ` + open, "chmod 700"},
		"opened by commands": {shared, closed, Warn, `get to ` + closed + ", or would if a command opened it", "directory above"},
		"made closed":        {shared, filepath.Join(closed, "x", "y"), OK, "cannot run", ""},
		"to be made":         {shared, filepath.Join(open, "x", "y"), Warn, `"al"`, "chmod 700"},
		"closed":             {shared, filepath.Join(closed, "below"), OK, "cannot run", ""},
		"no accounts":        {filepath.Join(base, "none"), open, Warn, "other accounts", "chmod 700"},
		"mounted nosuid":     {shared, nosuid(t), OK, "cannot run", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.dir == "" {
				t.Skip("every file system here has such files")
			}
			p := setuidProbe{dirs: []string{filepath.Join(closed, "below"), c.dir}, owner: func() int { return 4711 }, accounts: c.accounts}
			expect(t, p.run(t.Context()), c.status, c.detail, c.fix)
		})
	}
}

// nosuid is a directory of a file system without such files; empty if there is none.
func nosuid(t *testing.T) string {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); strings.Contains(fields[3], "nosuid") && reached(fields[1]) {
			return fields[1]
		}
	}
	return ""
}
