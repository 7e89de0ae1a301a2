package platform

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// A State is what the platform has our workspace down as.
type State struct {
	Status  string `json:"status"`
	Paused  bool   `json:"paused"`
	Deleted bool   `json:"deleted"` // end, in good order
}

const opState = "ask for the workspace's state"

// State asks for ours without the token, which ends with the workspace: what is behind it
// tells of no deletion. A platform that shows nothing without a token is asked with it.
// Only the platform's own word is a deletion; a page of HTML, or a 404 of any other than
// its making, is an error.
func (c *Client) State(ctx context.Context) (State, error) {
	var row struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	}
	err := c.call(ctx, request{op: opState, method: http.MethodGet, path: c.own(""), out: &row, repeats: once, hidden: true})
	switch refused, _ := errors.AsType[*Error](err); {
	case err == nil && !strings.EqualFold(row.ID, c.cfg.Workspace):
		return State{}, fmt.Errorf("%s: the platform's answer is of another workspace, or of none", opState)
	case err == nil:
		return State{Status: row.Status, Paused: row.Status == "paused", Deleted: row.Status == statusRemoved}, nil
	case refused == nil:
		return State{}, err
	case refused.Status == http.StatusGone && refused.Reason != "":
		return State{Status: statusRemoved, Deleted: true}, nil
	case refused.Status == http.StatusUnauthorized, refused.Status == http.StatusForbidden, refused.Status == http.StatusNotFound:
		return c.ownState(ctx)
	}
	return State{}, err
}

const statusRemoved = "removed"

// ownState asks with the token.
func (c *Client) ownState(ctx context.Context) (State, error) {
	var out State
	err := c.call(ctx, c.stateRequest(&out))
	if refused, ok := errors.AsType[*Error](err); ok && refused.Status == http.StatusNotFound && refused.deleted {
		return State{Status: statusRemoved, Deleted: true}, nil
	}
	if err != nil {
		return State{}, err
	}
	return out, nil
}

func (c *Client) stateRequest(out *State) request {
	return request{op: opState, method: http.MethodGet, path: c.own("/state"), out: out, repeats: once, public: true, plain: true}
}

const proofLimit = 3 * time.Second

// proveToken uses a token that a registration has brought, before it takes the place of
// another: platforms give one to a workspace that is deleted, and refuse it. Where it
// cannot be used, the workspace's row tells. A token is given out once only, so it is
// believed where nothing can be found out, and the end of the one who registers does not
// keep it from being found out.
func (c *Client) proveToken(ctx context.Context, token string) error {
	if token == "" {
		return nil
	}
	c.cfg.Seen(token)
	ctx = context.WithoutCancel(ctx)
	limited, cancel := context.WithTimeout(ctx, proofLimit)
	defer cancel()
	err := c.send(limited, c.stateRequest(&State{}), nil, token)
	useless := StatusOf(err) == http.StatusUnauthorized
	if err != nil && !useless {
		limited, cancel := context.WithTimeout(ctx, proofLimit)
		defer cancel()
		state, err := c.State(limited)
		useless = err == nil && state.Deleted
	}
	if useless {
		return fmt.Errorf("register: %w", ErrUselessToken)
	}
	return nil
}
