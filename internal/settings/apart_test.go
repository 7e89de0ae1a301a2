package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlacesApart: what codex's commands may write in their sandbox holds nothing that they
// must not write.
func TestPlacesApart(t *testing.T) {
	for name, c := range map[string]struct {
		environ []string
		want    string // of the problem
	}{
		"state":       {[]string{"RUNTIME_WORKDIR=/w", "RUNTIME_STATE_DIR=/w/state"}, "RUNTIME_STATE_DIR, /w/state, lies in the working directory /w"},
		"home":        {[]string{"RUNTIME_WORKDIR=/w", "CODEX_HOME=/w/.codex"}, "CODEX_HOME, /w/.codex, lies in"},
		"itself":      {[]string{"RUNTIME_WORKDIR=/w", "CODEX_HOME=/w"}, "CODEX_HOME, /w, lies in"},
		"by-a-link":   {[]string{"RUNTIME_WORKDIR=/link"}, "CODEX_HOME, /home/u/.codex, lies in the working directory /link"},
		"root":        {[]string{"RUNTIME_WORKDIR=/"}, "lies in the working directory /"},
		"temp":        {[]string{"RUNTIME_WORKDIR=/w", "TMPDIR=/w/tmp"}, "TMPDIR, /w/tmp, lies in"},
		"wire":        {[]string{"RUNTIME_WORKDIR=/w", "RUNTIME_DEBUG_WIRE=/w/wire"}, "RUNTIME_DEBUG_WIRE, /w/wire, lies in"},
		"configs":     {[]string{"WORKSPACE_ID=w", "PLATFORM_URL=http://p", "RUNTIME_WORKDIR=/w", "CONFIGS_DIR=/w/c", "RUNTIME_STATE_DIR=/s", "CODEX_HOME=/h", "WORKSPACE_CONFIG_PATH=/p"}, "CONFIGS_DIR, /w/c, lies in"},
		"config-path": {[]string{"WORKSPACE_ID=w", "PLATFORM_URL=http://p", "RUNTIME_WORKDIR=/w", "WORKSPACE_CONFIG_PATH=/w/c"}, "WORKSPACE_CONFIG_PATH, /w/c/config.yaml, lies in"},
		"plugins":     {[]string{"WORKSPACE_ID=w", "PLATFORM_URL=http://p", "RUNTIME_WORKDIR=/src", "PLUGINS_DIR=plugins"}, "PLUGINS_DIR, /src/plugins, lies in"},
		"token":       {[]string{"WORKSPACE_ID=w", "PLATFORM_URL=http://p", "RUNTIME_WORKDIR=/w", "MOLECULE_WORKSPACE_TOKEN_FILE=/w/t"}, "MOLECULE_WORKSPACE_TOKEN_FILE, /w/t, lies in"},

		"home-of-the-user": {[]string{"RUNTIME_WORKDIR=/home/u", "CODEX_HOME=/h", "RUNTIME_STATE_DIR=/s"}, "HOME, /home/u, lies in the working directory /home/u"},

		"home-of-the-account": {[]string{"HOME=", "RUNTIME_WORKDIR=/home/account", "CODEX_HOME=/h", "RUNTIME_STATE_DIR=/s"}, "HOME, /home/account, lies in the working directory /home/account"},

		"beside":              {[]string{"RUNTIME_WORKDIR=/w", "RUNTIME_STATE_DIR=/state"}, ""},
		"above":               {[]string{"RUNTIME_WORKDIR=/home/u/.codex/work"}, ""},
		"nothing-is-writable": {[]string{"RUNTIME_WORKDIR=/home/u", "CODEX_SANDBOX=read-only"}, ""},
		"no-sandbox":          {[]string{"RUNTIME_WORKDIR=/home/u", "CODEX_SANDBOX=danger-full-access"}, ""},
		"configs-not-read":    {[]string{"RUNTIME_WORKDIR=/w", "CONFIGS_DIR=/w/c"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := at(t, nil, c.environ...)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("load: %v, want %q", err, c.want)
			}
		})
	}
}

