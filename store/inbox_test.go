package store_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// inboxOf is a store with a page of rows: one of the user, two of a peer, one drained.
func inboxOf(t *testing.T, dir string, now func() time.Time) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Dir: dir, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func rowOf(n int, kind, chat string) store.InboxRow {
	return store.InboxRow{Activity: fmt.Sprintf("a%d", n), Seq: int64(n), Kind: kind, Chat: chat, Body: []byte("{}"), State: store.InboxAccepted}
}

func page(rows ...store.InboxRow) store.InboxPage {
	return store.InboxPage{
		Workspace: "w", Cursor: rows[len(rows)-1].Activity, Rows: rows,
		Counted: "peer", Resets: "canvas", Most: 2, Mute: "enough",
	}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestInboxPage: rows and their cursor are one commit, a row that comes again is none.
func TestInboxPage(t *testing.T) {
	ctx, s := t.Context(), inboxOf(t, t.TempDir(), nil)
	drained := rowOf(2, "own", "c")
	drained.State = store.InboxDrained
	first := page(rowOf(1, "canvas", "c"), drained)
	first.Read = time.Unix(7, 0)
	if n := must[int](t)(s.AcceptInbox(ctx, first)); n != 2 {
		t.Errorf("%d new", n)
	}
	if n := must[int](t)(s.AcceptInbox(ctx, page(rowOf(1, "canvas", "c"), rowOf(3, "canvas", "c")))); n != 1 {
		t.Errorf("%d new", n)
	}
	if cur := must[store.InboxCursor](t)(s.InboxCursor(ctx, "w")); cur.Cursor != "a3" || !cur.Read.Equal(first.Read) {
		t.Errorf("%+v", cur)
	}
	rows := must[[]store.InboxRow](t)(s.InboxOpen(ctx, "c", 0, 10))
	if len(rows) != 2 || rows[0].Activity != "a1" || rows[1].Activity != "a3" {
		t.Errorf("%+v", rows)
	}
	if err := s.DropInboxCursor(ctx, "w"); err != nil {
		t.Fatal(err)
	}
	if cur := must[store.InboxCursor](t)(s.InboxCursor(ctx, "w")); cur.Cursor != "" || !cur.Read.Equal(first.Read) {
		t.Errorf("%+v", cur)
	}
	if cur, err := s.InboxCursor(ctx, "other"); err != nil || cur.Cursor != "" {
		t.Errorf("%+v, %v", cur, err)
	}
}

// TestInboxBudget counts by chat, and anew when the user has spoken.
func TestInboxBudget(t *testing.T) {
	ctx, s := t.Context(), inboxOf(t, t.TempDir(), nil)
	_, err := s.AcceptInbox(ctx, page(rowOf(1, "peer", "p"), rowOf(2, "peer", "p"), rowOf(3, "peer", "p"), rowOf(4, "peer", "q"),
		rowOf(5, "canvas", "c"), rowOf(6, "peer", "p")))
	if err != nil {
		t.Fatal(err)
	}
	var mute []string
	for _, r := range append(must[[]store.InboxRow](t)(s.InboxOpen(ctx, "p", 0, 10)), must[[]store.InboxRow](t)(s.InboxOpen(ctx, "q", 0, 10))...) {
		mute = append(mute, r.Activity+r.Mute)
	}
	if !slices.Equal(mute, []string{"a1", "a2", "a3enough", "a6", "a4"}) {
		t.Errorf("%q", mute)
	}
	kept, err := s.AnswerInbox(ctx, 3, store.InboxReply{ID: "r", Workspace: "w", Chat: "p"})
	if err != nil || kept {
		t.Errorf("a reply to a row that gets none: %t, %v", kept, err)
	}
	if due := must[[]store.InboxReply](t)(s.FirstReplies(ctx, 10)); len(due) != 0 {
		t.Errorf("%+v", due)
	}
}

// TestInboxReplies: a reply ends the rows of its task, is made once, and is acknowledged
// when there is nothing open before it.
func TestInboxReplies(t *testing.T) {
	ctx, s := t.Context(), inboxOf(t, t.TempDir(), nil)
	if _, err := s.AcceptInbox(ctx, page(rowOf(1, "canvas", "c"), rowOf(2, "canvas", "c"), rowOf(3, "canvas", "d"), rowOf(4, "canvas", "c"))); err != nil {
		t.Fatal(err)
	}
	prefix := func() int64 { return must[int64](t)(s.InboxPrefix(ctx, "w")) }
	reply := store.InboxReply{ID: "r1", Workspace: "w", Chat: "c", Task: "t", Final: true, Body: []byte("hello"), Digest: []byte("d")}
	for _, n := range []int64{1, 2} {
		if err := s.MarkInboxGiven(ctx, n, "t"); err != nil {
			t.Fatal(err)
		}
	}
	aside := store.InboxReply{ID: "r0", Workspace: "w", Chat: "c", Task: "t", Aside: true}
	if kept, err := s.AnswerInbox(ctx, 1, aside); err != nil || !kept || s.FinishReply(ctx, "r0") != nil || prefix() != 0 {
		t.Errorf("what answers nothing has ended a row: %t, %v, prefix %d", kept, err, prefix())
	}
	for range 2 {
		if kept, err := s.AnswerInbox(ctx, 1, reply); err != nil || !kept {
			t.Fatalf("%t, %v", kept, err)
		}
	}
	if due := must[[]store.InboxReply](t)(s.FirstReplies(ctx, 10)); len(due) != 1 || due[0].ID != "r1" || prefix() != 0 {
		t.Fatalf("%+v, prefix %d", due, prefix())
	}
	if err := errors.Join(s.BeginReply(ctx, "r1"), s.PutOffReply(ctx, "r1", time.Now().Add(time.Hour), "why", true)); err != nil {
		t.Fatal(err)
	}
	if due := must[[]store.InboxReply](t)(s.FirstReplies(ctx, 10)); due[0].Tries != 1 || due[0].Tried.IsZero() || due[0].Error != "why" {
		t.Errorf("%+v", due)
	}
	if err := s.FinishReply(ctx, "r1"); err != nil || prefix() != 2 {
		t.Errorf("%v, prefix %d", err, prefix())
	}
	if r, err := s.Reply(ctx, "r1"); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("one that is sent: %+v, %v", r, err)
	}
	if err := s.MarkInboxGiven(ctx, 4, "t"); err != nil { // it became part of the task when that was about to end
		t.Fatal(err)
	}
	if kept, err := s.AnswerInbox(ctx, 4, reply); err != nil || !kept {
		t.Errorf("%t, %v", kept, err)
	}
	if open := must[[]store.InboxRow](t)(s.InboxOpen(ctx, "c", 0, 10)); len(open) != 0 {
		t.Errorf("%+v", open)
	}
	if err := s.DrainInbox(ctx, 3, "no"); err != nil || prefix() != 4 {
		t.Errorf("%v, prefix %d", err, prefix())
	}
}

