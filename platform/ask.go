package platform

import (
	"context"
	"errors"
	"net/http"
	"net/url"
)

// An Ask is a question or a task for the user.
type Ask struct {
	Kind     string // task or approval
	Title    string
	Detail   string
	Priority string // "" leaves it to the platform
	Task     string // what an approval of an older platform is listed with; may be empty
}

// An Asked is the platform's answer.
type Asked struct {
	ID     string
	Status string
	// Silent says that the platform is of an age which is not known to bring the
	// decision as a message.
	Silent bool
}

// CreateRequest asks the user. The decision comes as a message, later. Older platforms
// know approvals only, and oldest ones nothing of the kind: [ErrUnsupported].
func (c *Client) CreateRequest(ctx context.Context, ask Ask) (Asked, error) {
	body := struct {
		Kind          string `json:"kind"`
		RecipientType string `json:"recipient_type"`
		RecipientID   string `json:"recipient_id"`
		Title         string `json:"title"`
		Detail        string `json:"detail"`
		Priority      string `json:"priority,omitempty"`
	}{ask.Kind, "user", "", ask.Title, ask.Detail, ask.Priority}
	var out struct {
		ID     string `json:"request_id"`
		Status string `json:"status"`
	}
	err := c.call(ctx, request{
		op: "ask the user", method: http.MethodPost, path: c.own("/requests"), body: body,
		out: &out, feature: featureRequests,
	})
	if errors.Is(err, ErrUnsupported) && ask.Kind == "approval" {
		return c.createApproval(ctx, ask)
	}
	return Asked{ID: out.ID, Status: out.Status}, err
}

// createApproval asks the user by the older way, which has room for two texts and what they are about.
func (c *Client) createApproval(ctx context.Context, ask Ask) (Asked, error) {
	body := struct {
		Task   string `json:"task_id,omitempty"`
		Action string `json:"action"`
		Reason string `json:"reason"`
	}{ask.Task, ask.Title, ask.Detail}
	var out struct {
		ID     string `json:"approval_id"`
		Status string `json:"status"`
	}
	err := c.call(ctx, request{
		op: "ask for an approval", method: http.MethodPost, path: c.own("/approvals"), body: body,
		out: &out, feature: featureApprovals,
	})
	return Asked{ID: out.ID, Status: out.Status, Silent: true}, err
}

// An Approval is a request to the user of an older platform, as that lists it.
type Approval struct {
	ID        string `json:"id"`
	Task      string `json:"task_id"` // see [Ask]
	Status    string `json:"status"`  // pending, approved or denied
	DecidedBy string `json:"decided_by"`
}

// Approvals are the newest of the workspace's requests, the newest first. Newer platforms have no
// list of them: [ErrUnsupported].
func (c *Client) Approvals(ctx context.Context) ([]Approval, error) {
	var out []Approval
	err := c.call(ctx, request{
		op: "list the approvals", method: http.MethodGet, path: c.own("/approvals"),
		out: &out, repeats: harmless, feature: featureApprovals,
	})
	return out, err
}

// Decided is what decides an approval in the name of this runtime.
const Decided = "molecule-codex-runtime"

// CloseApproval takes away the buttons of an approval that needs no decision any more. One that was
// decided, or is not there, is closed.
func (c *Client) CloseApproval(ctx context.Context, id string) error {
	err := c.call(ctx, request{
		op: "close an approval", method: http.MethodPost, path: c.own("/approvals/" + url.PathEscape(id) + "/decide"),
		body: map[string]string{"decision": "denied", "decided_by": Decided}, repeats: harmless,
	})
	if refused, ok := errors.AsType[*Error](err); ok && refused.Status == http.StatusNotFound && refused.Permanent() {
		return nil
	}
	return err
}