// TestProgramsApart: what the next start runs can be replaced, and that is said. What is run all
// the time must not.
func TestProgramsApart(t *testing.T) {
	for environ, want := range map[string]struct{ warning, problem string }{
		"RUNTIME_WORKDIR=/opt": {"this program, /opt/runtime, lies in", ""},
		"RUNTIME_WORKDIR=/opt RUNTIME_TOOLS=mcp WORKSPACE_ID=w PLATFORM_URL=http://p CONFIGS_DIR=/c CODEX_SANDBOX=workspace-write": {"", "codex starts it for RUNTIME_TOOLS=mcp"},
		"CODEX_BIN=/src/bin/codex": {"", "codex, /src/bin/codex, lies in the working directory /src"},
		"CODEX_BIN=/bin/codex":     {"", ""},
	} {
		_, warnings, err := at(t, nil, strings.Fields(environ)...)
		if (len(warnings) > 0) != (want.warning != "") || want.warning != "" && !strings.Contains(warnings[0].Text, want.warning) {
			t.Errorf("%s: %v", environ, warnings)
		}
		if (err != nil) != (want.problem != "") || err != nil && !strings.Contains(err.Error(), want.problem) {
			t.Errorf("%s: %v", environ, err)
		}
	}
}

// TestCodexInThePath is not looked for where commands can put one.
func TestCodexInThePath(t *testing.T) {
	there := []string{"/src/.venv/bin/codex", "/usr/bin/codex"}
	for name, c := range map[string]struct {
		there   []string
		environ []string
		want    string // or what is wrong
	}{
		"beside":     {there, []string{"PATH=/src/.venv/bin:/usr/bin"}, "/usr/bin/codex"},
		"none":       {nil, []string{"PATH=/src/.venv/bin:/usr/bin"}, "codex"},
		"there-only": {there[:1], []string{"PATH=/src/.venv/bin:/usr/bin"}, "codex, /src/.venv/bin/codex, lies in the working directory /src"},
		"elsewhere":  {there, []string{"PATH=/src/.venv/bin:/usr/bin", "RUNTIME_WORKDIR=/w"}, "/src/.venv/bin/codex"},
		"no-sandbox": {there, []string{"PATH=/src/.venv/bin:/usr/bin", "CODEX_SANDBOX=danger-full-access"}, "/src/.venv/bin/codex"},
	} {
		s, _, err := at(t, c.there, c.environ...)
		if got := s.CodexBin; err == nil && got != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestLoadedApart: what commands could write is neither codex's own programs nor loaded by them.
func TestLoadedApart(t *testing.T) {
	for variable, want := range map[string]string{
		"PATH=/bin:/src/.venv/bin":               "runs programs of its own by PATH",
		"PATH=/bin:.":                            "runs programs of its own by PATH",
		"PATH=/bin:/usr/bin":                     "",
		"LD_LIBRARY_PATH=:/usr/local/lib":        "codex itself is given LD_LIBRARY_PATH=/usr/local/lib",
		"BASH_ENV=/src/env.sh":                   "codex itself is given no BASH_ENV. Its commands have all of it",
		"BASH_ENV=/etc/env.sh":                   "",
		"VIRTUAL_ENV=/src/.venv":                 "",
		"NODE_OPTIONS=--max-old-space-size=4096": "",
	} {
		_, warnings, err := at(t, nil, variable)
		if err != nil || (len(warnings) > 0) != (want != "") || want != "" && !strings.Contains(warnings[0].Text, want) {
			t.Errorf("%s: %v, %v", variable, warnings, err)
		}
	}
}

// TestExposed: without a sandbox it is known whether a message can ask for one in which
// commands write the working directory.
func TestExposed(t *testing.T) {
	const none = "CODEX_SANDBOX=danger-full-access"
	for name, c := range map[string]struct {
		environ []string
		want    string
	}{
		"home":        {[]string{"RUNTIME_WORKDIR=/home/u", none}, "lies in the working directory /home/u"},
		"state":       {[]string{"RUNTIME_WORKDIR=/w", "RUNTIME_STATE_DIR=/w/state", none}, "RUNTIME_STATE_DIR, /w/state, lies in"},
		"programs":    {[]string{"RUNTIME_WORKDIR=/w", "PATH=/w/.venv/bin:/bin", none}, "PATH leads codex to programs in the working directory /w"},
		"relative":    {[]string{"RUNTIME_WORKDIR=/w", "BASH_ENV=env.sh", none}, "BASH_ENV leads codex"},
		"codex":       {[]string{"RUNTIME_WORKDIR=/w", "CODEX_BIN=/w/codex", none}, "codex, /w/codex, lies in"},
		"beside":      {[]string{"RUNTIME_WORKDIR=/w", "PATH=/bin", none}, ""},
		"in-its-own":  {[]string{"RUNTIME_WORKDIR=/w", "PATH=/w/bin:/bin"}, ""},
		"in-the-dark": {[]string{"RUNTIME_WORKDIR=/home/u", "CODEX_SANDBOX=read-only"}, "lies in"}, // nothing comes of it
	} {
		t.Run(name, func(t *testing.T) {
			s, _, err := at(t, nil, c.environ...)
			if err != nil || (s.Exposed == "") != (c.want == "") || !strings.Contains(s.Exposed, c.want) {
				t.Errorf("%q, %v, want %q", s.Exposed, err, c.want)
			}
		})
	}
}

// TestLinksApart: a link in the working directory leads nowhere that is out of it, since a
// command can put something else in its place.
func TestLinksApart(t *testing.T) {
	base := t.TempDir()
	work, link := filepath.Join(base, "work"), filepath.Join(base, "work", "link")
	if err := errors.Join(os.MkdirAll(filepath.Join(base, "out"), 0o700), os.Mkdir(work, 0o700), os.Symlink("../out", link)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HOME", "CODEX_HOME", "RUNTIME_STATE_DIR", "TMPDIR"} {
		_, _, err := load([]string{"HOME=/home/u", "RUNTIME_WORKDIR=" + work, name + "=" + link}, fakeHost{dir: "/src"})
		if err == nil || !strings.Contains(err.Error(), "lies in the working directory") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, file := range map[string]string{"HOME": ".bashrc", "CODEX_HOME": "config.toml"} {
		home := filepath.Join(base, name)
		if err := errors.Join(os.Mkdir(home, 0o700), os.Symlink("../work/"+file, filepath.Join(home, file))); err != nil {
			t.Fatal(err)
		}
		_, _, err := load([]string{"HOME=/home/u", "RUNTIME_WORKDIR=" + work, name + "=" + home}, fakeHost{dir: "/src"})
		if err == nil || !strings.Contains(err.Error(), name+", "+filepath.Join(home, file)+", lies in the working directory") {
			t.Errorf("%s: %v", file, err)
		}
	}
	_, _, err := load([]string{"HOME=/home/u", "RUNTIME_WORKDIR=" + work, "CODEX_BIN=" + link + "/codex"}, fakeHost{dir: "/src"})
	if err == nil || !strings.Contains(err.Error(), "lies in the working directory") {
		t.Errorf("CODEX_BIN: %v", err)
	}
}

// TestHomeOfAnotherUser: it is the home that codex gets that must lie outside.
func TestHomeOfAnotherUser(t *testing.T) {
	for environ, inside := range map[string]bool{
		"CODEX_USER=agent USER=agent HOME=/w":           true, // as the image says it
		"CODEX_USER=agent USER=root HOME=/w":            false,
		"CODEX_USER=agent USER=root HOME=/root":         false,
		"CODEX_USER=homeless USER=root HOME=/w":         true, // nothing else is known
		"CODEX_USER=agent USER=agent HOME=/home/agent2": false,
	} {
		_, _, err := load(append(strings.Fields(environ), "RUNTIME_WORKDIR=/w", "CODEX_HOME=/h", "RUNTIME_STATE_DIR=/s"), fakeHost{dir: "/src"})
		if (err != nil) != inside || inside && !strings.Contains(err.Error(), "HOME, /w, lies in the working directory") {
			t.Errorf("%s: %v", environ, err)
		}
	}
}

// TestWorkDirBesideAHome: started where commands must not write, as in a home, codex works
// in a folder of its own.
func TestWorkDirBesideAHome(t *testing.T) {
	home := []string{"HOME=/home/u"}
	for _, dir := range []string{"/home/u", "/", "/tmp"} {
		s, warnings, err := load(home, fakeHost{dir: dir})
		if err != nil || s.WorkDir != "/home/u/codex-work" || !s.MadeWorkDir {
			t.Errorf("in %s: %q, %t, %v", dir, s.WorkDir, s.MadeWorkDir, err)
		}
		if len(warnings) != 1 || !strings.Contains(warnings[0].Text, "and not in "+dir) {
			t.Errorf("in %s: %v", dir, warnings)
		}
	}
	if s, _, err := load(home, fakeHost{dir: "/home/u/project"}); err != nil || s.WorkDir != "/home/u/project" || s.MadeWorkDir {
		t.Errorf("in a project: %q, %t, %v", s.WorkDir, s.MadeWorkDir, err)
	}
}
