package platform

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// An Event is a row for the activity log. What it holds should have been redacted.
type Event struct {
	Type         string          `json:"activity_type"` // agent_log, a2a_send, task_update, …
	Method       string          `json:"method,omitempty"`
	Summary      string          `json:"summary,omitempty"`      // cut at 256 characters
	Source       string          `json:"source_id,omitempty"`    // "" or our own id
	Target       string          `json:"target_id,omitempty"`    //
	Status       string          `json:"status,omitempty"`       // ok or error
	ErrorDetail  string          `json:"error_detail,omitempty"` // cut at 4096 characters
	DurationMS   int64           `json:"duration_ms,omitempty"`
	RequestBody  json.RawMessage `json:"request_body,omitempty"`
	ResponseBody json.RawMessage `json:"response_body,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`

	At time.Time `json:"-"` // when it happened; the zero time is when it is written
}

const (
	mostSummary     = 256
	mostErrorDetail = 4096
)

// Activity writes a row into the activity log.
func (c *Client) Activity(ctx context.Context, e Event) error {
	e = e.dated(time.Now())
	e.Summary = cut(e.Summary, mostSummary)
	e.ErrorDetail = cut(e.ErrorDetail, mostErrorDetail)
	return c.call(ctx, request{op: "log activity", method: http.MethodPost, path: c.own("/activity"), body: e})
}

// cut is the text's first n characters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// A Row is one of the activity log.
type Row struct {
	ID           string          `json:"id"`
	Workspace    string          `json:"workspace_id"`
	Type         string          `json:"activity_type"`
	Source       string          `json:"source_id"` // "" is the user
	Target       string          `json:"target_id"`
	Method       string          `json:"method"`
	Summary      string          `json:"summary"`
	Status       string          `json:"status"`
	ErrorDetail  string          `json:"error_detail"`
	DurationMS   int64           `json:"duration_ms"` // of what the row tells, which ended when it was written
	CreatedAt    time.Time       `json:"created_at"`
	Seq          int64           `json:"seq"` // 0 from older platforms
	RequestBody  json.RawMessage `json:"request_body"`
	ResponseBody json.RawMessage `json:"response_body"`
	PeerName     string          `json:"peer_name"`
	PeerRole     string          `json:"peer_role"`
	CardURL      string          `json:"agent_card_url"`
	Attachments  []RowAttachment `json:"attachments"`

	// Written is when it was written, by the clock of this machine, up to a second later than that; zero
	// where the platform does not say.
	Written time.Time `json:"-"`
	// Cut names the members that are empty because the row is too large to be read whole, as
	// they are called in JSON. What is not known of the sender is said as of one without an id.
	Cut []string `json:"-"`
}

// Lacks reports whether one of the members was left out.
func (r Row) Lacks(members ...string) bool {
	return slices.ContainsFunc(members, func(name string) bool { return slices.Contains(r.Cut, name) })
}

// A RowAttachment is a file that a row's message names.
type RowAttachment struct {
	Kind     string `json:"kind"` // file, image, audio or video
	URI      string `json:"uri"`
	MimeType string `json:"mime_type"`
	Name     string `json:"name"`
}

// FromPeer is the peer whose message the row is, or "".
func (r Row) FromPeer() string { return strings.TrimSpace(r.Source) }

// AckActivity tells that all rows up to seq have been dealt with, so that the
// platform may prune them. Older platforms do not want to know: [ErrUnsupported].
func (c *Client) AckActivity(ctx context.Context, seq int64) error {
	_, err := c.ack(ctx, seq)
	return err
}

// Acknowledged returns up to which row the platform was told that all are dealt with. An
// acknowledgement takes nothing back, so that of no row asks. [ErrUnsupported] likewise.
func (c *Client) Acknowledged(ctx context.Context) (int64, error) { return c.ack(ctx, 0) }

func (c *Client) ack(ctx context.Context, seq int64) (last int64, err error) {
	body := struct {
		Seq int64 `json:"acked_seq"`
	}{seq}
	var answer struct {
		Last int64 `json:"last_acked_seq"`
	}
	err = c.call(ctx, request{
		op: "acknowledge activity", method: http.MethodPost, path: c.own("/activity/ack"), body: body, out: &answer,
		repeats: harmless, feature: featureAck,
	})
	return answer.Last, err
}
