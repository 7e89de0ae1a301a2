package tasks_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
)

// TestBoundsOfReplays: what readers who came back have in memory, of the events of a
// task and of the task, is what their events say, however slowly they read.
func TestBoundsOfReplays(t *testing.T) {
	longtest.Mark(t)
	const readers, large = 8, 1 << 19
	for _, sender := range []string{"any", "of-whole-texts"} {
		t.Run(sender, func(t *testing.T) {
			m := newMachine(t)
			req := request("m1", "c", "hi")
			if sender == "of-whole-texts" {
				req.Message.Parts[0].SetMeta("is_user_input", true)
			}
			id := begin(t, m.e, req).ID
			j := m.r.next(t).start()
			j.say("a", "a")
			var said []agent.Message
			for i := range 3 {
				said = append(said, agent.Message{ItemID: string(rune('a' + i)), Text: strings.Repeat(string(rune('a'+i)), large)})
			}
			j.end(agent.Ended{Outcome: agent.Completed, Messages: said})
			waitFor(t, m.e, id, a2a.TaskStateCompleted)
			m.restart() // else the engine has the task itself
			together := m.together(id, large)

			before := living()
			var all []chan had
			for range readers {
				all = append(all, readSlowly(m.e.Stream(t.Context(), req, "1.0")))
			}
			sizes, most, last := 0, 0, 0
			for open := true; open; {
				holds := 0
				for _, slow := range all {
					var event had
					event, open = <-slow
					holds, sizes = holds+event.holds, sizes+event.size
				}
				if most = max(most, holds); open {
					last = holds
				}
				if took := living() - before; took > holds+readers*(64<<10)+large {
					t.Errorf("%d readers have %d KiB in memory, and say %d", readers, took>>10, holds>>10)
				}
				for _, slow := range all {
					<-slow // and it reads on
				}
			}
			if sizes < readers*3*large || together && most < readers*large {
				t.Errorf("the readers had %d bytes, and held %d", sizes, most)
			}
			if remakes := sender != "any"; remakes != (last >= readers*3*large) || !remakes && last > 0 {
				t.Errorf("with the last event the readers held %d bytes", last)
			}
		})
	}
}

// together reports whether events of such a size stand in one batch, as they do unless the disk is so slow
// that each is written before the next has come: then nobody holds one for the sake of another.
func (m *machine) together(id a2a.TaskID, large int) bool {
	batches, err := m.st.Events(m.t.Context(), string(id), 0, 1<<30)
	if err != nil {
		m.t.Fatal(err)
	}
	return slices.ContainsFunc(batches, func(b store.Events) bool { return len(b.Body) > 2*large })
}

// had is what a reader has had of an event.
type had struct{ size, holds int }

// readSlowly reads a stream. It keeps nothing of an event but what it says of it, twice, and
// asks for the next one after that.
func readSlowly(stream iter.Seq2[*feed.Event, error]) chan had {
	all := make(chan had)
	go func() {
		defer close(all)
		for e := range stream {
			event := had{holds: e.Holds}
			if update, ok := e.Event.(*a2a.TaskArtifactUpdateEvent); ok {
				event.size = len(update.Artifact.Parts[0].Text())
			}
			all <- event
			all <- event
		}
	}()
	return all
}

// A watchedLoading notes whether its call may read.
type watchedLoading struct {
	may    bool
	begins int
	err    error
}

func (l *watchedLoading) Begin(context.Context) error {
	if l.err != nil {
		return l.err
	}
	l.may = true
	l.begins++
	return nil
}

func (l *watchedLoading) End() { l.may = false }

// A readJournal is asked for what may be large.
type readJournal struct {
	*store.Store
	t       *testing.T
	loading *watchedLoading
	reads   int
}

func (j *readJournal) Events(ctx context.Context, task string, after int64, most int) ([]store.Events, error) {
	j.read()
	return j.Store.Events(ctx, task, after, most)
}

func (j *readJournal) Task(ctx context.Context, id string) (store.Task, error) {
	j.read()
	return j.Store.Task(ctx, id)
}

func (j *readJournal) read() {
	if j.reads++; !j.loading.may {
		j.t.Error("the journal is read while the call may not")
	}
}

// TestStreamsReadInTurn: what a stream has read from the journal for its reader alone is read
// while its call may, and nothing is waited for meanwhile.
func TestStreamsReadInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loading := &watchedLoading{}
		journal := &readJournal{Store: newJournal(t), t: t, loading: loading}
		r := newRunner()
		e := newEngine(t, r, func(c *tasks.Config) { c.Journal = journal })
		req := request("m1", "c", "hi")
		req.Config = &a2a.SendMessageConfig{AcceptedOutputModes: []string{"application/json"}} // no text
		id := begin(t, e, req).ID
		j := r.next(t).start()
		j.say("a", "one")
		synctest.Wait()

		// await reads what there is, as a transport does, and then waits for news.
		ctx, leave := context.WithCancel(tasks.WithLoading(t.Context(), loading))
		await := func(name, after string, stream func(after string) func(yield func(*feed.Event, error) bool)) {
			t.Helper()
			done := make(chan struct{})
			go func() {
				defer close(done)
				for range stream(after) {
					loading.End()
				}
			}()
			synctest.Wait()
			if loading.may {
				t.Errorf("%s after %q: it waits for news, and others may not read", name, after)
			}
			leave()
			<-done
			ctx, leave = context.WithCancel(tasks.WithLoading(t.Context(), loading))
		}
		subscribe := func(after string) func(yield func(*feed.Event, error) bool) {
			return e.Resume(ctx, &a2a.SubscribeToTaskRequest{ID: id}, after)
		}
		for _, after := range []string{"", "1.0", "1.1", "1.2", "9.9"} {
			await("a subscriber", after, subscribe)
			await("the sender", after, func(after string) func(yield func(*feed.Event, error) bool) { return e.Stream(ctx, req, after) })
		}
		j.answer("done")
		synctest.Wait()
		for _, after := range []string{"", "1.0", "1.2", "9.9"} {
			await("a subscriber, at the end,", after, subscribe)
		}
		if loading.begins == 0 || journal.reads == 0 {
			t.Fatalf("began %d times, and read %d times", loading.begins, journal.reads)
		}

		reads := journal.reads
		loading.err = errors.New("the reader has left")
		for _, err := range subscribe("1.0") {
			if !errors.Is(err, loading.err) {
				t.Errorf("the reader has %v", err)
			}
		}
		if leave(); journal.reads != reads {
			t.Error("the journal is read for one who may not")
		}
	})
}
