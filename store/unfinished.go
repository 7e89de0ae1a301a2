package store

import "context"

// Pending is work that the process before did not finish.
type Pending struct {
	Task      Task       // without artifacts
	Messages  []Message  // that have not had their turn, in the order of acceptance
	Questions []Question // the oldest first
}

// With UNION in place of UNION ALL, SQLite reads all messages to have them in the order of
// their tasks, and the start of the process waits for that.
const unfinished = "SELECT " + taskColumns + ` FROM tasks WHERE n IN (
	SELECT n FROM tasks WHERE ended_at IS NULL UNION ALL SELECT task FROM messages WHERE ended = 0) ORDER BY n`

const waitingMessages = "SELECT " + messageColumns + ", h.body" + messageTables + bodyOfMessage + " WHERE m.ended = 0 ORDER BY m.seq"

// Unfinished returns the tasks that have not ended, and those with messages that
// have not had their turn, in the order in which they were made.
func (s *Store) Unfinished(ctx context.Context) ([]Pending, error) {
	return view(ctx, s, "read unfinished tasks", func(c *conn) ([]Pending, error) {
		tasks, err := collect(c, scanTask, unfinished)
		if err != nil {
			return nil, err
		}
		messages, err := c.waiting()
		if err != nil {
			return nil, err
		}
		all := make([]Pending, 0, len(tasks))
		for _, t := range tasks {
			if err := c.fill(&t, -1, false); err != nil {
				return nil, err
			}
			questions, err := c.questions(t.n)
			if err != nil {
				return nil, err
			}
			all = append(all, Pending{Task: t.Task, Messages: messages[t.ID], Questions: questions})
		}
		return all, nil
	})
}

// waiting returns the messages that have not had their turn, by task.
func (c *conn) waiting() (map[string][]Message, error) {
	scan := func(row scanner, m *Message) error { return scanMessage(row, m, &m.Body) }
	found, err := collect(c, scan, waitingMessages)
	if err != nil {
		return nil, err
	}
	byTask := map[string][]Message{}
	for _, m := range found {
		byTask[m.TaskID] = append(byTask[m.TaskID], m)
	}
	return byTask, nil
}

func (c *conn) questions(task int64) ([]Question, error) {
	scan := func(row scanner, q *Question) error {
		var asked, deadline int64
		err := row.Scan(&q.ID, &q.Body, &asked, &deadline)
		q.Asked, q.Deadline = instant(asked), instant(deadline)
		return err
	}
	return collect(c, scan, "SELECT id, body, asked_at, deadline FROM questions WHERE task = ? ORDER BY asked_at, id", task)
}
