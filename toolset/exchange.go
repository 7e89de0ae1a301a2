package toolset

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A said is what one side has said to the other.
type said struct {
	row  platform.Row
	at   time.Time // when, by the platform's clock
	peer bool      // these are the peer's words
	text string
}

// exchange is what rows tell of what was said between the workspace and a peer, in the
// order in which that happened. Whose words a row has is not told by its source alone:
// the platform takes rows of a workspace in its own name only, so the answer of a peer
// that a workspace writes down has the workspace for its source.
func (s *Set) exchange(rows []platform.Row, peer string) []said {
	var all []said
	told := map[string]bool{} // of delegations, by what a row tells and their ids
	for _, row := range together(rows, s.cfg.Workspace) {
		ours, theirs := strings.EqualFold(row.Source, s.cfg.Workspace), strings.EqualFold(row.Source, peer)
		switch {
		case ours, theirs && row.Method == "delegate_result":
			if m, ok := ofOurs(row, told); ok {
				all = append(all, m)
			}
		case theirs:
			all = append(all, said{row.Row, row.at, true, messageOf(row.Row)})
			if answer := row.Answer(); answer != "" {
				all = append(all, said{row.Row, row.CreatedAt, false, answer})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b said) int { return a.at.Compare(b.at) })
	return all
}

// ofOurs is what a row says that stands there in our own name, or brings the result of a
// delegation of ours.
func ofOurs(row timed, told map[string]bool) (m said, ok bool) {
	answer, failed := row.Reply(), row.Status == "failed" || row.Status == "error"
	switch {
	case row.Type == "delegation" && row.Method == "delegate_result" && answer == "" && !failed: // it waits
		return m, false
	case row.Method == "delegate_result" || row.Type == "a2a_receive":
		m = said{row.Row, row.at, true, cmp.Or(answer, row.Summary, "(no answer)")}
	case row.Type == "a2a_send", row.Type == "", row.Type == "delegation" && row.Method == "delegate":
		m = said{row.Row, row.at, false, taskOf(row.Row)}
	default:
		return m, false
	}
	of := delegationOf(row.Row)
	what := row.Method + " " + of
	ok = of == "" || !told[what]
	told[what] = true
	return m, ok
}

// A timed row knows when that happened which it tells of.
type timed struct {
	platform.Row
	at time.Time
}

// nearby is how far the times of two rows of ours are true: a row is on its way to the
// platform for as long.
const nearby = 250 * time.Millisecond

// together are the rows with their times. Two of ours that are nearer to each other than
// those are true stay in the order in which they were written.
func together(rows []platform.Row, self string) []timed {
	out := make([]timed, 0, len(rows))
	for _, row := range rows {
		out = append(out, timed{row, row.Happened(self)})
	}
	var next time.Time
	for i := range slices.Backward(out) {
		if !strings.EqualFold(out[i].Source, self) {
			continue
		}
		if over := out[i].at.Sub(next); !next.IsZero() && over > 0 && over < nearby {
			out[i].at = next
		}
		next = out[i].at
	}
	return out
}

// delegationOf is the id of the delegation that a row is about, or "".
func delegationOf(row platform.Row) string {
	for _, body := range []json.RawMessage{row.RequestBody, row.ResponseBody} {
		var about struct {
			ID string `json:"delegation_id"`
		}
		if json.Unmarshal(body, &about) == nil && about.ID != "" {
			return about.ID
		}
	}
	return ""
}

// taskOf is what a row says that we have asked for.
func taskOf(row platform.Row) string {
	var given struct {
		Task string `json:"task"`
	}
	if json.Unmarshal(row.RequestBody, &given) == nil && given.Task != "" {
		return given.Task
	}
	return messageOf(row)
}

// messageOf is what a row's message says.
func messageOf(row platform.Row) string {
	var body struct {
		Params struct {
			Message struct{ Parts parts }
			Parts   parts
		}
		Parts parts
	}
	_ = json.Unmarshal(row.RequestBody, &body) // a body of another shape has no text
	return cmp.Or(string(body.Params.Message.Parts), string(body.Params.Parts), string(body.Parts), row.Summary, "(empty A2A message)")
}

// Parts are the text of those of a message.
type parts string

// UnmarshalJSON implements [json.Unmarshaler].
func (p *parts) UnmarshalJSON(raw []byte) error {
	type part struct {
		Kind, Type, Text string
	}
	all, _, _ := platform.First[part](raw, platform.MostElements)
	var text strings.Builder
	for _, one := range all {
		if cmp.Or(one.Kind, one.Type, "text") == "text" {
			text.WriteString(one.Text)
		}
	}
	*p = parts(text.String())
	return nil
}
