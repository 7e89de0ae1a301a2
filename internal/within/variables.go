package within

import (
	"path/filepath"
	"slices"
	"strings"
)

// A kind is how a variable names what programs load.
type kind int

const (
	none    kind = iota
	list         // directories; an empty or relative one is where the program is started
	file         // a file or directory
	words        // words, of which each with a slash in it is a path
	options      // words, of which those after some of node's options are files or modules
)

// kindOf knows the variables by which the loader, shells, git and interpreters are led to
// code, and codex to its own.
func kindOf(name string) kind {
	switch name {
	case "PATH", "LD_LIBRARY_PATH", "GCONV_PATH", "LOCPATH",
		"PYTHONPATH", "NODE_PATH", "PERL5LIB", "PERLLIB", "RUBYLIB", "GEM_PATH":
		return list
	case "BASH_ENV", "ENV", "ZDOTDIR", "SHELL", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONUSERBASE", "GEM_HOME",
		"GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_TEMPLATE_DIR", "XDG_CONFIG_HOME",
		"OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "CODEX_SQLITE_HOME", "CODEX_MANAGED_PACKAGE_ROOT",
		"TMPDIR": // where many keep what they run the next time, by names that can be foretold
		return file
	case "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "PERL5OPT", "RUBYOPT",
		"GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "SSH_ASKPASS":
		return words
	case "NODE_OPTIONS":
		return options
	}
	if strings.HasPrefix(name, "DYLD_") && strings.HasSuffix(name, "_PATH") {
		return list
	}
	return none
}

// Early reports whether a variable that leads into what commands write is kept from them, too:
// what builds their sandbox would have it, and look for programs and libraries by it.
func Early(name string) bool {
	return name == "PATH" || name == "GCONV_PATH" || name == "LOCPATH" || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_")
}

// Beside returns what is left of a variable for a program that is to load nothing from
// dirs, nor from wherever it is started: of a list of directories the entries that lead
// elsewhere, and of what names single files all or nothing. Other variables are as they are.
func Beside(dirs []string, name, value string) string {
	paths := Loaded(name, value)
	if len(paths) == 0 {
		return value
	}
	written := Resolve(dirs...)
	inside := func(path string) bool {
		_, in := written.Holding(path)
		return in || !filepath.IsAbs(path)
	}
	if !slices.ContainsFunc(paths, inside) {
		return value
	}
	if kindOf(name) != list {
		return ""
	}
	return strings.Join(slices.DeleteFunc(paths, inside), ":")
}

// Loaded returns the paths that a variable has programs load something from.
func Loaded(name, value string) []string {
	switch kindOf(name) {
	case list:
		if name == "LD_LIBRARY_PATH" { // takes both
			value = strings.ReplaceAll(value, ";", ":")
		}
		return filepath.SplitList(value)
	case file:
		if value != "" {
			return []string{value}
		}
	case words:
		return slices.DeleteFunc(strings.FieldsFunc(value, func(r rune) bool { return r == ':' || r == ' ' || r == '\t' || r == '\n' }),
			func(word string) bool { return !strings.Contains(word, "/") })
	case options:
		return modules(value)
	}
	return nil
}

// modules returns what NODE_OPTIONS has node load. A bare name of a module is looked for
// where node is started.
func modules(value string) (paths []string) {
	named := strings.FieldsFunc(value, func(r rune) bool { return r == '=' || r == ' ' || r == '"' })
	for i, option := range named[:max(0, len(named)-1)] {
		switch option {
		case "-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file", "--env-file-if-exists", "--openssl-config":
			paths = append(paths, strings.TrimPrefix(named[i+1], "file://"))
		}
	}
	return paths
}
