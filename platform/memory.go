package platform

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Memory is a text that outlives conversations.
type Memory struct {
	ID        string    `json:"id"`
	Content   string    `json:"content"`
	Scope     string    `json:"scope"` // LOCAL, TEAM or GLOBAL
	Namespace string    `json:"namespace"`
	CreatedAt time.Time `json:"created_at"`
}

// CommitMemory keeps the content, in the scope and the namespace given; the id and
// the time are the platform's to say. It should have been redacted.
func (c *Client) CommitMemory(ctx context.Context, m Memory) (Memory, error) {
	body := struct {
		Content   string `json:"content"`
		Scope     string `json:"scope"`
		Namespace string `json:"namespace,omitempty"`
	}{m.Content, m.Scope, m.Namespace}
	out := m
	err := c.call(ctx, request{
		op: "commit a memory", method: http.MethodPost, path: c.own("/memories"), body: body,
		out: &out,
	})
	return out, err
}

// A Recall says which memories are wanted. The zero value wants our own, newest first.
type Recall struct {
	Query, Scope, Namespace string
	Limit                   int // at most 50
}

// mostMemories is how many memories the platform shows at once, and shows if no number is
// asked for.
const mostMemories = 50

// RecallMemory finds memories. Some platforms look into all scopes, whichever is asked
// for: what says that it is of another is left out. More says that there may be older ones
// behind those.
func (c *Client) RecallMemory(ctx context.Context, r Recall) (found []Memory, more bool, err error) {
	query := url.Values{}
	for name, value := range map[string]string{"q": r.Query, "scope": r.Scope, "namespace": r.Namespace} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if r.Limit > 0 {
		query.Set("limit", strconv.Itoa(r.Limit))
	}
	err = c.call(ctx, request{
		op: "recall memories", method: http.MethodGet, path: c.own("/memories"), query: query,
		out: (*list[Memory])(&found), repeats: harmless,
	})
	all := len(found)
	if r.Scope != "" {
		found = slices.DeleteFunc(found, func(m Memory) bool { return m.Scope != "" && !strings.EqualFold(m.Scope, r.Scope) })
	}
	return found, len(found) < all && all >= cmp.Or(r.Limit, mostMemories), err
}