// TestDeadReplies are kept with what they say, found by either id, and sent again.
func TestDeadReplies(t *testing.T) {
	ctx, s := t.Context(), inboxOf(t, t.TempDir(), nil)
	if _, err := s.AcceptInbox(ctx, page(rowOf(1, "canvas", "c"))); err != nil {
		t.Fatal(err)
	}
	reply := store.InboxReply{ID: "r1", Workspace: "w", Chat: "c", Body: []byte("hello"), Final: true}
	if _, err := s.AnswerInbox(ctx, 1, reply); err != nil {
		t.Fatal(err)
	}
	if err := s.GiveUpReply(ctx, "r1", "refused", &store.InboxReply{ID: "r2", Workspace: "w", Chat: "c", Body: []byte("sorry")}); err != nil {
		t.Fatal(err)
	}
	dead := must[[]store.DeadLetter](t)(s.DeadLetters(ctx, 10))
	if len(dead) != 1 || dead[0].Activity != "a1" || string(dead[0].Body) != "hello" || dead[0].Error != "refused" {
		t.Fatalf("%+v", dead)
	}
	if n := must[int64](t)(s.InboxPrefix(ctx, "w")); n != 1 {
		t.Errorf("prefix %d", n)
	}
	if due := must[[]store.InboxReply](t)(s.FirstReplies(ctx, 10)); len(due) != 1 || due[0].ID != "r2" {
		t.Errorf("%+v", due)
	}
	if err := s.FinishReply(ctx, "r2"); err != nil {
		t.Fatal(err)
	}
	if err := s.RetryReply(ctx, "nothing"); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("%v", err)
	}
	if err := s.RetryReply(ctx, "a1"); err != nil {
		t.Fatal(err)
	}
	if due := must[[]store.InboxReply](t)(s.FirstReplies(ctx, 10)); len(due) != 1 || due[0].ID != "r1" {
		t.Errorf("%+v", due)
	}
	if err := s.RetryReply(ctx, "r1"); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("one that is not dead: %v", err)
	}
}

