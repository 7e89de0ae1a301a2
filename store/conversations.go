package store

import (
	"context"
	"errors"
	"time"
)

// Thread returns the thread of a conversation, "" if it has none.
func (s *Store) Thread(ctx context.Context, conversation string) (string, error) {
	known, err := s.Conversation(ctx, conversation)
	return known.Thread, err
}

// A Conversation is what is known of the thread of one.
type Conversation struct {
	Thread string // "" if it has none
	Model  string // that [Store.Begin] was last told of for the thread, "" if it was told of none
	Tools  string // the name of the set of tools that Begin was last told of, "" if the thread has none
	Told   string // what [Store.RecordInstructions] was last given for the thread
}

// Conversation returns what is known of a conversation; the zero value if it is not.
func (s *Store) Conversation(ctx context.Context, key string) (Conversation, error) {
	return view(ctx, s, "read the thread of a conversation", func(c *conn) (known Conversation, err error) {
		err = c.get(`SELECT c.thread_id, c.model, c.tools, coalesce(t.told, '')
			FROM conversations c LEFT JOIN threads t ON t.thread_id = c.thread_id WHERE c.key = ?`,
			list(key), &known.Thread, &known.Model, &known.Tools, &known.Told)
		if errors.Is(err, ErrUnknown) {
			err = nil
		}
		return known, err
	})
}

// A UsedConversation is one with its thread, and when it was used, to the minute.
type UsedConversation struct {
	Key, Thread string
	Used        time.Time
}

// LatestConversations returns the conversations that were used last, the latest first.
func (s *Store) LatestConversations(ctx context.Context, limit int) ([]UsedConversation, error) {
	return view(ctx, s, "list conversations", func(c *conn) ([]UsedConversation, error) {
		return collect(c, scanUsed, "SELECT key, thread_id, used_at FROM conversations ORDER BY used_at DESC LIMIT ?", limit)
	})
}

func scanUsed(row scanner, u *UsedConversation) error {
	var at int64
	err := row.Scan(&u.Key, &u.Thread, &at)
	u.Used = instant(at)
	return err
}

// ConversationUsed reports whether a message of a conversation has had its turn, as far as
// that is still kept. It looks through all messages.
func (s *Store) ConversationUsed(ctx context.Context, conversation string) (bool, error) {
	return view(ctx, s, "look for earlier turns of a conversation", func(c *conn) (bool, error) {
		n, err := c.number("SELECT EXISTS (SELECT 1 FROM messages WHERE conversation = ? AND ended = 1 AND attempt > 0)", conversation)
		return n > 0, err
	})
}

// ThreadUsed reports whether a message has had its turn in a thread, as far as that is
// still kept. It looks through all turns.
func (s *Store) ThreadUsed(ctx context.Context, thread string) (bool, error) {
	return view(ctx, s, "look for earlier turns in a thread", func(c *conn) (bool, error) {
		n, err := c.number(`SELECT EXISTS (SELECT 1 FROM turns t JOIN messages m ON m.seq = t.message
			WHERE t.thread_id = ? AND m.ended = 1)`, thread)
		return n > 0, err
	})
}

// useGrain is how exactly it is known when a conversation was used: most turns then
// write nothing of it.
const useGrain = time.Minute

// useThread makes a thread that of a conversation. No model leaves that of the
// thread as it is known. The thread that it had before is kept for it unless the tools
// are others: a fork has the tools of the thread that it is of.
func (c *conn) useThread(conversation, thread, model, tools string, now int64) error {
	use := useRow{thread: thread, model: model, tools: tools, at: now}
	before, known := c.known.uses[conversation]
	if known && before.says(use) {
		return nil
	}
	_, err := c.exec(`INSERT INTO threads (thread_id, key, created, before) VALUES (?1, ?2, ?3,
			coalesce((SELECT thread_id FROM conversations WHERE key = ?2 AND thread_id <> ?1 AND tools = ?4), ''))
		ON CONFLICT (thread_id) DO UPDATE SET key = excluded.key WHERE key <> excluded.key`, thread, conversation, now, tools)
	if err != nil {
		return err
	}
	_, err = c.exec(`INSERT INTO conversations (key, thread_id, used_at, model, tools) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET thread_id = excluded.thread_id, tools = excluded.tools, used_at = excluded.used_at,
		model = CASE WHEN excluded.model <> '' OR thread_id <> excluded.thread_id THEN excluded.model ELSE model END`,
		conversation, thread, now, model, tools)
	if err != nil {
		return err
	}
	if model == "" && before.thread == thread {
		use.model = before.model
	}
	c.known.use(conversation, use)
	return nil
}

