package adapter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/whole"
)

// judge decides whether the operator's trust of the work directory is for the .codex that stands
// there. It is for the one that codex was first started with, of which the file note keeps which that
// was, also over restarts: another one may be a command's ([Setup.changed]), and what it settles would
// count from codex's next start on. Where it does not count, everything is as if it were not said.
// Without leave to write, as for checks, what is noted stays. The error is a [*Problem].
func (l *Launch) judge(note string, f settingsFolder, write bool) error {
	if note == "" || !l.Sandboxed { // without a sandbox, commands write any .codex
		return nil
	}
	config, unread := l.own()
	if level(config, l.trustedBy(l.names())) != "trusted" {
		if !write || len(unread) > 0 {
			return nil
		}
		if err := os.Remove(note); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return notedBy(err)
		}
		return nil
	}
	noted, err := readIfThere(note)
	switch {
	case err != nil:
		l.distrust = notedBy(err)
		return l.distrust
	case f.which == "":
		l.distrust = &Problem{
			What: "it cannot be looked at, so that codex reads neither this nor AGENTS.md there, although it is trusted",
			Fix:  "let codex's user read the working directory",
		}
	case len(noted) == 0 && write:
		if err := whole.Write(note, []byte(f.which+"\n"), 0o600); err != nil {
			return notedBy(err)
		}
	case len(noted) > 0 && string(noted) != f.which+"\n":
		l.distrust = &Problem{
			What: "it is not the one that you have said is trusted (" + note + " notes which that was), and a command may have made it, so codex reads neither this nor AGENTS.md there",
			Fix:  "stop the runtime, whose commands may write it, look at what is in it and, if you trust this one, remove " + note,
		}
	}
	return nil
}

// notedBy is the error of what notes which .codex is trusted. Commands that may read it can hold it,
// as codex's configuration.
func notedBy(err error) *Problem {
	return &Problem{
		What: fmt.Sprintf("which .codex of the working directory is trusted cannot be noted: %v", err),
		Fix:  "let the runtime read and write it, make room for it, and end what holds it",
	}
}

// Distrusted says why what the work directory brings does not count although the operator has said
// that it is trusted; nil where it does, or brings nothing.
func (l Launch) Distrusted() *Problem {
	if l.distrust != nil && len(l.Project.Settles) > 0 {
		return &Problem{What: l.settingsDir() + ": " + l.distrust.What, Fix: l.distrust.Fix}
	}
	config, _ := l.own()
	if links := l.linked(config); len(links) > 0 {
		return links[0].problem()
	}
	return nil
}
