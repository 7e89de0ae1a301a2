package platform

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
)

// ErrNoPolling says that the platform cannot keep messages for a workspace that asks for
// them: the oldest ones in use only hand messages to an address.
var ErrNoPolling = errors.New("this platform has no poll mode, so no message would ever come here: run runtime, not runtime channel, where the platform reaches it, with that address in MOLECULE_WORKSPACE_URL, or use a newer platform")

// noRow is the id of no row of any platform.
const noRow = "7f3b1c52-90d4-4a8e-8c0b-5a1f9c7e2d46"

// Polls reports whether the platform has a poll mode, and changes nothing there. One that
// has refuses a row behind which there is nothing that it knows; one without does not look.
func (c *Client) Polls(ctx context.Context) (bool, error) {
	var rows list[json.RawMessage]
	err := c.call(ctx, request{
		op: "ask whether there is a poll mode", method: http.MethodGet, path: c.own("/activity"),
		query: url.Values{"type": {"a2a_receive"}, "since_id": {noRow}, "limit": {"1"}},
		out:   &rows, most: mostRow, repeats: once, plain: true,
	})
	if errors.Is(err, ErrCursorGone) {
		return true, nil
	}
	return false, err
}

// pollRefusal says why a registration without an address was refused.
func (c *Client) pollRefusal(ctx context.Context, r Registration, refused error) error {
	if r.URL != "" || r.DeliveryMode != "poll" || StatusOf(refused) != http.StatusBadRequest {
		return refused
	}
	if polls, err := c.Polls(ctx); err != nil || polls {
		return refused
	}
	return ErrNoPolling
}