// RecordInstructions notes which instructions a thread has heard, by their digest. A thread that
// no attempt was begun on is not known.
func (s *Store) RecordInstructions(ctx context.Context, thread, digest string) error {
	return s.do(ctx, "note what a thread was told", relaxed, func(c *conn) error {
		_, err := c.exec("UPDATE threads SET told = ? WHERE thread_id = ?", digest, thread)
		return err
	})
}

// unused is the condition for a conversation that nothing waits in or runs in.
const unused = ` NOT EXISTS (SELECT 1 FROM messages WHERE ended = 0 AND conversation = key)
	AND NOT EXISTS (SELECT 1 FROM tasks WHERE ended_at IS NULL AND conversation = key)`

// IdleConversations returns conversations that no turn has begun in since a time, to the minute, and that
// nothing waits in, the longest idle first.
func (s *Store) IdleConversations(ctx context.Context, before time.Time, limit int) ([]UsedConversation, error) {
	return view(ctx, s, "list idle conversations", func(c *conn) ([]UsedConversation, error) {
		return collect(c, scanUsed, "SELECT key, thread_id, used_at FROM conversations WHERE used_at < ? AND"+unused+" ORDER BY used_at LIMIT ?", nanos(before), limit)
	})
}

// ForgetConversation lets a conversation go if nothing waits or runs in it and it was used last
// when it is said ([UsedConversation.Used]; the zero time is whenever), else returns [ErrInUse].
// Its threads are left over from then on.
func (s *Store) ForgetConversation(ctx context.Context, key string, used time.Time) error {
	return s.do(ctx, "forget a conversation", relaxed, func(c *conn) error {
		n, err := c.exec("DELETE FROM conversations WHERE key = ?1 AND ?2 IN (0, used_at) AND"+unused, key, nanos(used))
		if err == nil && n == 0 {
			err = ErrInUse
		}
		if err == nil {
			_, err = c.exec("DELETE FROM placements WHERE conversation = ?", key)
		}
		c.known.forget()
		return err
	})
}

// Threads returns every thread that a conversation has or had, until it is dropped.
func (s *Store) Threads(ctx context.Context) ([]string, error) {
	return view(ctx, s, "list threads", func(c *conn) ([]string, error) {
		return collect(c, only[string], "SELECT thread_id FROM threads ORDER BY created, thread_id")
	})
}

// lines are the threads that those of conversations come behind: of is a conversation's. Those that
// another program has begun are none of ours, and not among them.
const lines = `WITH RECURSIVE lines (of, thread) AS (
	SELECT t.thread_id, t.before FROM threads t JOIN conversations c ON c.key = t.key AND c.thread_id = t.thread_id
		JOIN threads b ON b.thread_id = t.before WHERE t.before <> ''
	UNION SELECT lines.of, t.before FROM lines JOIN threads t ON t.thread_id = lines.thread
		JOIN threads b ON b.thread_id = t.before)`

// Before returns the threads that those of conversations come behind, with the conversation's thread
// of each: codex reads the history of a fork in the thread that it is of.
func (s *Store) Before(ctx context.Context) (map[string]string, error) {
	before := map[string]string{}
	_, err := view(ctx, s, "list the threads before those of conversations", func(c *conn) ([]struct{}, error) {
		scan := func(row scanner, _ *struct{}) error {
			var of, thread string
			err := row.Scan(&of, &thread)
			before[thread] = of
			return err
		}
		return collect(c, scan, lines+" SELECT of, thread FROM lines")
	})
	return before, err
}

// LeftoverThreads returns threads that no conversation has any more, nor one that comes behind them, and
// that no message waits to learn its fate from, the oldest first. Their files can be
// deleted, and then they are to be dropped.
func (s *Store) LeftoverThreads(ctx context.Context, limit int) ([]string, error) {
	return view(ctx, s, "list threads that are left over", func(c *conn) ([]string, error) {
		return collect(c, only[string], lines+` SELECT thread_id FROM threads
			WHERE thread_id NOT IN (SELECT thread_id FROM conversations) AND thread_id NOT IN (SELECT thread FROM lines)
			AND thread_id NOT IN (SELECT a.thread_id FROM messages m JOIN turns a ON a.message = m.seq WHERE m.ended = 0)
			ORDER BY created, thread_id LIMIT ?`, limit)
	})
}

// DropThreads takes threads off the list. Those of conversations stay.
func (s *Store) DropThreads(ctx context.Context, threads ...string) error {
	return s.do(ctx, "drop threads", relaxed, func(c *conn) error {
		for _, id := range threads {
			_, err := c.exec("DELETE FROM threads WHERE thread_id = ?1 AND ?1 NOT IN (SELECT thread_id FROM conversations)", id)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
