package bench

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// kept returns a state directory with n tasks that have ended. A few hundred of them had
// real turns on a codex that answers at once; the others are their rows with other ids,
// and the time at which they were written.
func kept(b *testing.B, n int) (dir string) {
	b.Helper()
	dir = codextest.Dir(b, "state")
	turned := haveTurns(b, dir, 300)
	s, err := store.Open(context.Background(), store.Config{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}()
	for i := len(turned); i < n; i++ {
		turned[i%len(turned)].copy(b, s, fmt.Sprintf("00000000-0000-4000-8000-%012d", i))
	}
	return dir
}

// rows are what the journal has of a task.
type rows struct {
	task   store.Task
	events []store.Events
}

// haveTurns has the program run n tasks, in fifty contexts, and returns their rows.
func haveTurns(b *testing.B, dir string, n int) []rows {
	b.Helper()
	p := progtest.Start(b, program, append(fakeSettings(b, ""), "RUNTIME_STATE_DIR="+dir)...)
	ours := newClient(b, p.URL, "", 0)
	ours.checked()
	for i := range n {
		text := fmt.Sprintf("question %d: what does a line of some length become, as lines of people are?", i)
		ours.in(fmt.Sprintf("context-%d", i%50)).send(text, text)
	}
	p.Stop()
	ctx := context.Background()
	s, err := store.Open(ctx, store.Config{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	page, err := s.Tasks(ctx, store.Query{Limit: n, History: -1, Artifacts: true})
	all := make([]rows, len(page.Tasks))
	for i, task := range page.Tasks {
		events, eventsErr := s.Events(ctx, task.ID, 0, 1<<30)
		all[i], err = rows{task, events}, cmp.Or(err, eventsErr)
	}
	if err := cmp.Or(err, s.Close()); err != nil || len(all) != n {
		b.Fatalf("%d tasks of %d: %v", len(all), n, err)
	}
	return all
}

// copy writes the same task under another id, as if it had just been run.
func (r rows) copy(b *testing.B, s *store.Store, id string) {
	b.Helper()
	ctx, now := context.Background(), time.Now().UTC()
	renamed := func(body []byte) []byte {
		body = bytes.ReplaceAll(body, []byte(r.task.ID), []byte(id))
		return bytes.ReplaceAll(body, []byte(r.task.At.Format(time.RFC3339Nano)), []byte(now.Format(time.RFC3339Nano)))
	}
	head := r.task.Head
	head.ID, head.At, head.Body = id, now, renamed(head.Body)
	m := store.Message{
		Key: store.Key{Message: id, Context: head.Context}, TaskID: id, Job: id + ".1",
		Conversation: head.Conversation, Body: renamed(r.task.History[0]),
	}
	change := store.Change{Head: &head, Epoch: r.task.Epoch, Ended: []string{m.Job}}
	for _, body := range r.task.History[1:] {
		change.History = append(change.History, renamed(body))
	}
	for _, body := range r.task.Artifacts {
		change.Artifacts = append(change.Artifacts, renamed(body))
	}
	for _, e := range r.events {
		e.Body = renamed(e.Body)
		change.Events = append(change.Events, e)
	}
	accepted := head
	accepted.State, accepted.Ended = "TASK_STATE_SUBMITTED", false
	if err := s.Accept(ctx, m, accepted); err != nil {
		b.Fatal(err)
	}
	if err := s.Begin(ctx, m.Job, 1, m.Conversation, "thread-of-"+m.Conversation, "", ""); err != nil {
		b.Fatal(err)
	}
	if err := s.Write(ctx, change); err != nil {
		b.Fatal(err)
	}
}
