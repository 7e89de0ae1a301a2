package channel

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A DeadLetter is a reply that the platform has refused for good.
type DeadLetter struct {
	ID        string    `json:"id"`
	Activity  string    `json:"activity"`
	Workspace string    `json:"workspace"`
	Chat      string    `json:"chat"`
	At        time.Time `json:"at"`
	Why       string    `json:"why"`
	Text      string    `json:"text"`
}

const mostLetters = 1000

// Letters returns the dead letters in a store.
func Letters(ctx context.Context, st *store.Store) ([]DeadLetter, error) {
	rows, err := st.DeadLetters(ctx, mostLetters)
	if err != nil {
		return nil, err
	}
	out := make([]DeadLetter, 0, len(rows))
	for _, r := range rows {
		var says said
		_ = json.Unmarshal(r.Body, &says) // one that is damaged says nothing
		out = append(out, DeadLetter{ID: r.ID, Activity: r.Activity, Workspace: r.Workspace, Chat: r.Chat, At: r.Created, Why: r.Error, Text: says.Text})
	}
	return out, nil
}

// List is [Letters] of the channel's own.
func (c *Channel) List(ctx context.Context) ([]DeadLetter, error) { return Letters(ctx, c.cfg.Store) }

// Retry has a dead letter sent again, by its id or by that of the row that it answers.
func (c *Channel) Retry(ctx context.Context, id string) error {
	err := c.cfg.Store.RetryReply(ctx, id)
	c.news.beat()
	return err
}
