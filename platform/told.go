package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	// around is what is looked at before a try: platforms count in seconds.
	around = 2 * time.Second
	// doubt is how much earlier a note may have been sent that is found by a look: of how
	// long ago rows are, platforms and clocks have their own ideas. A note that is taken for
	// one of another would be lost.
	doubt = 15 * time.Second
	// lag is how long after it was tried a note may stand in the log: a try takes its time, and
	// the platform's clock is not ours. What the user has said since then is not looked through.
	lag = 10 * time.Minute

	mostLooks  = 40 // pages that one look takes, however few rows can be read at once
	lookLimit  = 5 * time.Minute
	mostRows   = 500 // of a page
	fewestRows = 100 // some have no larger pages, whatever they are asked for
	longestRow = 64  // of the id of a row
)

// ErrCannotTell says that the log does not tell whether the user was told something.
var ErrCannotTell = errors.New("the platform's log cannot tell")

// A Log is where the platform keeps what it was told, and what it was asked to tell. A [Client]
// has that of its workspace.
type Log interface {
	ActivityRows(ctx context.Context, q RowQuery) ([]Row, error)
}

// Told reports whether a note to the user has arrived that was tried at a time, and of which that is
// not known. Known says how many of the same text are known to have arrived since a time: those do not
// count. With [ErrCannotTell] it will not be known later either; with other errors it may be.
func Told(ctx context.Context, log Log, text string, tried time.Time, known func(since time.Time) (int, error)) (bool, error) {
	l := look{log: log, text: text, seen: map[string]bool{}}
	limited, cancel := context.WithTimeoutCause(ctx, lookLimit, ErrCannotTell)
	err := l.through(limited, tried)
	cancel()
	// Only now: another of the same text may have been sent meanwhile, and been found.
	n, failed := known(tried.Add(-around - doubt))
	refused, isRefused := errors.AsType[*Error](err)
	switch {
	case failed != nil:
		return false, failed
	case err == nil || l.found > n:
		return l.found > n, nil
	case ctx.Err() == nil && (errors.Is(context.Cause(limited), ErrCannotTell) || isRefused && (refused.Permanent() || refused.Status == http.StatusNotFound)):
		return false, fmt.Errorf("%w: %w", ErrCannotTell, err)
	}
	return false, err
}

// A look goes through the platform's log for notes with a text.
type look struct {
	log   Log
	text  string
	seen  map[string]bool // the rows, by their ids
	found int
}

// through looks at the time around a try, the newest first. Of rows that are too large to be
// read together fewer are asked for.
func (l *look) through(ctx context.Context, tried time.Time) error {
	q := RowQuery{
		Type: "a2a_receive", Source: "canvas", Since: max(time.Since(tried)+around, time.Second), Limit: mostRows, Patient: true,
	}
	if end := tried.Add(lag); end.Before(time.Now()) {
		q.Before = end
	}
	for range mostLooks {
		rows, err := l.log.ActivityRows(Once(ctx), q)
		switch {
		case errors.Is(err, ErrTooMuch) && q.Limit > 1:
			q.Limit = max(1, q.Limit/8)
			continue
		case errors.Is(err, ErrTooMuch):
			return fmt.Errorf("%w: %w", ErrCannotTell, err)
		case err != nil:
			return err
		}
		fresh := l.read(rows)
		if len(rows) < min(q.Limit, fewestRows) || !fresh { // some have smaller pages than they are asked for
			return nil
		}
		q.Before = rows[0].CreatedAt
	}
	return ErrCannotTell
}

// read counts the notes of a page, and reports whether it has rows that were not read before.
func (l *look) read(rows []Row) (fresh bool) {
	for _, row := range rows {
		if l.seen[row.ID] || len(row.ID) > longestRow {
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
func notes(row Row, text string) bool {
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
