package settings

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"
)

// LoadMachine reads the settings of runtime machine. WorkDir is its root, and CODEX_HOME is one of its own.
func LoadMachine(environ []string) (Settings, []Warning, error) {
	vars, rows := toMap(environ), Rows()
	s, problems := parse(vars, rows)
	more, warnings := unknownNames(vars, rows)
	problems = append(problems, more...)
	if len(problems) > 0 {
		return s, warnings, join(problems)
	}
	r := resolver{s: &s, vars: vars, host: osHost{}, machine: true}
	r.user()
	r.machinePaths()
	r.sandbox()
	r.apart()
	r.programs()
	r.machineDoor()
	s.Labels, _ = labels(s.MachineLabels) // its row has been checked
	s.MachineName = cmp.Or(s.MachineName, hostname())
	if !aName.MatchString(s.MachineName) {
		r.fail("RUNTIME_MACHINE_NAME", fmt.Sprintf("RUNTIME_MACHINE_NAME=%q is no name of a machine", s.MachineName), "give letters, digits, dots, dashes and underscores, 64 at most")
	}
	if s.MachineTurns == 0 {
		s.MachineTurns = max(4, 2*runtime.NumCPU())
	}
	return s, append(warnings, r.warnings...), join(r.asRoot(r.problems))
}

// asRoot has problems of the working directory be about the machine's root, and those of codex's home about the
// state directory, in which that is.
func (r *resolver) asRoot(problems []*Problem) []*Problem {
	for _, p := range problems {
		for _, text := range []*string{&p.Name, &p.What, &p.Hint} {
			*text = strings.NewReplacer("RUNTIME_WORKDIR", "RUNTIME_MACHINE_ROOT", "CODEX_HOME", "RUNTIME_STATE_DIR").Replace(*text)
		}
	}
	return problems
}

var aName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "machine"
	}
	return name
}

// machinePaths fills in the paths of a machine.
func (r *resolver) machinePaths() {
	s := r.s
	if s.MachineRoot != "" {
		s.WorkDir, r.vars["RUNTIME_WORKDIR"] = s.MachineRoot, s.MachineRoot
	}
	r.paths()
	if s.User != nil && r.vars["CODEX_HOME"] != "" { // a place where that user writes
		s.CodexHome = filepath.Join(s.CodexHome, "machine")
	} else {
		s.CodexHome = filepath.Join(s.StateDir, "codex")
	}
	for name, file := range map[string]*string{
		"RUNTIME_MACHINE_CERT": &s.MachineCert, "RUNTIME_MACHINE_KEY": &s.MachineKey, "RUNTIME_MACHINE_TOKEN_FILE": &s.MachineTokenFile,
	} {
		if *file != "" {
			*file = r.path(name, *file, nil)
		}
	}
}

// machineDoor checks where a machine listens, and what it asks for there.
func (r *resolver) machineDoor() {
	s := r.s
	_, port, err := net.SplitHostPort(s.MachineAddr)
	if n, errPort := strconv.Atoi(port); err != nil || errPort != nil || n < 0 || n > 65535 {
		r.fail("RUNTIME_MACHINE_ADDR", fmt.Sprintf("RUNTIME_MACHINE_ADDR=%q is not an address", s.MachineAddr), "give host:port, such as 0.0.0.0:7443")
	}
	if s.MachineToken.Set() && utf8.RuneCountInString(s.MachineToken.Reveal()) < leastToken {
		r.fail("RUNTIME_MACHINE_TOKEN", "RUNTIME_MACHINE_TOKEN is shorter than 16 characters, and could be found by trying",
			"set it to the output of openssl rand -hex 32, or unset it for one that the machine makes")
	}
	if s.MachineKey != "" && s.MachineCert == "" {
		r.fail("RUNTIME_MACHINE_KEY", "RUNTIME_MACHINE_KEY is set and RUNTIME_MACHINE_CERT is not", "set both, or neither for a certificate that the machine makes")
	}
}

// labels reads a list of name=value.
func labels(text string) (all map[string]string, ok bool) {
	all = map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		if name, value = strings.TrimSpace(name), strings.TrimSpace(value); !found || !aName.MatchString(name) || len(value) > 128 {
			return nil, false
		}
		all[name] = value
	}
	return all, true
}
