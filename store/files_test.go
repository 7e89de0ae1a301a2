package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// knownFile is what is known of a file.
func knownFile(t *testing.T, s *Store, name string) FileRecord {
	t.Helper()
	f, err := s.FileRecord(t.Context(), name)
	must(t, err)
	return f
}

// bring accepts a message with files.
func bring(t *testing.T, s *Store, i int, task string, files ...FileUse) (Message, Head) {
	t.Helper()
	m, h := message(i, task)
	m.Files = files
	must(t, s.Accept(t.Context(), m, h))
	return m, h
}

// TestFilesOfMessages: a file is named from the acceptance of its message on, and open until
// its task has ended. Without a turn, nothing names it with its end.
func TestFilesOfMessages(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now})
	ctx := t.Context()
	own := FileUse{Name: "a", Peer: true, Own: true}
	equal(t, knownFile(t, s, "a"), FileRecord{Name: "a"})
	must(t, s.NoteFile(ctx, "", own))
	brought := FileRecord{Name: "a", Peer: true, Own: true}
	equal(t, knownFile(t, s, "a"), brought)

	m, h := bring(t, s, 1, "task", own)
	named := brought
	named.Named, named.Open = true, true
	equal(t, knownFile(t, s, "a"), named)
	h.Ended = true
	must(t, s.Write(ctx, Change{Head: &h, Ended: []string{m.Job}, Unbegun: []string{m.Job}}))
	equal(t, knownFile(t, s, "a"), brought)
	must(t, s.ForgetFiles(ctx, "a", "none"))
	equal(t, knownFile(t, s, "a"), FileRecord{Name: "a"})

	m, h = bring(t, s, 2, "begun", own)
	must(t, s.Begin(ctx, m.Job, 1, "c", "t", "", ""))
	h.Ended = true
	must(t, s.Write(ctx, Change{Head: &h, Ended: []string{m.Job}, Unbegun: []string{m.Job}}))
	named.Open, named.Ended = false, instant(nanos(clock.Now()))
	equal(t, knownFile(t, s, "a"), named)

	m, _ = bring(t, s, 3, "withdrawn", FileUse{Name: "b", Own: true})
	must(t, s.Withdraw(ctx, m.Job, nil))
	equal(t, knownFile(t, s, "b"), FileRecord{Name: "b", Own: true})
	all, err := s.FileRecords(ctx)
	must(t, err)
	equal(t, all, []FileRecord{named, {Name: "b", Own: true}})
}

// TestSharedFiles are named as long as one of their messages names them, and no other agent's
// once another has named them. The last to let go of one lets the sender's own go.
func TestSharedFiles(t *testing.T) {
	s := open(t, Config{})
	ctx := t.Context()
	theirs, h := bring(t, s, 1, "theirs", FileUse{Name: "a", Peer: true, Own: true})
	ours, _ := bring(t, s, 2, "ours", FileUse{Name: "a"}, FileUse{Name: "a"})
	named := FileRecord{Name: "a", Own: true, Named: true, Open: true}
	equal(t, knownFile(t, s, "a"), named)
	h.Ended = true
	must(t, s.Write(ctx, Change{Head: &h, Ended: []string{theirs.Job}, Unbegun: []string{theirs.Job}}))
	equal(t, knownFile(t, s, "a"), named)
	must(t, s.Withdraw(ctx, ours.Job, nil))
	equal(t, knownFile(t, s, "a"), FileRecord{Name: "a", Own: true})

	must(t, s.NoteFile(ctx, "", FileUse{Name: "a", Peer: true}))
	equal(t, knownFile(t, s, "a"), FileRecord{Name: "a", Own: true})
}

// TestFilesOfTasks: a copy that is handed out is that of the task that did so last.
func TestFilesOfTasks(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now})
	ctx := t.Context()
	for i, task := range []string{"one", "two"} {
		m, h := bring(t, s, i, task)
		must(t, s.NoteFile(ctx, task, FileUse{Name: "copy"}))
		equal(t, knownFile(t, s, "copy").Open, true)
		h.Ended = true
		clock.advance(time.Minute)
		must(t, s.Write(ctx, Change{Head: &h, Ended: []string{m.Job}}))
		equal(t, knownFile(t, s, "copy"), FileRecord{Name: "copy", Named: true, Ended: instant(nanos(clock.Now()))})
	}
	m, _ := bring(t, s, 3, "three", FileUse{Name: "copy"})
	was := knownFile(t, s, "copy")
	equal(t, was.Open, true)
	must(t, s.Withdraw(ctx, m.Job, nil)) // which is none of the task's that hands it out
	was.Open = false
	equal(t, knownFile(t, s, "copy"), was)
	must(t, s.NoteFile(ctx, "none", FileUse{Name: "other"}))
	equal(t, knownFile(t, s, "other"), FileRecord{Name: "other"})
}

// TestFilesOutliveForgottenTasks: what is known of whose they are stays, in one row.
func TestFilesOutliveForgottenTasks(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now, Retention: Retention{Age: time.Hour}})
	ctx := t.Context()
	for i, task := range []string{"one", "two"} {
		m, h := bring(t, s, i, task, FileUse{Name: "a", Peer: true, Own: true})
		must(t, s.NoteFile(ctx, task, FileUse{Name: "a", Peer: true}))
		h.Ended = true
		must(t, s.Write(ctx, Change{Head: &h, Ended: []string{m.Job}}))
	}
	clock.advance(2 * time.Hour)
	must(t, s.Sweep(ctx))
	equal(t, knownFile(t, s, "a"), FileRecord{Name: "a", Peer: true})
	equal(t, rows(t, s, "files")["files"], 1)
}

// TestFilesOfAnEarlierVersion: those of tasks that have not ended are open, whatever else
// stands in the history.
func TestFilesOfAnEarlierVersion(t *testing.T) {
	dir := t.TempDir()
	all, err := migrations(embedded)
	must(t, err)
	path := filepath.Join(dir, "state.db")
	must(t, os.WriteFile(path, nil, 0o600))
	c, err := connect(upgrade{path: path, all: all[:8], now: time.Unix(5, 0)}, 0)
	must(t, err)
	must(t, c.script(`
		INSERT INTO tasks (n, id, context_id, conversation, state, at, created, ended_at, head) VALUES
			(1, 'open', 'c', 'c', 's', 1, 1, NULL, x''), (2, 'ended', 'c', 'c', 's', 1, 1, 2, x'');
		INSERT INTO messages (seq, caller, context_id, task_ref, digest, task, ordinal, job, conversation, accepted_at) VALUES
			(1, '', 'c', '', x'', 1, 1, 'j1', 'c', 1), (2, '', 'c', '', x'', 2, 1, 'j2', 'c', 1), (3, '', 'c', '', x'', 1, 2, 'j3', 'c', 1);
		INSERT INTO history (task, ordinal, body) VALUES
			(1, 1, CAST('{"parts":["x",{"text":"t"},{"url":"workspace:/w/.molecule/chat-uploads/a-1"},{"url":"workspace:/w/.molecule/chat-uploads/a-1"},{"url":"workspace:/w/b"}]}' AS BLOB)),
			(2, 1, CAST('{"parts":[{"url":"workspace:/w/.molecule/chat-uploads/c-1"}]}' AS BLOB)),
			(1, 2, CAST('{"parts":' AS BLOB))`))
	must(t, c.close())
	s := open(t, Config{Dir: dir})
	known, err := s.FileRecords(t.Context())
	must(t, err)
	equal(t, known, []FileRecord{{Name: "a-1", Named: true, Open: true}})
}
