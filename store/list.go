package store

import (
	"context"
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
	Bytes     int       // a page ends early when its bodies take more, but has one task at least; 0 means never
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
	const what = "list tasks"
	if err := s.catalog(ctx, what); err != nil {
		return Page{}, err
	}
	return view(ctx, s, what, func(c *conn) (Page, error) { return c.tasks(q) })
}

// tasks is a page of the catalog, which has every task.
func (c *conn) tasks(q Query) (page Page, err error) {
	found, total := c.catalog.page(q)
	page.Total, page.More = total, len(found) > q.Limit
	size := 0
	for _, n := range found[:min(len(found), q.Limit)] {
		t, err := c.listed(n, q)
		if err != nil {
			return page, err
		}
		if size += t.size(); q.Bytes > 0 && size > q.Bytes && len(page.Tasks) > 0 {
			page.More = true
			break
		}
		page.Tasks = append(page.Tasks, t)
	}
	return page, nil
}

// catalog sees to it that every task is in the catalog. Each step is an operation of its
// own, so that none of them keeps others waiting for long.
func (s *Store) catalog(ctx context.Context, what string) error {
	for more := !s.cataloged.Load(); more; {
		var err error
		if more, err = view(ctx, s, what, (*conn).readCatalog); err != nil {
			return err
		}
		s.cataloged.Store(!more)
	}
	return nil
}

// listed returns a task with what a query wants of it.
func (c *conn) listed(n int64, q Query) (Task, error) {
	var t numbered
	err := c.each("SELECT "+taskColumns+" FROM tasks WHERE n = ?", list(n), func(row scanner) error { return scanTask(row, &t) })
	if err == nil {
		err = c.fill(&t, q.History, q.Artifacts)
	}
	if err == nil && q.Opening > 0 {
		t.History, err = c.opening(n, q.Opening)
	}
	return t.Task, err
}

// size is what the bodies of a task take.
func (t *Task) size() int {
	n := len(t.Body)
	for _, body := range t.History {
		n += len(body)
	}
	for _, body := range t.Artifacts {
		n += len(body)
	}
	return n
}

// opening returns the first message of a task, unless it is longer than most.
func (c *conn) opening(task int64, most int) ([][]byte, error) {
	return collect(c, only[[]byte], `SELECT body FROM history
		WHERE task = ?1 AND ordinal = (SELECT min(ordinal) FROM history WHERE task = ?1) AND length(body) <= ?2`, task, most)
}
