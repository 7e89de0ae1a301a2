package codexfit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// Install says how the codex is had that the runtime is made for.
func Install() string {
	return "install codex " + codex.Pinned() + ": npm install -g @openai/codex@" + codex.Pinned() +
		" (where npm may not write: with --prefix ~/.local, and ~/.local/bin in PATH); CODEX_BIN names one that is not in PATH"
}

// Tried reports whether the runtime was tried with a version of codex.
func Tried(version string) bool { return slices.Contains(codex.Tried(), version) }

// Untried says of a version of codex, in one sentence, that the runtime was not tried with it; empty if it was.
func Untried(version string) string {
	if version == "" || Tried(version) {
		return ""
	}
	all := codex.Tried()
	return fmt.Sprintf("this runtime was tried with codex %s to %s, and not with %s", all[0], all[len(all)-1], version)
}

// result puts what was found into the words of a check.
func (f Found) result(bin string) preflight.Result {
	what := f.Version + " at " + bin
	lesser := f.lesser()
	switch broken := f.broken(); {
	case broken != "":
		return preflight.Result{Status: preflight.Fail, Detail: "codex " + what + " does not have what turns need: " + broken, Fix: Install()}
	case f.Err != nil:
		return preflight.Result{
			Status: preflight.Warn, Detail: "codex " + what + " does not say what it can: " + f.Err.Error(),
			Fix: "try a turn with it (runtime doctor --deep); if that fails, " + Install(),
		}
	case !Tried(f.Version):
		return preflight.Result{
			Status: preflight.Warn, Detail: what + "; " + Untried(f.Version) + ", and it says that it has all that turns need" + lesser,
			Fix: "try a turn with it (runtime doctor --deep), or " + Install(),
		}
	case f.Version != codex.Pinned():
		what += ", which this runtime was tried with"
	}
	return preflight.Result{Status: preflight.OK, Detail: what + lesser}
}

// mostNamed is how many things are named that a codex does not have.
const mostNamed = 4

// broken names what no turn can do without; empty if that is all there.
func (f Found) broken() string {
	var names []string
	for _, m := range f.Missing {
		if m.Lesser == "" {
			names = append(names, m.What)
		}
	}
	if more := len(names) - mostNamed; more > 0 {
		return fmt.Sprintf("%s, and %d more", strings.Join(names[:mostNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// lesser says what is done less.
func (f Found) lesser() (said string) {
	var all []string
	for _, m := range f.Missing {
		if m.Lesser != "" && !slices.Contains(all, m.Lesser) {
			all = append(all, m.Lesser)
			said += "; " + m.Lesser
		}
	}
	return said
}
