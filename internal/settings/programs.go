package settings

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// programs finds codex, and warns of programs that codex's commands can replace in their sandbox:
// the next start would run what they have put there.
func (r *resolver) programs() {
	s := r.s
	s.CodexBin = r.binary()
	if s.Sandbox != "workspace-write" {
		return
	}
	for what, file := range map[string]string{"codex": s.CodexBin, "this program": r.host.program()} {
		if filepath.IsAbs(file) && r.below(s.WorkDir, file) {
			r.warn("RUNTIME_WORKDIR", fmt.Sprintf("%s, %s, lies in the working directory %s: codex's commands can put another program in its place, which the next start runs; set RUNTIME_WORKDIR to a directory without it", what, file, s.WorkDir))
		}
	}
}

// binary finds codex in PATH, so that what runs later does not depend on the
// environment. A name that is not there stays as it is; preflight explains.
func (r *resolver) binary() string {
	bin := cmp.Or(r.s.CodexBin, "codex")
	if strings.ContainsRune(bin, filepath.Separator) {
		return r.path("CODEX_BIN", bin, nil)
	}
	path := r.vars["PATH"]
	if r.s.Sandbox == "workspace-write" { // what lies in the working directory may be a command's
		path = within.Beside([]string{r.s.WorkDir}, "PATH", path)
	}
	if found := r.in(path, bin); found != "" {
		return found
	}
	if found := r.in(r.vars["PATH"], bin); found != "" {
		r.fail("CODEX_BIN", fmt.Sprintf("the only %s in PATH, %s, lies in the working directory %s, where codex's commands can put another program in its place", bin, found, r.s.WorkDir),
			"install codex elsewhere, or set RUNTIME_WORKDIR to a directory without it; CODEX_BIN="+found+" takes it all the same")
	}
	return bin
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
