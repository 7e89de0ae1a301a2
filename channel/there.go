package channel

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// around is what is looked at before a try: platforms count in seconds.
const around = 2 * time.Second

// doubt is how much earlier a reply may have been sent that is found by the look: of how
// long ago rows are, platforms and clocks have their own ideas. A reply that is taken for
// one of another would be lost.
const doubt = 15 * time.Second

// there reports whether a note to the user has arrived of which that is not known: the
// platform keeps what it was told in its log. Replies of the same text that are known to
// have arrived do not count. Where the log cannot tell, it is sent again: twice is better
// than never.
func (s *sender) there(ctx context.Context, space *space, r store.InboxReply, says said) (bool, error) {
	since := time.Since(r.Tried) + around
	rows, err := space.Platform.ActivityRows(platform.Once(ctx), platform.RowQuery{
		Type: inboxType, Source: "canvas", Since: max(since, time.Second), Limit: timeRows,
	})
	if err != nil {
		return false, err
	}
	found := 0
	for _, row := range rows {
		if row.Method == "notify" && row.Source == "" && notes(row, says.Text) {
			found++
		}
	}
	known, err := s.channel.cfg.Store.SentSince(ctx, space.ID, r.Digest, r.Tried.Add(-around-doubt))
	if err != nil {
		return false, err
	}
	there := found > known
	s.channel.log.Info("whether a reply has arrived was not known; the platform's log was asked", "reply", r.ID, "arrived", there)
	return there, nil
}

// notes reports whether the row is of a note with that text. Its summary is cut.
func notes(row platform.Row, text string) bool {
	for _, raw := range []json.RawMessage{row.ResponseBody, row.RequestBody} {
		var b struct {
			Message json.RawMessage `json:"message"`
		}
		var message string
		if json.Unmarshal(raw, &b) == nil && json.Unmarshal(b.Message, &message) == nil && message != "" {
			return message == text
		}
	}
	summary := strings.TrimSuffix(strings.TrimSuffix(row.Summary, "…"), "...")
	return row.Summary == text || len(summary) >= 100 && strings.HasPrefix(text, summary)
}
