package codex

import "github.com/Molecule-AI/molecule-codex-runtime/internal/brief"

// What codex says in an error or a warning can be what the model's endpoint has answered, or what
// a command has written into its configuration, of any length. It goes into the log, the task's
// status and the journal.
const (
	mostWords = 4 << 10
	mostRead  = 64 << 10 // of it, in which secrets are looked for
)

// words are those of codex in an error or a warning, as others may have them.
func (d *Driver) words(text string) string {
	return brief.Clip(brief.Cleared(text, mostRead, d.cfg.Redact), mostWords)
}
