package adapter

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestSecretFiles(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	for name, text := range map[string]string{
		"GH_TOKEN":      "one\n",
		"PEM":           "-----BEGIN\nline $(touch " + ran + ")\n-----END\n",
		"CRLF":          "win\r\n",
		"EMPTY":         "",
		"QUOTED":        `"as it is"`,
		"load.sh":       "touch " + ran + "\nexport BAD=1\n",
		".hidden":       "x",
		"a-b":           "x",
		"1A":            "x",
		"A=B":           "x",
		"LD_PRELOAD":    "/x.so",
		"PATH":          "/x",
		"WORKSPACE_ID":  "other",
		"ZERO":          "a\x00b",
		"BIG":           strings.Repeat("x", 128<<10),
		"BIG_ENOUGH":    strings.Repeat("x", 128<<10-12),
		"CONFIGS_DIR":   "/elsewhere",
		"RUNTIME_TOKEN": "a setting, too",
	} {
		put(t, filepath.Join(dir, name), text)
	}
	if err := errJoin(os.Mkdir(filepath.Join(dir, "FOLDER"), 0o700), syscall.Mkfifo(filepath.Join(dir, "PIPE"), 0o600),
		os.Symlink("GH_TOKEN", filepath.Join(dir, "LINKED")), os.Symlink("nowhere", filepath.Join(dir, "DANGLING"))); err != nil {
		t.Fatal(err)
	}
	vars, warnings, err := SecretFiles(dir, nil)
	want := []string{
		"BIG_ENOUGH=" + strings.Repeat("x", 128<<10-12), "CRLF=win", "EMPTY=", "GH_TOKEN=one", "LINKED=one",
		"PEM=-----BEGIN\nline $(touch " + ran + ")\n-----END", `QUOTED="as it is"`, "RUNTIME_TOKEN=a setting, too",
	}
	slices.Sort(vars)
	if !slices.Equal(vars, want) || err != nil {
		t.Errorf("secrets:\n%.300q\nwant\n%.300q, %v", vars, want, err)
	}
	all := ""
	for _, w := range warnings {
		all += w.String() + "\n"
	}
	for _, name := range []string{"a-b", "1A", "A=B", "LD_PRELOAD", "PATH", "WORKSPACE_ID", "CONFIGS_DIR", "ZERO", "BIG", "FOLDER", "PIPE", "DANGLING"} {
		if !strings.Contains(all, filepath.Join(dir, name)+": ") {
			t.Errorf("no word of %s in\n%s", name, all)
		}
	}
	if len(warnings) != 12 || strings.Contains(all, "/x.so") {
		t.Errorf("warnings:\n%s", all)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("something was run")
	}
	if vars, warnings, err := SecretFiles(filepath.Join(dir, "none"), nil); vars != nil || warnings != nil || err != nil {
		t.Errorf("a folder that is not there has %q, %v, %v", vars, warnings, err)
	}
}

func errJoin(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestSecretsAreBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range 300 {
		put(t, filepath.Join(dir, "S"+strings.Repeat("x", i)[:min(i, 200)]+string(rune('A'+i%26))+string(rune('A'+i/26))), "v")
	}
	if vars, warnings, _ := SecretFiles(dir, nil); len(vars) != mostFiles || len(warnings) != 300-mostFiles {
		t.Errorf("%d secrets, %d warnings", len(vars), len(warnings))
	}
}

// TestClosingSecrets: what the runtime is closed with is not left out, whatever is wrong with its file.
func TestClosingSecrets(t *testing.T) {
	for name, prepare := range map[string]func(file string) error{
		"empty":    func(file string) error { return os.WriteFile(file, []byte("\n"), 0o600) },
		"zero":     func(file string) error { return os.WriteFile(file, []byte("a\x00b"), 0o600) },
		"big":      func(file string) error { return os.WriteFile(file, bytes.Repeat([]byte("x"), 200<<10), 0o600) },
		"dangling": func(file string) error { return os.Symlink("nowhere", file) },
		"folder":   func(file string) error { return os.Mkdir(file, 0o700) },
		"last": func(file string) error {
			for i := range mostFiles {
				if err := os.WriteFile(filepath.Join(filepath.Dir(file), fmt.Sprint("A", i)), nil, 0o600); err != nil {
					return err
				}
			}
			return os.WriteFile(file, []byte("correct-horse-battery"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "RUNTIME_TOKEN")
			if err := prepare(file); err != nil {
				t.Fatal(err)
			}
			if _, warnings, err := SecretFiles(dir, nil); err == nil || !strings.Contains(err.Error(), file) || len(warnings) != 1 {
				t.Errorf("%v, %v", warnings, err)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "file")
	put(t, file, "")
	if _, _, err := SecretFiles(filepath.Join(file, "secrets.d"), nil); err == nil {
		t.Error("a folder that cannot be read is none")
	}
}

// TestFilesGoBeforeTheEnvironment: a file of lines keeps the first of a secret's.
func TestFilesGoBeforeTheEnvironment(t *testing.T) {
	got := WithSecrets([]string{"A=1", "CODEX_AUTH_JSON={", "B=2"}, []string{"CODEX_AUTH_JSON={\n}"})
	if want := []string{"A=1", "B=2", "CODEX_AUTH_JSON={\n}"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
