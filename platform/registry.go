package platform

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
)

// A Registration is what a workspace says of itself when it starts. The platform may
// send it messages from the moment it has been taken, so listen first.
type Registration struct {
	URL              string // where we are reached; see [WorkspaceURL]
	Card             any    // the agent card: a JSON object with a name
	DeliveryMode     string // push or poll; left out, the platform keeps a stale one
	MCPServerPresent *bool
}

// A Registered is the platform's answer.
type Registered struct {
	DeliveryMode string // as the platform has it now, "" from older ones
}

// Register makes the workspace known. It is tried once: the caller has a schedule,
// and [Again] says what is worth one. A token and a secret in the answer are kept.
// A [*KeepError] says that the workspace is registered, and that this failed;
// [ErrUselessToken] that the platform refuses the token that it has given out itself, and
// [ErrNoPolling] that it cannot have workspaces without an address.
func (c *Client) Register(ctx context.Context, r Registration) (Registered, error) {
	body := struct {
		ID               string `json:"id"`
		URL              string `json:"url,omitempty"`
		Card             any    `json:"agent_card"`
		DeliveryMode     string `json:"delivery_mode,omitempty"`
		MCPServerPresent *bool  `json:"mcp_server_present,omitempty"`
	}{c.cfg.Workspace, r.URL, r.Card, r.DeliveryMode, r.MCPServerPresent}
	var answer struct {
		DeliveryMode string `json:"delivery_mode"`
		AuthToken    string `json:"auth_token"`
		Secret       string `json:"platform_inbound_secret"`
	}
	err := c.call(ctx, request{
		op: "register", method: http.MethodPost, path: "/registry/register",
		body: body, out: &answer, repeats: once, public: true, plain: true,
	})
	if err != nil {
		return Registered{}, c.pollRefusal(ctx, r, err)
	}
	token, unusable := usable("a token", answer.AuthToken)
	if err := c.proveToken(ctx, token); err != nil {
		return Registered{}, err
	}
	return Registered{answer.DeliveryMode}, keeping(errors.Join(unusable, c.keep(token, answer.Secret)))
}

// A KeepError says that what the platform gave out could not be kept: it could not be
// written down, or is nothing that a request can carry.
type KeepError struct{ Cause error }

func (e *KeepError) Error() string { return e.Cause.Error() }
func (e *KeepError) Unwrap() error { return e.Cause }

func keeping(err error) error {
	if err == nil {
		return nil
	}
	return &KeepError{err}
}

// A Beat is one heartbeat. The platform overwrites what it has with all of it, so
// each must be complete and true.
type Beat struct {
	ErrorRate        float64          `json:"error_rate"`
	SampleError      string           `json:"sample_error"`
	ActiveTasks      int              `json:"active_tasks"`
	CurrentTask      string           `json:"current_task"`
	UptimeSeconds    int64            `json:"uptime_seconds"`
	MonthlySpend     int64            `json:"monthly_spend,omitempty"` // cents
	RuntimeState     string           `json:"runtime_state"`           // "", or Wedged
	Metadata         *RuntimeMetadata `json:"runtime_metadata"`        // a beat without clears the platform's
	Card             any              `json:"agent_card,omitempty"`    // where registering has failed
	MCPServerPresent *bool            `json:"mcp_server_present,omitempty"`
	LoadedMCPTools   []string         `json:"loaded_mcp_tools,omitzero"` // nil is unknown, empty is none
}

// Wedged is the state of a runtime that lives and cannot work.
const Wedged = "wedged"

// RuntimeMetadata is what the platform takes from the runtime's own mouth.
type RuntimeMetadata struct {
	Capabilities       Capabilities `json:"capabilities"`
	IdleTimeoutSeconds int          `json:"idle_timeout_seconds,omitempty"`
}

// Capabilities are what the runtime does itself, so that the platform does not.
type Capabilities struct {
	Heartbeat          bool `json:"heartbeat"`
	Scheduler          bool `json:"scheduler"`
	Session            bool `json:"session"`
	StatusMgmt         bool `json:"status_mgmt"`
	Retry              bool `json:"retry"`
	ActivityDecoration bool `json:"activity_decoration"`
	ChannelDispatch    bool `json:"channel_dispatch"`
}

// Heartbeat says that the workspace lives. It is tried once, for the next one is
// truer. A secret in the answer is kept; a [*KeepError] says that this failed.
func (c *Client) Heartbeat(ctx context.Context, beat Beat) error {
	if beat.Metadata == nil {
		beat.Metadata = &RuntimeMetadata{}
	}
	body := struct {
		ID string `json:"workspace_id"`
		Beat
	}{c.cfg.Workspace, beat}
	var answer struct {
		Secret string `json:"platform_inbound_secret"`
	}
	err := c.call(ctx, request{
		op: "heartbeat", method: http.MethodPost, path: "/registry/heartbeat",
		body: body, out: &answer, repeats: once, public: true,
	})
	if err != nil {
		return err
	}
	return keeping(c.keep("", answer.Secret))
}

// UpdateCard replaces the agent card.
func (c *Client) UpdateCard(ctx context.Context, card any) error {
	body := struct {
		ID   string `json:"workspace_id"`
		Card any    `json:"agent_card"`
	}{c.cfg.Workspace, card}
	return c.call(ctx, request{op: "update the agent card", method: http.MethodPost, path: "/registry/update-card", body: body, repeats: harmless})
}

// A Peer is a workspace that we may talk to.
type Peer struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Role        string          `json:"role"`
	Tier        int             `json:"tier"`
	Status      string          `json:"status"`
	URL         string          `json:"url"`
	ParentID    string          `json:"parent_id"`
	ActiveTasks int             `json:"active_tasks"`
	Card        json.RawMessage `json:"agent_card"` // null or a JSON object
}

// Peers are our siblings, children and parent.
func (c *Client) Peers(ctx context.Context) ([]Peer, error) {
	var out list[Peer]
	err := c.call(ctx, request{
		op: "list the peers", method: http.MethodGet, path: "/registry/" + url.PathEscape(c.cfg.Workspace) + "/peers",
		out: &out, repeats: harmless,
	})
	return out, err
}

// Discover asks where a peer is reached. Only its id, name and URL are set.
func (c *Client) Discover(ctx context.Context, id string) (Peer, error) {
	var out Peer
	err := c.call(ctx, request{
		op: "discover a peer", method: http.MethodGet, path: "/registry/discover/" + url.PathEscape(id),
		out: &out, repeats: harmless,
	})
	return out, err
}
