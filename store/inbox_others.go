package store

import "context"

// NoteInboxHad notes something, once, of the rows without an answer that another engine has had than the one whose tasks
// begin with a prefix: those that are part of a task of it, and those that it has accepted without that being noted.
func (s *Store) NoteInboxHad(ctx context.Context, prefix, note string) error {
	return s.do(ctx, "note which rows another engine has had", durable, func(c *conn) error {
		_, err := c.exec(`UPDATE inbox INDEXED BY inbox_open SET note = CASE note WHEN '' THEN ?2 ELSE note || char(10) || ?2 END, changed = ?3
			WHERE state IN ('accepted', 'given') AND uri = '' AND instr(note, ?2) = 0
			AND (task <> '' AND substr(task, 1, length(?1)) <> ?1
				OR EXISTS (SELECT 1 FROM messages m WHERE m.message_id = inbox.activity AND m.context_id = inbox.chat))`,
			prefix, note, nanos(s.now()))
		return err
	})
}

// InboxTaken returns the jobs of messages that have not had their turn, and whose rows in the inbox of a workspace the
// engine whose tasks begin with a prefix has finished meanwhile.
func (s *Store) InboxTaken(ctx context.Context, workspace, prefix string) ([]string, error) {
	return view(ctx, s, "list the messages that were answered elsewhere", func(c *conn) ([]string, error) {
		return collect(c, only[string], `SELECT m.job FROM messages m INDEXED BY messages_waiting
			JOIN inbox i ON i.workspace = ?1 AND i.activity = m.message_id
			WHERE m.ended = 0 AND i.chat = m.context_id AND i.state IN ('answered', 'done', 'dead', 'drained')
			AND substr(i.task, 1, length(?2)) = ?2 ORDER BY m.seq`, workspace, prefix)
	})
}
