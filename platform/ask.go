package platform

import (
	"context"
	"errors"
	"net/http"
)

// An Ask is a question or a task for the user.
type Ask struct {
	Kind     string // task or approval
	Title    string
	Detail   string
	Priority string // "" leaves it to the platform
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

// createApproval asks the user by the older way, which has room for two texts.
func (c *Client) createApproval(ctx context.Context, ask Ask) (Asked, error) {
	body := struct {
		Action string `json:"action"`
		Reason string `json:"reason"`
	}{ask.Title, ask.Detail}
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
