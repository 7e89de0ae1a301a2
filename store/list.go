package store

import (
	"context"
	"strings"
	"time"
)

// A Query selects tasks. Zero fields select all.
type Query struct {
	Context   string
	State     string
	Since     time.Time // the earliest time of the status
	After     Position  // the last task of the page before
	Limit     int       // of a page; must be positive
	History   int       // how many of the newest messages come with a task; negative means all
	Artifacts bool      // whether artifacts come with it
	Opening   int       // the first message comes with it in place of the newest, if it is not longer than so many bytes
}

// A Position is a place in the order of lists: the latest status first, and the
// greater id first among equals.
type Position struct {
	At time.Time
	ID string
}

// A Page is an answer to a [Query].
type Page struct {
	Tasks []Task
	Total int  // tasks that match, on all pages
	More  bool // there are more after this page
}

// Tasks returns a page of the tasks that match.
func (s *Store) Tasks(ctx context.Context, q Query) (Page, error) {
	return view(ctx, s, "list tasks", func(c *conn) (page Page, err error) {
		where, args := q.filter()
		if err := c.get("SELECT count(*) FROM tasks"+where, args, &page.Total); err != nil {
			return page, err
		}
		if q.After != (Position{}) {
			where += " AND (at, id) < (?, ?)"
			args = append(args, nanos(q.After.At), q.After.ID)
		}
		found, err := collect(c, scanTask, "SELECT "+taskColumns+" FROM tasks"+where+" ORDER BY at DESC, id DESC LIMIT ?",
			append(args, q.Limit+1)...)
		if err != nil {
			return page, err
		}
		page.More = len(found) > q.Limit
		for i := range found[:min(len(found), q.Limit)] {
			if err := c.fill(&found[i], q.History, q.Artifacts); err != nil {
				return page, err
			}
			if q.Opening > 0 {
				if found[i].History, err = c.opening(found[i].n, q.Opening); err != nil {
					return page, err
				}
			}
			page.Tasks = append(page.Tasks, found[i].Task)
		}
		return page, nil
	})
}

// opening returns the first message of a task, unless it is longer than most.
func (c *conn) opening(task int64, most int) ([][]byte, error) {
	return collect(c, only[[]byte], `SELECT body FROM history
		WHERE task = ?1 AND ordinal = (SELECT min(ordinal) FROM history WHERE task = ?1) AND length(body) <= ?2`, task, most)
}

// filter returns the condition that all pages share. It has only as many forms
// as there are sets of fields, for statements are kept by their text.
func (q Query) filter() (string, []any) {
	var where strings.Builder
	var args []any
	where.WriteString(" WHERE at >= ?")
	args = append(args, nanos(q.Since))
	if q.Context != "" {
		where.WriteString(" AND context_id = ?")
		args = append(args, q.Context)
	}
	if q.State != "" {
		where.WriteString(" AND state = ?")
		args = append(args, q.State)
	}
	return where.String(), args
}
