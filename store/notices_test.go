package store

import (
	"context"
	"testing"
	"time"
)

// endWith ends a task that was to be told of.
func endWith(t *testing.T, s *Store, task string, n Notice) {
	t.Helper()
	m := Message{Key: Key{Message: "m-" + task}, TaskID: task, Job: "job-" + task, Conversation: "c", Body: []byte("{}")}
	head := Head{ID: task, Context: "c", Conversation: "c", State: "working", At: time.Unix(1, 0), Body: []byte("{}")}
	must(t, s.Accept(t.Context(), m, head))
	head.State, head.Ended = "completed", true
	must(t, s.Write(t.Context(), Change{Head: &head, Ended: []string{m.Job}, Notice: &n}))
}

func noticesOf(t *testing.T, list []Notice, err error) []string {
	t.Helper()
	must(t, err)
	var tasks []string
	for _, n := range list {
		tasks = append(tasks, n.Task)
	}
	return tasks
}

// toSend are all that are to be sent.
func toSend(s *Store) (all []Notice, err error) {
	err = s.NoticesToSend(context.Background(), func(n Notice) bool {
		all = append(all, n)
		return true
	})
	return all, err
}

func TestNotices(t *testing.T) {
	ctx := t.Context()
	s := open(t, Config{Dir: t.TempDir()})
	due := time.Unix(100, 0)
	endWith(t, s, "b", Notice{Target: "http://b", Status: NoticePending, Due: due, Body: []byte("of b")})
	endWith(t, s, "a", Notice{})
	endWith(t, s, "c", Notice{Target: "local", Status: NoticePending, Due: due.Add(-time.Second)})

	list, err := s.Notices(ctx, 10)
	equal(t, noticesOf(t, list, err), []string{"b", "a", "c"})
	list, err = s.Notices(ctx, 2)
	equal(t, noticesOf(t, list, err), []string{"b", "a"})
	list, err = toSend(s)
	equal(t, noticesOf(t, list, err), []string{"c", "b"})
	c, err := s.Notice(ctx, "c")
	must(t, err)
	c.Status, c.Tries = NoticeFailed, 1
	must(t, s.SetNotice(ctx, c))
	list, err = toSend(s)
	equal(t, noticesOf(t, list, err), []string{"b", "c"}) // what was never tried comes first

	b, err := s.Notice(ctx, "b")
	must(t, err)
	b.Status, b.Error, b.Tries, b.Due = NoticeFailed, "HTTP 500", 1, time.Time{}
	must(t, s.SetNotice(ctx, b))
	list, err = toSend(s)
	equal(t, noticesOf(t, list, err), []string{"c"})
	task, err := s.Task(ctx, "b")
	must(t, err)
	if n := task.Notice; n == nil || n.Target != "http://b" || n.Status != NoticeFailed || n.Error != "HTTP 500" || !n.Sent.IsZero() {
		t.Errorf("the task has the notice %+v", n)
	}

	b.Status, b.Error, b.Sent = NoticeSent, "", time.Unix(200, 5)
	must(t, s.SetNotice(ctx, b))
	b.Status, b.Sent = NoticeFailed, time.Time{} // somebody who comes too late
	must(t, s.SetNotice(ctx, b))
	page, err := s.Tasks(ctx, Query{Limit: 10})
	must(t, err)
	for _, task := range page.Tasks {
		if task.ID == "b" && (task.Notice.Status != NoticeSent || !task.Notice.Sent.Equal(time.Unix(200, 5))) {
			t.Errorf("in the list the task has the notice %+v", task.Notice)
		}
	}
	a, err := s.Notice(ctx, "a")
	must(t, err)
	a.Status = NoticeNoTarget
	must(t, s.SetNotice(ctx, a))
	list, err = s.Notices(ctx, 10)
	equal(t, noticesOf(t, list, err), []string{"c"})
	_, err = s.Notice(ctx, "nobody")
	wantErr(t, err, ErrUnknown)
}

// TestNoticeGoesWithItsTask leaves nothing of a task that is forgotten.
func TestNoticeGoesWithItsTask(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Dir: t.TempDir(), Now: clock.Now, Retention: Retention{Tasks: 1}})
	endWith(t, s, "old", Notice{Target: "local", Status: NoticePending})
	clock.advance(time.Second)
	endWith(t, s, "new", Notice{Target: "local", Status: NoticePending})
	clock.advance(time.Hour)
	must(t, s.Sweep(t.Context()))
	list, err := s.Notices(t.Context(), 10)
	equal(t, noticesOf(t, list, err), []string{"new"})
}
