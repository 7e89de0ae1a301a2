package connect_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The programs that the block runs, as far as these tests need them: each writes down
// how it was called, and runtime what it was told.
const (
	fakeCodex = "#!/bin/sh\nfor a; do printf '<%s>' \"$a\"; done >>\"$HOME/codex.calls\"\necho >>\"$HOME/codex.calls\"\n" +
		"if [ \"$2\" = add ]; then mkdir -p \"$HOME/.codex\"; printf '[mcp_servers.%s]\\ncommand = \"x\"\\n' \"$3\" >\"$HOME/.codex/config.toml\"; fi\n" +
		"if [ \"$2\" = get ] && [ -e \"$HOME/strict\" ]; then exit 1; fi\n"
	fakeRuntime = "#!/bin/sh\necho \"$*\" >>\"$HOME/runtime.calls\"\nenv >\"$HOME/runtime.env\"\ncat \"$MOLECULE_WORKSPACE_TOKEN_FILE\" >\"$HOME/runtime.token\"\n"
)

// A terminal is a person's home, and a shell there.
type terminal struct {
	t     *testing.T
	shell []string
	home  string
	path  string
}

// shells are those in which people paste, as far as they are here; bash is.
func inShells(t *testing.T, test func(t *testing.T, at *terminal)) {
	for name, shell := range map[string][]string{
		"bash": {"bash", "--norc", "--noprofile"}, "bash-interactive": {"bash", "--norc", "--noprofile", "-i"},
		"zsh": {"zsh", "-f"}, "zsh-interactive": {"zsh", "-f", "-i"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(shell[0]); err != nil {
				if shell[0] == "bash" {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			at := &terminal{t: t, shell: shell, home: filepath.Join(t.TempDir(), "a home's $(touch pwned) \"folder\"")}
			bin := filepath.Join(at.home, "bin")
			if err := os.MkdirAll(bin, 0o700); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"codex": fakeCodex, "molecule-runtime": fakeRuntime} {
				if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			at.path = bin + ":" + os.Getenv("PATH")
			test(t, at)
		})
	}
}

// paste gives the block to the shell as a person does, and returns what that shows.
func (at *terminal) paste(block string, env ...string) (shown string, status int) {
	at.t.Helper()
	cmd := exec.CommandContext(at.t.Context(), at.shell[0], at.shell[1:]...)
	cmd.Dir, cmd.Stdin = at.home, strings.NewReader(block+"\nexit $?\n")
	cmd.Env = append([]string{"HOME=" + at.home, "PATH=" + at.path, "TERM=dumb", "HISTFILE=/dev/null"}, env...)
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		at.t.Fatal(err)
	}
	return string(out), 0
}

func (at *terminal) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(at.home, name))
	return string(text)
}

// untouched fails the test if anything but the programs is in the home.
func (at *terminal) untouched() {
	at.t.Helper()
	_ = filepath.WalkDir(at.home, func(path string, entry os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(at.home, path); err == nil && !entry.IsDir() && !slices.Contains([]string{"bin/codex", "bin/molecule-runtime"}, rel) {
			at.t.Errorf("%s has come into the home", rel)
		}
		return nil
	})
}

// serveRelease offers the archive of a release for this machine, with a program in it.
func serveRelease(t *testing.T, program string) (url string) {
	t.Helper()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	files := tar.NewWriter(zipped)
	err := files.WriteHeader(&tar.Header{Name: "molecule-codex-runtime/runtime", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(program))})
	if err == nil {
		_, err = files.Write([]byte(program))
	}
	if err = errors.Join(err, files.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/molecule-codex-runtime_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(archive.Bytes())
	}))
	t.Cleanup(server.Close)
	return server.URL
}
