package platform

import (
	"encoding/json"
	"strings"
	"time"
)

// A row that waits before it is written says so: the platform dates rows by when they
// come, and its clock is not ours.
const lateness = "late_ms"

// How late a row is believed to be, and how long the answer of a message to take.
const (
	mostLate     = 10 * time.Minute
	mostAnswered = 30 * 24 * time.Hour
)

// dated is the event, with how late it is written if it says when it happened.
func (e Event) dated(now time.Time) Event {
	late := now.Sub(e.At).Milliseconds()
	if e.At.IsZero() || late <= 0 {
		return e
	}
	body := map[string]json.RawMessage{}
	if len(e.RequestBody) > 0 && json.Unmarshal(e.RequestBody, &body) != nil || body == nil {
		return e // it has another form, and is left as it is
	}
	body[lateness], _ = json.Marshal(late)
	e.RequestBody, _ = json.Marshal(body)
	return e
}

// Happened is when that happened which the row tells of, by the platform's clock. The
// row of a message stands there when the message has been answered; one that the
// workspace itself has written may have waited.
func (r Row) Happened(self string) time.Time {
	if !strings.EqualFold(r.Source, self) {
		return r.CreatedAt.Add(-time.Duration(max(0, min(r.DurationMS, mostAnswered.Milliseconds()))) * time.Millisecond)
	}
	var body struct {
		Late json.RawMessage `json:"late_ms"` // [lateness]
	}
	_ = json.Unmarshal(r.RequestBody, &body) // one that does not say is on time
	late := max(0, min(number(body.Late), mostLate.Milliseconds()))
	return r.CreatedAt.Add(-time.Duration(late) * time.Millisecond)
}
