package settings

import (
	"path/filepath"
	"strings"
)

// A resolver fills in the defaults that depend on where the runtime is, and
// checks what depends on several settings.
type resolver struct {
	s        *Settings
	vars     map[string]string
	host     host
	channel  bool
	machine  bool
	problems []*Problem
	warnings []Warning
}

// path returns value, or what fallback says, as an absolute path. A leading ~
// is expanded here because env files and unit files do not.
func (r *resolver) path(name, value string, fallback func() string) string {
	if value == "" {
		value = fallback()
	}
	if rest, ok := strings.CutPrefix(value, "~"); ok && (rest == "" || rest[0] == '/') {
		home := r.vars["HOME"]
		if !filepath.IsAbs(home) {
			r.fail(name, name+" needs a home directory, and HOME is not set", "set "+name+" to a directory, or set HOME")
			return value
		}
		value = filepath.Join(home, rest)
	}
	if filepath.IsAbs(value) {
		return filepath.Clean(value)
	}
	cwd, err := r.host.cwd()
	if err != nil {
		r.fail(name, "the current directory is not known: "+err.Error(), "set "+name+" to an absolute path")
		return value
	}
	return filepath.Join(cwd, value)
}

func (r *resolver) fail(name, what, hint string) {
	r.problems = append(r.problems, &Problem{Name: name, What: what, Hint: hint})
}

func (r *resolver) warn(name, text string) {
	r.warnings = append(r.warnings, Warning{Name: name, Text: text})
}

func pick[T any](cond bool, yes, no T) T {
	if cond {
		return yes
	}
	return no
}
