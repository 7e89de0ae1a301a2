package adapter

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// The bounds of files of secrets. A system gives no process a variable of more
// than 128 KiB: codex could not be started with one.
const (
	mostSecret  = 128<<10 - 1
	mostSecrets = 1 << 20 // bytes of all together
	mostFiles   = 256
)

// closing are the settings that the runtime is closed with, and its codex, and those that say
// where the key goes.
var closing = []string{ //nolint:gochecknoglobals // a constant
	"RUNTIME_TOKEN", "RUNTIME_ADDR", "MOLECULE_A2A_REQUIRE_AUTH", "CODEX_SANDBOX", "CODEX_APPROVAL_POLICY", "CODEX_USER", "OPENAI_BASE_URL", "MOLECULE_LLM_BASE_URL",
}

// loader is a shell script beside the secrets, which sets them. We read them
// ourselves and run nothing.
const loader = "load.sh"

// SecretFiles reads the files in dir, one secret in each, as NAME=value: the
// platform puts there what an environment cannot be given, such as values of
// several lines. The line feed at a file's end is not part of it. What cannot be
// used is warned about; no secret is in a warning. A dir that is not there holds none.
//
// They are read as the user that codex runs as, nil for ours: commands have them, and a
// link that a command has left among them must not give it what is ours alone.
//
// The error, a [*Problem], is that one of them is missed: a process holds it, which takes no right
// to change it and may leave to a command where the key goes; or it has the name of what the
// runtime is closed with, and cannot be used, or the whole folder cannot be read. The others are
// returned all the same.
func SecretFiles(dir string, user *asuser.User) (vars []string, warnings []Warning, missed error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, nil
		}
		return nil, nil, &Problem{What: "the secrets cannot be read: " + err.Error(), Fix: "let the runtime read " + dir + ", or take it away"}
	}
	total := 0
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if entry.Name() == loader || strings.HasPrefix(entry.Name(), ".") {
			continue // also what Kubernetes keeps beside the files that it mounts
		}
		value, wrong, err := secretFile(path, entry.Name(), user)
		if err != nil {
			missed = cmp.Or[error](missed, &Problem{What: "a secret cannot be read: " + err.Error(), Fix: "end the process that has a lease on " + path})
			continue
		}
		if wrong == "" && strings.TrimSpace(value) == "" && slices.Contains(closing, entry.Name()) {
			wrong = "it is empty"
		}
		if wrong == "" && (len(vars) == mostFiles || total+len(value) > mostSecrets) {
			wrong = fmt.Sprintf("there are more than %d secrets, or %d bytes of them", mostFiles, mostSecrets)
		}
		if wrong != "" && slices.Contains(closing, entry.Name()) {
			missed = cmp.Or[error](missed, &Problem{What: fmt.Sprintf("a secret cannot be read: %s: %s", path, wrong), Fix: "mend the file, or take it away: without it, what it closes would be open"})
		}
		if wrong != "" {
			warnings = append(warnings, Warning{File: path, Text: wrong + "; this secret is left out"})
			continue
		}
		vars, total = append(vars, entry.Name()+"="+value), total+len(value)
	}
	return vars, warnings, missed
}

func secretFile(path, name string, user *asuser.User) (value, wrong string, held error) {
	switch {
	case !variableName.MatchString(name):
		return "", "the name is none of a variable", nil
	case fixed(name):
		return "", name + " is none that a secret may set", nil
	}
	text, err := asuser.Value(user, func() ([]byte, error) { return regular.Read(path, mostSecret+2) })
	if errors.Is(err, fs.ErrPermission) && oursAlone(path, user) {
		text, err = regular.Read(path, mostSecret+2)
	}
	if errors.Is(err, regular.ErrHeld) {
		return "", "", err
	}
	if err != nil {
		return "", user.Unread(err).Error(), nil
	}
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	switch {
	case len(name)+len(text)+1 > mostSecret:
		return "", fmt.Sprintf("it has more than %d bytes", mostSecret), nil
	case bytes.IndexByte(text, 0) >= 0:
		return "", "there is a zero byte in it", nil
	}
	return string(text), "", nil
}

// oursAlone reports whether a file is no other's by another name, and nothing on the way to it
// is the user's to change: one that the operator has kept for us is a setting, RUNTIME_TOKEN
// perhaps, and to go on without it would open what it closes.
func oursAlone(path string, user *asuser.User) bool {
	if user == nil || user.Changes(path) {
		return false
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 1
}

// fixed reports whether a variable says who and where we are, or what programs
// load: nothing that a secret is for.
func fixed(name string) bool {
	return strings.HasPrefix(name, "LD_") || slices.Contains([]string{
		"BASH_ENV", "CODEX_BIN", "CODEX_HOME", "CONFIGS_DIR", "ENV", "HOME", "IFS", "PATH", "PLATFORM_URL", "PWD",
		"RUNTIME_STATE_DIR", "SHELL", "TMPDIR", "USER", "WORKSPACE_CONFIG_PATH", "WORKSPACE_ID",
	}, name)
}

// WithSecrets returns environ with the secrets in it. Where both set a variable the
// file counts: an environment that was made from a file of lines holds only the
// first line of a secret that has several.
func WithSecrets(environ, secrets []string) []string {
	if len(secrets) == 0 {
		return environ
	}
	set := make(map[string]bool, len(secrets))
	for _, kv := range secrets {
		name, _, _ := strings.Cut(kv, "=")
		set[name] = true
	}
	out := make([]string, 0, len(environ)+len(secrets))
	for _, kv := range environ {
		if name, _, _ := strings.Cut(kv, "="); !set[name] {
			out = append(out, kv)
		}
	}
	return append(out, secrets...)
}
