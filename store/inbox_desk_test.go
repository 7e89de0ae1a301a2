package store_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// TestInboxNotes: rows that were given are found, and keep what is noted of them until they are finished.
func TestInboxNotes(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	s := inboxOf(t, dir, nil)
	must[int](t)(s.AcceptInbox(ctx, page(rowOf(1, "canvas", "c"), rowOf(2, "canvas", "c"), rowOf(3, "canvas", "c"))))
	for _, n := range []int64{2, 1} {
		if err := errors.Join(s.MarkInboxGiven(ctx, n, "t"), s.NoteInbox(ctx, map[int64]string{n: "told"}, true)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = inboxOf(t, dir, nil)
	if got := must[[]int64](t)(s.InboxGivenRows(ctx, "w", 9)); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("given: %v", got)
	}
	if got := must[[]int64](t)(s.InboxGivenRows(ctx, "other", 9)); len(got) != 0 {
		t.Errorf("of another workspace: %v", got)
	}
	if row := must[store.InboxRow](t)(s.InboxRowOf(ctx, "w", "a2")); row.Note != "told" || row.State != store.InboxGiven {
		t.Errorf("%+v", row)
	}
	if _, err := s.InboxRowOf(ctx, "other", "a2"); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("of another workspace: %v", err)
	}
	if err := errors.Join(s.DrainInbox(ctx, 2, "read"), s.NoteInbox(ctx, map[int64]string{2: "told again"}, false)); err != nil {
		t.Fatal(err)
	}
	if row := must[store.InboxRow](t)(s.InboxRowOf(ctx, "w", "a2")); row.Note != "read" {
		t.Errorf("of a finished row: %+v", row)
	}
}

// TestHolds: who has a state says for which workspaces.
func TestHolds(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(t.Context(), store.Config{Dir: dir, What: "mcp", Holds: []string{"w1", "w2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	in, err := store.Inspect(dir)
	if err != nil || in.Holder == nil || !slices.Equal(in.Holder.Holds, []string{"w1", "w2"}) || in.Holder.What != "mcp" {
		t.Errorf("%+v, %v", in.Holder, err)
	}
}
