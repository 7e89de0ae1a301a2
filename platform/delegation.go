package platform

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// A Task is work for a peer.
type Task struct {
	Target string `json:"target_id"`
	Text   string `json:"task"`
	// Key makes the same delegation twice one. Without it, a delegation whose
	// answer is lost is not repeated.
	Key string `json:"idempotency_key,omitempty"`
}

// A Delegated is a delegation that the platform has taken.
type Delegated struct {
	ID      string `json:"delegation_id"`
	Status  string `json:"status"`
	Target  string `json:"target_id"`
	Warning string `json:"warning"`
	Repeat  bool   `json:"idempotent_hit"` // it had been taken before
}

// Delegate has the platform give a task to a peer. Its end is found in [Client.Delegations].
func (c *Client) Delegate(ctx context.Context, task Task) (Delegated, error) {
	repeats := careful
	if task.Key != "" {
		repeats = harmless
	}
	var out Delegated
	err := c.call(ctx, request{op: "delegate", method: http.MethodPost, path: c.own("/delegate"), body: task, out: &out, repeats: repeats})
	return out, err
}

// A Delegation is one row of the delegations that we gave or were given. There are
// two for each: that it was given, and what came of it. A row of a failure may have no
// DelegationID, and the Preview of a completed one may be the platform's own note that
// the task waits, not a reply; [QueuedText] tells.
type Delegation struct {
	ID           string    `json:"id"`
	Type         string    `json:"type"`
	DelegationID string    `json:"delegation_id"`
	Source       string    `json:"source_id"`
	Target       string    `json:"target_id"`
	Summary      string    `json:"summary"`
	Status       string    `json:"status"` // pending, dispatched, queued, completed, failed
	Error        string    `json:"error"`
	Preview      string    `json:"response_preview"`
	CreatedAt    time.Time `json:"created_at"`
}

// Result is what the peer has answered, as far as the row has it. The row of the giving
// holds the delegation's own id in that place.
func (d Delegation) Result() string {
	var given struct {
		ID string `json:"delegation_id"`
	}
	if json.Unmarshal([]byte(d.Preview), &given) == nil && given.ID != "" {
		return ""
	}
	return d.Preview
}

// Delegations are the newest rows, at most 50, newest first.
func (c *Client) Delegations(ctx context.Context) ([]Delegation, error) {
	var out list[Delegation]
	err := c.call(ctx, request{op: "list the delegations", method: http.MethodGet, path: c.own("/delegations"), out: &out, repeats: harmless})
	return out, err
}

// RecordDelegation writes down a delegation that we carry out ourselves.
func (c *Client) RecordDelegation(ctx context.Context, id string, task Task) error {
	body := struct {
		Target string `json:"target_id"`
		Text   string `json:"task"`
		ID     string `json:"delegation_id"`
	}{task.Target, task.Text, id}
	return c.call(ctx, request{op: "record a delegation", method: http.MethodPost, path: c.own("/delegations/record"), body: body})
}

// A DelegationEnd is what came of a delegation that was recorded.
type DelegationEnd struct {
	Status  string `json:"status"` // completed or failed
	Error   string `json:"error,omitempty"`
	Preview string `json:"response_preview,omitempty"`
}

// UpdateDelegation writes down what came of a delegation.
func (c *Client) UpdateDelegation(ctx context.Context, id string, end DelegationEnd) error {
	return c.call(ctx, request{
		op: "update a delegation", method: http.MethodPost,
		path: c.own("/delegations/" + url.PathEscape(id) + "/update"), body: end, repeats: harmless,
	})
}
