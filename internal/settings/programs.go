package settings

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// programs finds codex, and keeps it from where codex's commands could put another program in its
// place: it is run again each minute, to see whether it starts. Of this program, which the next
// start would run, there is a warning.
func (r *resolver) programs() {
	s := r.s
	s.CodexBin = r.binary()
	const replaced = "%s, %s, lies in the working directory %s, where codex's commands can put another program in its place"
	inside := filepath.IsAbs(s.CodexBin) && r.below(s.WorkDir, s.CodexBin)
	if s.Sandbox != "workspace-write" {
		if inside && s.Exposed == "" {
			s.Exposed = fmt.Sprintf(replaced, "codex", s.CodexBin, s.WorkDir)
		}
		return
	}
	if inside {
		r.fail("CODEX_BIN", fmt.Sprintf(replaced, "codex", s.CodexBin, s.WorkDir),
			"install codex elsewhere and point CODEX_BIN at it, or set RUNTIME_WORKDIR to a directory without it")
	}
	program := r.host.program()
	switch {
	case !filepath.IsAbs(program) || !r.below(s.WorkDir, program):
	case s.Tools == "mcp" && s.InWorkspace(): // codex starts it with each conversation
		r.fail("RUNTIME_WORKDIR", fmt.Sprintf(replaced, "this program", program, s.WorkDir)+", and codex starts it for RUNTIME_TOOLS=mcp",
			"set RUNTIME_WORKDIR to a directory without it, or RUNTIME_TOOLS=dynamic")
	default:
		r.warn("RUNTIME_WORKDIR", fmt.Sprintf(replaced, "this program", program, s.WorkDir)+", which the next start runs; set RUNTIME_WORKDIR to a directory without it")
	}
}

// Programs are where codex is run from, each minute and outside of any sandbox: beside those of [Settings.Apart]
// a place that commands must not write.
func (s Settings) Programs() []Place {
	if !filepath.IsAbs(s.CodexBin) {
		return nil
	}
	return []Place{{Name: "CODEX_BIN", Path: s.CodexBin}}
}

// binary finds codex in PATH, so that what runs later does not depend on the environment, and in
// the working directory only where there is no other. A name that is not there stays as it is;
// preflight explains.
func (r *resolver) binary() string {
	bin := cmp.Or(r.s.CodexBin, "codex")
	if strings.ContainsRune(bin, filepath.Separator) {
		return r.path("CODEX_BIN", bin, nil)
	}
	path := r.vars["PATH"]
	if r.s.Sandbox == "workspace-write" {
		path = within.Beside([]string{r.s.WorkDir}, "PATH", path)
	}
	return cmp.Or(r.in(path, bin), r.in(r.vars["PATH"], bin), bin)
}

// in finds a program in a list of directories.
func (r *resolver) in(path, bin string) string {
	for _, dir := range filepath.SplitList(path) {
		if p := filepath.Join(dir, bin); filepath.IsAbs(dir) && r.host.canRun(p) {
			return p
		}
	}
	return ""
}
