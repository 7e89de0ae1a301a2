package platform

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// A RowQuery says which rows are wanted. Since and After may both be set.
type RowQuery struct {
	Type     string        // a2a_receive, …; "" is all
	After    string        // the id of a row: only later ones
	Since    time.Duration // only rows of that long ago until now
	Before   time.Time     // only rows older than that
	Source   string        // canvas or agent
	Peer     string        // only rows of and for that peer
	PeerInfo bool          // with the peers' names, and attachments
	Limit    int           // at most 500; 0 is 100
	Patient  bool          // a slow answer is waited for as long as it comes, some minutes at most
}

// ActivityRows returns rows of the activity log, oldest first, whatever order the
// platform has them in. An unknown row in After is [ErrCursorGone]; a platform that
// does not know After at all is [ErrCursorIgnored]. Where one row is asked for, it may be of any
// size: of one that is too large there is what its Cut leaves.
func (c *Client) ActivityRows(ctx context.Context, q RowQuery) ([]Row, error) {
	var page list[looseRow]
	var now, here time.Time
	r := request{
		op: "read the activity log", method: http.MethodGet, path: c.own("/activity"), query: q.values(),
		out: &page, repeats: harmless, date: &now, dated: &here,
	}
	var cut []string
	if q.Limit == 1 { // there is no asking for less
		r.most, r.alone = mostRow, &cut
	}
	if q.Patient {
		r.limit, r.piece = uploadTimeout, requestTimeout
	}
	err := c.call(ctx, r)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, 0, len(page))
	for _, r := range page {
		row := Row(r)
		if !now.IsZero() && !row.CreatedAt.IsZero() {
			row.Written = here.Add(row.CreatedAt.Sub(now))
		}
		rows = append(rows, row)
	}
	if len(rows) == 1 {
		rows[0].Cut = cut
	}
	if q.After != "" && ignored(q.After, rows) {
		return nil, ErrCursorIgnored
	}
	slices.SortStableFunc(rows, older)
	if q.Since > 0 { // older platforms do not know it
		first := now.Add(-q.Since - dateSlack)
		if now.IsZero() {
			first = time.Now().Add(-q.Since - clockSlack)
		}
		rows = slices.DeleteFunc(rows, func(r Row) bool { return !r.CreatedAt.IsZero() && r.CreatedAt.Before(first) })
	}
	return rows, nil
}

const (
	// The platform's clock may be this far from ours, where it does not say what time it
	// has, before rows are taken for too old.
	clockSlack = 5 * time.Minute
	dateSlack  = 10 * time.Second // and that of its rows from the one that it shows
)

func (q RowQuery) values() url.Values {
	out := url.Values{}
	set := func(name, value string) {
		if value != "" {
			out.Set(name, value)
		}
	}
	set("type", q.Type)
	set("since_id", q.After)
	set("source", q.Source)
	set("peer_id", q.Peer)
	if q.Since > 0 {
		set("since_secs", strconv.FormatInt(int64(q.Since.Round(time.Second)/time.Second), 10))
	}
	if !q.Before.IsZero() {
		set("before_ts", q.Before.UTC().Format(time.RFC3339Nano))
	}
	if q.PeerInfo {
		set("include", "peer_info")
	}
	if q.Limit > 0 {
		set("limit", strconv.Itoa(min(q.Limit, 500)))
	}
	return out
}

// ignored reports whether the page cannot be what comes after the cursor: it has the
// cursor's own row, or is in the order of pages without a cursor, newest first.
func ignored(cursor string, rows []Row) bool {
	if slices.ContainsFunc(rows, func(r Row) bool { return r.ID == cursor }) {
		return true
	}
	return len(rows) > 1 && older(rows[0], rows[len(rows)-1]) > 0
}

// older orders rows by their time, then by their number.
func older(a, b Row) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Seq, b.Seq))
}
