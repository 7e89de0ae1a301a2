package platform

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A Chat is a service of chats that the workspace is connected to, as an older platform has it (read in
// the source of April 2026). What is said to it goes to all of its chats.
type Chat struct {
	ID      string
	Service string // telegram, slack and the like
	Chats   []string
	Enabled bool
}

// UnmarshalJSON implements [json.Unmarshaler]. Nothing else of its configuration is read: secrets stand there.
func (c *Chat) UnmarshalJSON(raw []byte) error {
	var row struct {
		ID      string `json:"id"`
		Service string `json:"channel_type"`
		Enabled bool   `json:"enabled"`
		Config  struct {
			Chats looseText `json:"chat_id"`
		} `json:"config"`
	}
	if err := json.Unmarshal(raw, &row); err != nil {
		return err
	}
	*c = Chat{ID: row.ID, Service: row.Service, Enabled: row.Enabled}
	for id := range strings.SplitSeq(string(row.Config.Chats), ",") {
		if id = strings.TrimSpace(id); id != "" {
			c.Chats = append(c.Chats, id)
		}
	}
	return nil
}

// Chats are the services of chats that the workspace is connected to. A platform that has none of the
// kind does not offer them: [ErrUnsupported].
func (c *Client) Chats(ctx context.Context) ([]Chat, error) {
	var out []Chat
	err := c.call(ctx, request{
		op: "list the chats", method: http.MethodGet, path: c.own("/channels"), out: &out, repeats: harmless, feature: featureChats,
	})
	return out, err
}

// SayInChat says something to all chats of a service.
func (c *Client) SayInChat(ctx context.Context, id, text string) error {
	return c.call(ctx, request{
		op: "say something in a chat", method: http.MethodPost, path: c.own("/channels/" + url.PathEscape(id) + "/send"),
		body: map[string]string{"text": text},
	})
}

// OnlyChat finds the service that has a chat, and no other, since all of them would get what is said.
func OnlyChat(all []Chat, service, chat string) (found Chat, ok bool) {
	i := slices.IndexFunc(all, func(c Chat) bool {
		return c.Enabled && strings.EqualFold(c.Service, service) && len(c.Chats) == 1 && c.Chats[0] == chat
	})
	if i < 0 {
		return Chat{}, false
	}
	return all[i], true
}
