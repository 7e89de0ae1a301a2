package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// late is how long after it was tried a note may stand in the log: a try takes its time, and
// the platform's clock is not ours. What the user has said since then is not looked through.
const late = 10 * time.Minute

// mostLooks bounds the pages that one look takes, however few rows can be read at once.
const mostLooks = 40

// errCannotTell is a look that does not come to its end.
var errCannotTell = errors.New("there is too much in the platform's log")

// there reports whether a note to the user has arrived of which that is not known: the
// platform keeps what it was told in its log. Replies of the same text that are known to
// have arrived do not count. Where the log cannot tell, it is sent again: twice is better
// than never. A platform that does not answer at all is asked again later.
func (s *sender) there(ctx context.Context, space *space, r store.InboxReply, says said) (bool, error) {
	log := s.channel.log.With("workspace", r.Workspace, "reply", r.ID)
	l := look{platform: space.Platform, text: says.Text, seen: map[string]bool{}}
	limited, cancel := context.WithTimeoutCause(ctx, sendLimit, errCannotTell)
	err := l.through(limited, r.Tried)
	cancel()
	// Only now: another of the same text may have been sent meanwhile, and been found.
	known, failed := s.channel.cfg.Store.SentSince(ctx, space.ID, r.Digest, r.Tried.Add(-around-doubt))
	refused, isRefused := errors.AsType[*platform.Error](err)
	switch {
	case failed != nil:
		return false, failed
	case err == nil || l.found > known:
		log.Info("whether a reply has arrived was not known; the platform's log was asked", "arrived", l.found > known)
		return l.found > known, nil
	case ctx.Err() == nil && (errors.Is(context.Cause(limited), errCannotTell) || errors.Is(err, errCannotTell) || isRefused && refused.Permanent()):
		log.Warn("the platform's log cannot tell whether a reply has arrived; it is sent again", "err", err)
		return false, nil
	}
	log.Warn("whether a reply has arrived is not known yet; the platform's log is asked again", "tries", r.Tries+1, "err", err)
	return false, err
}

// A look goes through the platform's log for notes with a text.
type look struct {
	platform Platform
	text     string
	seen     map[string]bool // the rows, by their ids
	found    int
}

// through looks at the time around a try, the newest first. Of rows that are too large to be
// read together fewer are asked for.
func (l *look) through(ctx context.Context, tried time.Time) error {
	q := platform.RowQuery{
		Type: inboxType, Source: "canvas", Since: max(time.Since(tried)+around, time.Second), Limit: timeRows, Patient: true,
	}
	if end := tried.Add(late); end.Before(time.Now()) {
		q.Before = end
	}
	for range mostLooks {
		rows, err := l.platform.ActivityRows(platform.Once(ctx), q)
		switch {
		case errors.Is(err, platform.ErrTooMuch) && q.Limit > 1:
			q.Limit = max(1, q.Limit/8)
			continue
		case errors.Is(err, platform.ErrTooMuch):
			return fmt.Errorf("%w: %w", errCannotTell, err)
		case err != nil:
			return err
		}
		fresh := l.read(rows)
		if len(rows) < min(q.Limit, pageRows) || !fresh { // some have smaller pages than they are asked for
			return nil
		}
		q.Before = rows[0].CreatedAt
	}
	return errCannotTell
}

// read counts the notes of a page, and reports whether it has rows that were not read before.
func (l *look) read(rows []platform.Row) (fresh bool) {
	for _, row := range rows {
		if l.seen[row.ID] || len(row.ID) > longestName {
			continue
		}
		l.seen[row.ID], fresh = true, true
		if row.Method == "notify" && row.Source == "" && notes(row, l.text) {
			l.found++
		}
	}
	return fresh
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
