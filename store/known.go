package store

// mostKnown bounds what is remembered. Beyond it, it is looked up again.
const mostKnown = 4096

// known remembers rows of tasks that live and of messages that wait, so that a
// change need not look them up each time. Nobody else writes to the database; what
// is rolled back or deleted is forgotten with everything else.
type known struct {
	tasks map[string]*taskRow // by id
	jobs  map[string]*jobRow
	uses  map[string]useRow // by conversation
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

// A useRow is a conversation as it was last written.
type useRow struct {
	thread, model, tools string
	at                   int64
}

func newKnown() known {
	return known{tasks: map[string]*taskRow{}, jobs: map[string]*jobRow{}, uses: map[string]useRow{}}
}

// forget drops everything.
func (k *known) forget() {
	if len(k.tasks)+len(k.jobs)+len(k.uses) > 0 {
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

// use remembers how a conversation was written.
func (k *known) use(conversation string, row useRow) {
	if len(k.uses) >= mostKnown {
		clear(k.uses)
	}
	k.uses[conversation] = row
}

// says reports whether a row says all that is to be written.
func (u useRow) says(to useRow) bool {
	return u.thread == to.thread && u.tools == to.tools && (to.model == "" || u.model == to.model) &&
		u.at <= to.at && to.at-u.at < int64(useGrain)
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
	inserted, err := c.exec(`INSERT INTO tasks (id, context_id, conversation, state, at, created, ended_at, epoch, head, class)
		VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?) ON CONFLICT (id) DO NOTHING`,
		h.ID, h.Context, h.Conversation, h.State, nanos(h.At), now, endedAt(h, now), blob(h.Body), int(h.Class))
	if err != nil {
		return nil, false, err
	}
	if inserted == 0 {
		row, err = c.taskRow(h.ID)
		return row, false, err
	}
	row = &taskRow{n: c.raw.LastInsertRowID()}
	c.catalog.note(added, entryOf(row.n, h, h.Class))
	return c.known.task(h.ID, row), true, nil
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
