package replay

import (
	"encoding/json"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/wirelog"
)

// looking is what codex has answered to calls that only look, by method and thread,
// in its order.
type looking map[string][]*looked

// looked is one such call.
type looked struct {
	answer *entry // nil if codex ended before it, or the caller did
}

func keyOf(e *envelope) string { return e.Method + " " + e.thread() }

// lookingIn finds them in a run.
func lookingIn(r *run) looking {
	all, open := looking{}, map[string]*looked{}
	for _, e := range r.entries {
		switch {
		case e.Event == wirelog.EventChild:
			clear(open)
		case e.Send != nil && e.isCall() && e.loose:
			call := &looked{}
			open[string(e.ID)] = call
			all[keyOf(&e.envelope)] = append(all[keyOf(&e.envelope)], call)
		case e.Receive != nil && e.isAnswer() && open[string(e.ID)] != nil:
			open[string(e.ID)].answer = e
			delete(open, string(e.ID))
		}
	}
	return all
}

// next returns what the record answers to a call; known is false if it was never
// made there. The last answer is given again.
func (l looking) next(call *envelope) (answer *entry, known bool) {
	all := l[keyOf(call)]
	if len(all) == 0 {
		return nil, false
	}
	if len(all) > 1 {
		l[keyOf(call)] = all[1:]
	}
	return all[0].answer, true
}

// withID is a recorded answer to another call.
func withID(e *envelope, id json.RawMessage) []byte {
	if e.Error != nil {
		return encode(struct {
			Error json.RawMessage `json:"error"`
			ID    json.RawMessage `json:"id"`
		}{e.Error, id})
	}
	return encode(struct {
		ID     json.RawMessage `json:"id"`
		Result json.RawMessage `json:"result"`
	}{id, e.Result})
}

// refusal is the answer to a call that the record knows nothing of.
func refusal(id json.RawMessage, text string) []byte {
	return encode(map[string]any{"id": id, "error": map[string]any{"code": -32603, "message": text}})
}

func encode(v any) []byte {
	line, err := json.Marshal(v)
	if err != nil { // raw messages that were decoded before
		return []byte(`{}`)
	}
	return line
}
