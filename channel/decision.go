package channel

import (
	"bytes"
	"encoding/json"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// mostBeside is how long a request is whose members are kept beside its text.
const mostBeside = 16 << 10

// beside is what a row of the user's, or of the platform's own, has beside its text, where that may be the
// decision on a request to the user: in which member that stands was never measured. Another agent's has
// nothing.
func beside(r platform.Row) json.RawMessage {
	if r.Source != "" || len(r.RequestBody) > mostBeside || !json.Valid(r.RequestBody) {
		return nil
	}
	if lower := bytes.ToLower(r.RequestBody); !bytes.Contains(lower, []byte("request")) && !bytes.Contains(lower, []byte("approv")) {
		return nil
	}
	return r.RequestBody
}
