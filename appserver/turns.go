package appserver

import (
	"context"

	"github.com/sourcegraph/jsonrpc2"
)

// TurnStart starts a turn. It returns at once, with the turn in progress; its
// notifications may come first.
func (c *Client) TurnStart(ctx context.Context, params TurnStartParams) (Turn, error) {
	var answer turnAnswer
	var opts []jsonrpc2.CallOption
	if params.Trace.Parent != "" {
		opts = append(opts, jsonrpc2.ExtraField("trace", params.Trace))
	}
	err := c.call(ctx, "turn/start", placedTurn{params, environments{params.Environments}}, &answer, nil, opts...)
	return answer.Turn, err
}

type turnAnswer struct {
	Turn Turn `json:"turn"`
}

// TurnSteer adds input to the running turn. See [StaleTurn] and
// [IsNoActiveTurn] for the refusals that are to be expected.
func (c *Client) TurnSteer(ctx context.Context, params TurnSteerParams) error {
	return c.Call(ctx, "turn/steer", params, nil)
}

// TurnInterrupt asks codex to end a turn. It has ended only when turn/completed
// says so, and a command that it runs goes on: see [Client.BackgroundTerminals].
func (c *Client) TurnInterrupt(ctx context.Context, threadID, turnID string) error {
	return c.Call(ctx, "turn/interrupt", interruptParams{ThreadID: threadID, TurnID: turnID}, nil)
}

type interruptParams struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
}

// TurnsList returns up to limit turns of a thread, the newest first, with all
// their items if full, else with their agent messages. A thread that had no
// turn yet, which codex refuses to list, has none. The history does not show a
// tool that was cut off by the end of the child.
func (c *Client) TurnsList(ctx context.Context, threadID string, limit int, full bool) ([]Turn, error) {
	params := turnsParams{ThreadID: threadID, Limit: limit, ItemsView: "summary"}
	if full {
		params.ItemsView = "full"
	}
	var page turnsPage
	err := c.Call(ctx, "thread/turns/list", params, &page)
	if isNotMaterialized(err) {
		return nil, nil
	}
	return page.Data, err
}

type turnsParams struct {
	ThreadID  string `json:"threadId"`
	Limit     int    `json:"limit,omitempty"` // 0 is codex's default
	ItemsView string `json:"itemsView"`
}

type turnsPage struct {
	Data []Turn `json:"data"`
}
