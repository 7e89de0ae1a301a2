package selfstart

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/whole"
)

// mostSeen bounds what is remembered; the platform shows the newest 50 rows.
const mostSeen = 1000

// mostOfFile is how many bytes a file has that is read: an earlier version has kept ids of any length.
const mostOfFile = 16 << 20

// seen is what is known of results, as it stands in its file.
type seen struct {
	IDs     []string `json:"seen"`              // of delegations, oldest first
	Pending []result `json:"pending"`           // those of them that nothing was said of yet
	Sending []result `json:"sending"`           // those that the message is about which is sent next, or was
	Message string   `json:"message,omitempty"` // the id of that message; empty: see [seen.message]
}

// readSeen reads the file; first says that there is none. A damaged one is moved away:
// what it knew is then taken for seen, as at the very first start.
func readSeen(path string) (s *seen, first bool, err error) {
	s = &seen{}
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return s, true, nil
	}
	var text []byte
	if err == nil && info.Size() <= mostOfFile {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, false, err
	}
	if json.Unmarshal(text, s) != nil { // as of a file that is too large
		if err := os.Rename(path, path+".damaged"); err != nil {
			return nil, false, fmt.Errorf("%s is damaged: %w", path, err)
		}
		return &seen{}, true, nil
	}
	return s, false, nil
}

func (s *seen) clone() *seen {
	return &seen{IDs: slices.Clone(s.IDs), Pending: slices.Clone(s.Pending), Sending: slices.Clone(s.Sending), Message: s.Message}
}

// message is the id of the message about what is being sent. Who carries a delegation out
// knows its id, so one that is made of those could be taken by others first; an earlier
// version made it so, and may have sent it.
func (s *seen) message() string {
	if s.Message != "" {
		return s.Message
	}
	h := sha256.New()
	for _, d := range s.Sending {
		fmt.Fprintf(h, "%s\n", d.ID)
	}
	return "delegations-" + hex.EncodeToString(h.Sum(nil)[:8])
}

func (s *seen) has(id string) bool { return slices.Contains(s.IDs, id) }

func (s *seen) add(id string) {
	s.IDs = append(s.IDs, id)
	if len(s.IDs) > mostSeen {
		s.IDs = slices.Clone(s.IDs[len(s.IDs)-mostSeen:])
	}
}

// write replaces the file, whole or not at all.
func (s *seen) write(path string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return whole.Write(path, text, 0o600)
}
