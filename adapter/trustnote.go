package adapter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/whole"
)

// A trustNote is what is kept of the operator's trust.
type trustNote struct {
	which string   // the .codex of the work directory that is trusted, as by [which]; empty if none is
	links []string // the folders whose .codex has had links: what commands wrote by them stays when they are gone
}

func (n trustNote) text() string {
	if n.which == "" && len(n.links) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(n.which + "\n")
	for _, dir := range n.links {
		b.WriteString("links " + strconv.Quote(dir) + "\n")
	}
	return b.String()
}

func (l Launch) noted() (n trustNote, err error) {
	text, err := readIfThere(l.note)
	if err != nil || len(text) == 0 {
		return n, err
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	n.which = lines[0]
	for _, line := range lines[1:] {
		quoted, _ := strings.CutPrefix(line, "links ")
		dir, err := strconv.Unquote(quoted)
		if err != nil {
			return n, fmt.Errorf("%s has a line that is not understood, %.100q", l.note, line)
		}
		n.links = append(n.links, dir)
	}
	return n, nil
}

func (l Launch) keep(n trustNote) error {
	if text := n.text(); text != "" {
		return whole.Write(l.note, []byte(text), 0o600)
	}
	if err := os.Remove(l.note); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
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
