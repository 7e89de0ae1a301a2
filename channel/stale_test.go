package channel

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A counter is a platform that counts what the user is told, and cannot do anything else.
type counter struct {
	Platform
	notes int
}

func (c *counter) Notify(context.Context, string, ...platform.Attachment) error {
	c.notes++
	return &platform.Error{Status: 503}
}

// TestStaleList: a list of what is due may be older than the try that has just ended. What
// was put off by that is not tried at once, and what has ended not again.
func TestStaleList(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) { staleList(t, dir) })
}

// staleList is on a clock of its own, so nothing becomes due by itself.
func staleList(t *testing.T, dir string) {
	ctx := t.Context()
	st, err := store.Open(ctx, store.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	desk := &counter{}
	c := New(Config{Store: st, Workspaces: []Workspace{{ID: "w", Platform: desk}}})
	row := store.InboxRow{Activity: "a", Kind: kindCanvas, Chat: "c", State: store.InboxAccepted}
	if _, err := st.AcceptInbox(ctx, store.InboxPage{Workspace: "w", Rows: []store.InboxRow{row}}); err != nil {
		t.Fatal(err)
	}
	says := said{Text: "hello"}
	if _, err := st.AnswerInbox(ctx, 1, store.InboxReply{ID: "r", Workspace: "w", Chat: "c", Body: says.encode(), Digest: digestOf(says.Text)}); err != nil {
		t.Fatal(err)
	}
	due, err := st.FirstReplies(ctx, 1)
	if err != nil || len(due) != 1 {
		t.Fatal(due, err)
	}
	for range 3 {
		if err := c.sending.Now(ctx, "c", &reply{InboxReply: due[0], space: c.spaces["w"]}); err != nil {
			t.Error(err)
		}
	}
	if desk.notes != 1 {
		t.Errorf("the user was told %d times", desk.notes)
	}
	if now, err := st.Reply(ctx, "r"); err != nil || now.Tries != 1 || time.Until(now.Due) <= 0 {
		t.Errorf("%+v, %v", now, err)
	}
	if err := st.GiveUpReply(ctx, "r", "refused", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.sending.Now(ctx, "c", &reply{InboxReply: due[0], space: c.spaces["w"]}); err != nil {
		t.Error(err)
	}
	if desk.notes != 1 {
		t.Errorf("what was given up is sent again")
	}
}

// TestAskedToWait: a platform can have us wait, and not for ever.
func TestAskedToWait(t *testing.T) {
	l := newConnection()
	for asked, want := range map[time.Duration]time.Duration{42 * time.Second: 42 * time.Second, 24 * time.Hour: deliver.LongestAsked} {
		err := &platform.Error{Status: 429, RetryAfter: asked}
		if got, next := l.failed(err), pause(3, err); got != want || next != want {
			t.Errorf("asked for %s: %s and %s", asked, got, next)
		}
	}
}

// A taker is an engine that counts what it is given, and cannot do anything else.
type taker struct {
	Engine
	given int
}

func (e *taker) Give(context.Context, Message) (string, error) {
	e.given++
	return "", &RefusedError{Text: "counted"}
}

func (e *taker) Over(context.Context, string) bool { return true }

// TestStaleRow: a row may have been answered since it was read, and is not given again. One
// that was not is: the process that has given it is gone.
func TestStaleRow(t *testing.T) {
	ctx := t.Context()
	st, err := store.Open(ctx, store.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	engine := &taker{}
	c := New(Config{Store: st, Engine: engine, Workspaces: []Workspace{{ID: "w"}}})
	var rows []store.InboxRow
	for _, id := range []string{"answered", "open"} {
		rows = append(rows, store.InboxRow{Activity: id, Kind: kindCanvas, Chat: "c", Body: []byte("{}"), State: store.InboxAccepted})
	}
	if _, err := st.AcceptInbox(ctx, store.InboxPage{Workspace: "w", Rows: rows}); err != nil {
		t.Fatal(err)
	}
	for n := range int64(2) {
		if err := st.MarkInboxGiven(ctx, n+1, "task"); err != nil {
			t.Fatal(err)
		}
	}
	rows, err = st.InboxOpen(ctx, "c", 0, 2)
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	if err := st.DrainInbox(ctx, 1, ""); err != nil {
		t.Fatal(err)
	}
	for want, row := range rows { // none of the first, one of the second
		if !c.chats.one(ctx, ctx, row) || engine.given != want {
			t.Errorf("%s: given %d times", row.Activity, engine.given)
		}
	}
}
