package main

import (
	"encoding/json"
	"io"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// json takes all JSON that is printed. It is for programs, and a terminal may show it.
func (p *program) json() io.Writer { return plainJSON{p.stdout} }

// A plainJSON is given whole values.
type plainJSON struct{ to io.Writer }

func (w plainJSON) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.to, brief.JSON(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// printJSON prints a value on as many lines as it has members.
func (p *program) printJSON(v any) int {
	enc := json.NewEncoder(p.json())
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return p.fail(err)
	}
	return exitOK
}
