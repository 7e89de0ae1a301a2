package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// TestInboxCursorStays: what is noted without a place leaves the place alone, and what was
// acknowledged is not taken back.
func TestInboxCursorStays(t *testing.T) {
	ctx, s := t.Context(), inboxOf(t, t.TempDir(), nil)
	if _, err := s.AcceptInbox(ctx, page(rowOf(1, "canvas", "c"))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AcceptInbox(ctx, store.InboxPage{Workspace: "w", Rows: []store.InboxRow{rowOf(2, "own", "c")}}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.MarkInboxAcked(ctx, "w", 7), s.MarkInboxAcked(ctx, "w", 5)); err != nil {
		t.Fatal(err)
	}
	if cur := must[store.InboxCursor](t)(s.InboxCursor(ctx, "w")); cur.Cursor != "a1" || cur.Acked != 7 {
		t.Errorf("%+v", cur)
	}
}

// TestInboxBudgetOfOthers: the user of one workspace does not speak for that of another.
func TestInboxBudgetOfOthers(t *testing.T) {
	ctx, s := t.Context(), inboxOf(t, t.TempDir(), nil)
	other := page(rowOf(9, "canvas", "o"))
	other.Workspace = "other"
	for _, p := range []store.InboxPage{page(rowOf(1, "peer", "p"), rowOf(2, "peer", "p")), other, page(rowOf(3, "peer", "p"))} {
		if _, err := s.AcceptInbox(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	if rows := must[[]store.InboxRow](t)(s.InboxOpen(ctx, "p", 0, 10)); len(rows) != 3 || rows[2].Mute == "" {
		t.Errorf("%+v", rows)
	}
}

// TestInboxFullDisk: nothing more is accepted, and the place is not moved.
func TestInboxFullDisk(t *testing.T) {
	ctx := t.Context()
	s, err := store.Open(ctx, store.Config{Dir: t.TempDir(), Reserve: 1 << 60})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.AcceptInbox(ctx, page(rowOf(1, "canvas", "c"))); !errors.Is(err, store.ErrFull) {
		t.Errorf("%v", err)
	}
	if cur := must[store.InboxCursor](t)(s.InboxCursor(ctx, "w")); cur.Cursor != "" {
		t.Errorf("%+v", cur)
	}
}

// TestSentSince counts what the user of one workspace sees as the same.
func TestSentSince(t *testing.T) {
	now := time.Now()
	ctx, s := t.Context(), inboxOf(t, t.TempDir(), func() time.Time { return now })
	if _, err := s.AcceptInbox(ctx, page(rowOf(1, "canvas", "c"))); err != nil {
		t.Fatal(err)
	}
	for _, r := range []store.InboxReply{
		{ID: "r1", Workspace: "w", Digest: []byte("d")}, {ID: "r2", Workspace: "w", Digest: []byte("other")},
		{ID: "r3", Workspace: "other", Digest: []byte("d")}, {ID: "r4", Workspace: "w", Digest: []byte("d"), Peer: "p"},
	} {
		r.Chat = "c"
		if _, err := s.AnswerInbox(ctx, 1, r); err != nil {
			t.Fatal(err)
		}
		if err := s.FinishReply(ctx, r.ID); err != nil {
			t.Fatal(err)
		}
	}
	if n := must[int](t)(s.CountSentReplies(ctx, "w", []byte("d"), now)); n != 1 {
		t.Errorf("%d", n)
	}
	if n := must[int](t)(s.CountSentReplies(ctx, "w", []byte("d"), now.Add(time.Second))); n != 0 {
		t.Errorf("%d of a time before", n)
	}
}

// TestRetriedReplyBeginsAnew: with its pauses, too.
func TestRetriedReplyBeginsAnew(t *testing.T) {
	ctx, s := t.Context(), inboxOf(t, t.TempDir(), nil)
	if _, err := s.AcceptInbox(ctx, page(rowOf(1, "canvas", "c"))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AnswerInbox(ctx, 1, store.InboxReply{ID: "r", Workspace: "w", Chat: "c", Body: []byte("hello")}); err != nil {
		t.Fatal(err)
	}
	err := errors.Join(s.PutOffReply(ctx, "r", time.Now().Add(time.Hour), "busy", false), s.GiveUpReply(ctx, "r", "refused", nil), s.RetryReply(ctx, "a1"))
	if r, gone := s.Reply(ctx, "r"); err != nil || gone != nil || r.Tries != 0 || r.Error != "" || time.Until(r.Due) > 0 || string(r.Body) != "hello" {
		t.Errorf("%+v, %v, %v", r, gone, err)
	}
}
