package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// TestInboxShare: a chat has its share, and all but the one that is spared have theirs; what
// is small is kept whole, and so is what comes when there is room again, also over a restart.
func TestInboxShare(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	s := inboxOf(t, dir, nil)
	number := 0
	accept := func(rows ...string) (kept []int) { // chat, and how many bytes
		t.Helper()
		p := store.InboxPage{Workspace: "w", Share: store.InboxShare{Spared: "user", Free: 10, Each: 100, All: 150, Instead: []byte("no")}}
		for _, row := range rows {
			var chat string
			var size int
			if _, err := fmt.Sscanf(row, "%s %d", &chat, &size); err != nil {
				t.Fatal(err)
			}
			number++
			r := rowOf(number, "peer", chat)
			r.Body = bytes.Repeat([]byte("x"), size)
			p.Rows = append(p.Rows, r)
		}
		again := p.Rows[0]
		again.Body = bytes.Repeat([]byte("y"), 90)
		p.Rows = append(p.Rows, again) // is known by then, and counts once
		if n := must[int](t)(s.AcceptInbox(ctx, p)); n != len(rows) {
			t.Fatalf("%d new", n)
		}
		for _, r := range p.Rows[:len(rows)] {
			open := must[[]store.InboxRow](t)(s.InboxOpen(ctx, r.Chat, 0, 100))
			of := open[slices.IndexFunc(open, func(o store.InboxRow) bool { return o.Activity == r.Activity })]
			if body := must[[]byte](t)(s.InboxBody(ctx, of.N)); of.Body != nil || of.Size != len(body) || len(body) == 2 && string(body) != "no" {
				t.Errorf("%d bytes are told of %d, and %d listed", of.Size, len(body), len(of.Body))
			}
			kept = append(kept, of.Size)
		}
		return kept
	}
	want := func(got []int, want ...int) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("kept %d, want %d", got, want)
		}
	}
	want(accept("a 60", "a 50", "a 30", "a 10", "user 500"), 60, 2, 30, 10, 500)
	want(accept("b 50", "a 20", "c 30"), 2, 2, 30) // of all but the user 102 are taken, and 136 then
	if n := must[int64](t)(s.InboxBytes(ctx, "w")); n != 636 {
		t.Errorf("%d bytes", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = inboxOf(t, dir, nil)
	want(accept("b 50"), 2)
	if err := s.DrainInbox(ctx, 1, "over"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.InboxBody(ctx, 1); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("the body of what is over: %v", err)
	}
	want(accept("b 50", "a 20", "c 30"), 50, 20, 2)
}