// TestInboxTasks are those that have asked and not ended.
func TestInboxTasks(t *testing.T) {
	ctx, s := t.Context(), inboxOf(t, t.TempDir(), nil)
	if _, err := s.AcceptInbox(ctx, page(rowOf(1, "canvas", "c"), rowOf(2, "canvas", "c"))); err != nil {
		t.Fatal(err)
	}
	for n, id := range []string{"t1", "t2"} {
		if err := s.MarkInboxGiven(ctx, int64(n+1), id); err != nil {
			t.Fatal(err)
		}
		if _, err := s.AnswerInbox(ctx, int64(n+1), store.InboxReply{ID: id + "-asks", Workspace: "w", Chat: "c", Task: id}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.AnswerInbox(ctx, 1, store.InboxReply{ID: "t1-reply", Workspace: "w", Chat: "c", Task: "t1", Final: true}); err != nil {
		t.Fatal(err)
	}
	if open := must[[]store.InboxRow](t)(s.InboxTasks(ctx)); len(open) != 1 || open[0].Task != "t2" {
		t.Errorf("%+v", open)
	}
	if due := must[int](t)(s.CountDueReplies(ctx)); due != 3 {
		t.Errorf("%d replies wait", due)
	}
	if err := s.EndInboxTask(ctx, "t2"); err != nil {
		t.Fatal(err)
	}
	if open := must[[]store.InboxRow](t)(s.InboxTasks(ctx)); len(open) != 0 {
		t.Errorf("%+v", open)
	}
}

// TestInboxRetention forgets what is finished, and nothing else.
func TestInboxRetention(t *testing.T) {
	now, ahead := time.Now(), atomic.Int64{} // the store's own goroutine asks for the time, too
	ctx, s := t.Context(), inboxOf(t, t.TempDir(), func() time.Time { return now.Add(time.Duration(ahead.Load())) })
	if _, err := s.AcceptInbox(ctx, page(rowOf(1, "canvas", "c"), rowOf(2, "canvas", "c"))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AnswerInbox(ctx, 1, store.InboxReply{ID: "r1", Workspace: "w", Chat: "c", Final: true}); err != nil {
		t.Fatal(err)
	}
	if err := s.FinishReply(ctx, "r1"); err != nil {
		t.Fatal(err)
	}
	ahead.Add(int64(30*24*time.Hour + 10*time.Minute)) // a platform may still hand it out
	if err := s.Sweep(ctx); err != nil || !must[bool](t)(s.InboxHas(ctx, "w", "a1")) {
		t.Fatalf("a row is forgotten too soon, or %v", err)
	}
	ahead.Add(int64(24 * time.Hour))
	if err := s.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	first, second := must[bool](t)(s.InboxHas(ctx, "w", "a1")), must[bool](t)(s.InboxHas(ctx, "w", "a2"))
	if first || !second {
		t.Errorf("known: %t, %t", first, second)
	}
	if _, err := s.Reply(ctx, "r1"); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("%v", err)
	}
}

// TestInboxRows: of finished rows the newest are known, of other agents and of the user each, and
// so many that what one sends without end has nobody else's forgotten.
func TestInboxRows(t *testing.T) {
	ctx := t.Context()
	s, err := store.Open(ctx, store.Config{Dir: t.TempDir(), Retention: store.Retention{Rows: 3}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	var rows []store.InboxRow
	for n := range 12 {
		row := rowOf(n, "peer", "p")
		row.Peer, row.State = "p", store.InboxDrained
		switch n {
		case 0:
			row.State = store.InboxAccepted
		case 1, 2:
			row.Peer = ""
		case 3:
			row.Peer, row.URI = "", "workspace:/file"
		}
		rows = append(rows, row)
	}
	for n := range 4 {
		row := rowOf(20+n, "canvas", "c")
		row.State = store.InboxDrained
		rows = append(rows, row)
	}
	for n := range 4 {
		row := rowOf(30+n, "upload", "c")
		row.State, row.URI = store.InboxDone, fmt.Sprint("workspace:/", n)
		rows = append(rows, row)
	}
	if _, err := s.AcceptInbox(ctx, page(rows...)); err != nil {
		t.Fatal(err)
	}
	if err := s.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	var left []int
	for _, row := range rows {
		if must[bool](t)(s.InboxHas(ctx, "w", row.Activity)) {
			left = append(left, int(row.Seq))
		}
	}
	if want := []int{0, 9, 10, 11, 21, 22, 23, 31, 32, 33}; !slices.Equal(left, want) {
		t.Errorf("known are %v, want %v", left, want)
	}
}
