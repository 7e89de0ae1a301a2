package channel

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A said is what a reply says, as it is kept.
type said struct {
	Text  string `json:"text"`
	Files []File `json:"files,omitempty"`

	// What became of the files, once they have been put where the reader can have them.
	Attached []platform.Attachment `json:"attached,omitempty"`
	Settled  bool                  `json:"settled,omitempty"`
	Failures int                   `json:"failures,omitempty"`
	Instead  bool                  `json:"instead,omitempty"` // of a reply that was refused
}

func (s said) encode() []byte {
	body, _ := json.Marshal(s) // of such a type it never fails
	return body
}

func digestOf(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}
