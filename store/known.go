package store

// mostKnown bounds what is remembered. Beyond it, it is looked up again.
const mostKnown = 4096

// known remembers rows of tasks that live and of messages that wait, so that a
// change need not look them up each time. Nobody else writes to the database; what
// is rolled back or deleted is forgotten with everything else.
type known struct {
	tasks map[string]*taskRow // by id
	jobs  map[string]*jobRow
}

// A taskRow is a task as its other rows need it.
type taskRow struct {
	n, last   int64 // its number, and that of its last event
	artifacts bool  // it may have some
}

// A jobRow is a message and the attempt at it that was begun last.
type jobRow struct {
	seq     int64
	attempt int
}

func newKnown() known { return known{tasks: map[string]*taskRow{}, jobs: map[string]*jobRow{}} }

// forget drops everything.
func (k *known) forget() {
	if len(k.tasks)+len(k.jobs) > 0 {
		*k = newKnown()
	}
}

func (k *known) task(id string, row *taskRow) *taskRow {
	if len(k.tasks) >= mostKnown {
		clear(k.tasks)
	}
	k.tasks[id] = row
	return row
}

func (k *known) job(name string, row *jobRow) *jobRow {
	if len(k.jobs) >= mostKnown {
		clear(k.jobs)
	}
	k.jobs[name] = row
	return row
}

// taskRow returns the row of a task, or [ErrUnknown].
func (c *conn) taskRow(id string) (*taskRow, error) {
	if row := c.known.tasks[id]; row != nil {
		return row, nil
	}
	row := taskRow{artifacts: true}
	if err := c.get("SELECT n, last_seq FROM tasks WHERE id = ?", list(id), &row.n, &row.last); err != nil {
		return nil, err
	}
	return c.known.task(id, &row), nil
}

// taskNumber returns the number of a task, or [ErrUnknown].
func (c *conn) taskNumber(id string) (int64, error) {
	row, err := c.taskRow(id)
	if err != nil {
		return 0, err
	}
	return row.n, nil
}

// newTask inserts a task if there is none of its id.
func (c *conn) newTask(h *Head, now int64) (row *taskRow, isNew bool, err error) {
	if row = c.known.tasks[h.ID]; row != nil {
		return row, false, nil
	}
	inserted, err := c.exec(`INSERT INTO tasks (id, context_id, conversation, state, at, created, ended_at, head)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		h.ID, h.Context, h.Conversation, h.State, nanos(h.At), now, endedAt(h, now), blob(h.Body))
	if err != nil {
		return nil, false, err
	}
	if inserted == 0 {
		row, err = c.taskRow(h.ID)
		return row, false, err
	}
	return c.known.task(h.ID, &taskRow{n: c.raw.LastInsertRowID()}), true, nil
}

// endedAt is when a task ended, or NULL.
func endedAt(h *Head, now int64) any {
	if h.Ended {
		return now
	}
	return nil
}

// jobRow returns the row of a message, or [ErrUnknown].
func (c *conn) jobRow(job string) (*jobRow, error) {
	if row := c.known.jobs[job]; row != nil {
		return row, nil
	}
	var row jobRow
	if err := c.get("SELECT seq, attempt FROM messages WHERE job = ?", list(job), &row.seq, &row.attempt); err != nil {
		return nil, err
	}
	return c.known.job(job, &row), nil
}

// ordinal is the place of the next message in the history of a task.
func (c *conn) ordinal(row *taskRow, isNew bool) (int64, error) {
	if isNew {
		return 1, nil
	}
	return c.number("SELECT coalesce(max(ordinal), 0) + 1 FROM history WHERE task = ?", row.n)
}
