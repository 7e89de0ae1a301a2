package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// TestInboxOfAnotherEngine: what another engine has had is noted once, also where its task is not; and of what it had the
// messages are found whose rows were finished meanwhile, no others.
func TestInboxOfAnotherEngine(t *testing.T) {
	ctx, s := t.Context(), inboxOf(t, t.TempDir(), nil)
	must[int](t)(s.AcceptInbox(ctx, page(rowOf(1, "canvas", "c"), rowOf(2, "canvas", "c"), rowOf(3, "canvas", "c"), rowOf(4, "canvas", "c"), rowOf(5, "canvas", "c"))))
	for _, id := range []string{"a1", "a2", "a3", "a5"} {
		m := store.Message{Key: store.Key{Context: "c", Message: id}, TaskID: "t" + id, Job: "j" + id, Conversation: "c", Body: []byte("{}")}
		if err := s.Accept(ctx, m, store.Head{ID: m.TaskID, Context: "c", Conversation: "c", State: "submitted", Body: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(s.MarkInboxGiven(ctx, 1, "ta1"), s.NoteInbox(ctx, map[int64]string{1: "told."}, true), s.MarkInboxGiven(ctx, 2, "ta2"), s.MarkInboxGiven(ctx, 4, "desk w a4"),
		s.NoteInboxHad(ctx, "desk ", "It had it."), s.NoteInboxHad(ctx, "desk ", "It had it."))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"a1": "told.\nIt had it.", "a2": "It had it.", "a3": "It had it.", "a4": ""} {
		if row := must[store.InboxRow](t)(s.InboxRowOf(ctx, "w", id)); row.Note != want {
			t.Errorf("of %s is noted %q", id, row.Note)
		}
	}
	for n, id := range []string{"a1", "a2", "a3"} {
		if err := s.MarkInboxGiven(ctx, int64(n+1), "desk w "+id); err != nil {
			t.Fatal(err)
		}
	}
	must[bool](t)(s.AnswerInbox(ctx, 1, store.InboxReply{ID: "r", Workspace: "w", Chat: "c", Task: "desk w a1", Final: true, Body: []byte("{}")}))
	must[bool](t)(s.AnswerInbox(ctx, 5, store.InboxReply{ID: "q", Workspace: "w", Chat: "c", Task: "ta5", Body: []byte("{}")})) // it asks
	if err := s.DrainInbox(ctx, 2, "read"); err != nil {
		t.Fatal(err)
	}
	if got := must[[]string](t)(s.InboxTaken(ctx, "w", "desk ")); !slices.Equal(got, []string{"ja1", "ja2"}) {
		t.Errorf("taken: %s", strings.Join(got, ", "))
	}
	if got := must[[]string](t)(s.InboxTaken(ctx, "other", "desk ")); len(got) != 0 {
		t.Errorf("of another workspace: %q", got)
	}
	if err := s.Write(ctx, store.Change{Ended: []string{"ja1", "ja2"}}); err != nil {
		t.Fatal(err)
	}
	if got := must[[]string](t)(s.InboxTaken(ctx, "w", "desk ")); len(got) != 0 {
		t.Errorf("of messages that have ended: %q", got)
	}
}
