package requests

import (
	"encoding/json"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// Kind is that of the rows in the outbox.
const Kind = "request"

// A Request is what the user is shown.
type Request struct {
	Question string `json:"question"` // its id
	Title    string `json:"title"`
	Detail   string `json:"detail"`
}

// Delivery returns the request as a row of the outbox.
func (r Request) Delivery() store.Delivery {
	body, _ := json.Marshal(r) // of such a type it never fails
	return store.Delivery{Kind: Kind, Body: body}
}

// Decode reads what a row of the outbox has. A settled one has nothing.
func Decode(body []byte) (r Request, err error) {
	err = json.Unmarshal(body, &r)
	return r, err
}

// Where a request is up: an id stands behind it.
const (
	approvals = "approvals/"
	sent      = "requests/"
)

// Sent is the target of a request whose decision comes as a message.
func Sent(id string) string { return sent + id }

// listed is the id of a request of a platform that lists the decisions.
func listed(target string) (id string, ok bool) { return strings.CutPrefix(target, approvals) }
