package sim

import (
	"context"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// audit reads the books when nothing more goes wrong, and all had its time.
func (r *run) audit(l *life) {
	for _, m := range r.books.messages {
		if !m.accepted {
			continue
		}
		for _, id := range m.tasks {
			r.auditTask(l, m, id)
		}
		r.auditTaken(m)
	}
	r.auditOrder()
	r.auditWrongs()
	if h := l.executor.Health(); h.Waiting != 0 || h.Running != 0 || h.Bytes != 0 {
		r.books.fault(nil, "something is left: %+v", h)
	}
}

func (r *run) auditTask(l *life, m *message, id a2a.TaskID) {
	task, err := l.engine.GetTask(context.Background(), &a2a.GetTaskRequest{ID: id})
	switch {
	case err != nil:
		r.books.fault(m, "its task is lost: %v", err)
	case !task.Status.State.Terminal():
		r.books.fault(m, "its task has no end: %s", task.Status.State)
	default:
		r.books.end(m, task.ID, task.Status.State)
		r.auditTurns(m, task)
	}
}

// auditWrongs tells of the turns that should not have been.
func (r *run) auditWrongs() {
	for _, w := range r.world.wrongs {
		if r.books.unsaved[tasks.TaskOf(w.job)] {
			continue
		}
		i := slices.IndexFunc(r.books.messages, func(m *message) bool { return strings.HasPrefix(r.world.messages[w.job], wordsOf(m)) })
		if i < 0 {
			r.books.fault(nil, "%s: %s", w.job, w.what)
			continue
		}
		r.books.fault(r.books.messages[i], "%s", w.what)
	}
}

// auditTaken looks for a message in the turns that are said to have had it.
func (r *run) auditTaken(m *message) {
	for job, taken := range r.books.taken {
		for _, s := range taken {
			if !strings.HasPrefix(r.world.messages[s], wordsOf(m)) || r.books.canceled[tasks.TaskOf(s)] {
				continue
			}
			if !slices.ContainsFunc(r.world.all, func(t *turnRecord) bool {
				return (t.status == turnCompleted || t.full && t.worked) && jobOf(t.clients[0]) == job && slices.ContainsFunc(t.clients, func(client string) bool { return jobOf(client) == s })
			}) {
				r.books.fault(m, "it is said to be in the turn of %s, and is in none that counts", job)
			}
		}
	}
}

// isDone reports whether all messages that were accepted have their ends, and nothing waits.
func (r *run) isDone(l *life) bool {
	for _, m := range r.books.all() {
		if !m.accepted {
			continue
		}
		for _, id := range m.tasks {
			task, err := l.engine.GetTask(context.Background(), &a2a.GetTaskRequest{ID: id})
			if err != nil || !task.Status.State.Terminal() {
				return false
			}
		}
	}
	h := l.executor.Health()
	return h.Waiting == 0 && h.Running == 0
}

// auditTurns looks at the turns that a message had.
func (r *run) auditTurns(m *message, task *a2a.Task) {
	var worked, completed int
	again := false
	own, shared := r.turnsOf(m, task.ID)
	done := r.lastOf(task.ID)
	for i, t := range own {
		if t.worked && (i == 0 || !own[i-1].full) { // a summary has what was done before, and the turn goes on
			worked++
		}
		again = again || t.worked && !t.full && i < len(own)-1
	}
	for _, t := range slices.Concat(own, shared) {
		if t.status == turnCompleted {
			completed++
		}
		if t.status == turnCompleted && r.wasTold(t) {
			done = t
		}
	}
	switch state := task.Status.State; {
	case r.books.unsaved[task.ID]:
	case again:
		r.books.fault(m, "a turn of it came behind one in which a tool had run")
	case worked > 1:
		r.books.fault(m, "a tool has run in %d turns of it", worked)
	case completed > 1:
		r.books.fault(m, "it was completed in %d turns", completed)
	case state == a2a.TaskStateCompleted && done == nil && completed == 0:
		r.books.fault(m, "it is completed, and no turn of it is")
	case state == a2a.TaskStateCanceled && !r.books.canceled[task.ID]:
		r.books.fault(m, "it is canceled, and was not to be")
	case state == a2a.TaskStateCompleted && done != nil && r.wasTold(done) && !strings.Contains(textOf(task), done.said[len(done.said)-1].Text):
		r.books.fault(m, "what %s has said last is not in its task: %q", done.id, textOf(task))
	}
}

// wasTold reports whether a turn was told as completed, and the runtime has lived on. One that has completed as the
// runtime died may be one that cannot be looked up.
func (r *run) wasTold(t *turnRecord) bool {
	_, told := r.books.taken[jobOf(t.clients[0])]
	return told
}

// turnsOf are those that were made for a message of a task, and those of others that have it.
func (r *run) turnsOf(m *message, task a2a.TaskID) (own, shared []*turnRecord) {
	for _, t := range r.world.all {
		if tasks.TaskOf(jobOf(t.clients[0])) != task {
			continue
		}
		if slices.Contains(t.answers, wordsOf(m)) { // it came while its context asked
			shared = append(shared, t)
		}
		for i, client := range t.clients {
			if r.isOf(client, m) && i == 0 {
				own = append(own, t)
			} else if r.isOf(client, m) {
				shared = append(shared, t)
			}
		}
	}
	return own, shared
}

// lastOf is the turn of a task that was completed last: the answer to a question that has outlived its turn has one
// of its own.
func (r *run) lastOf(task a2a.TaskID) (done *turnRecord) {
	for _, t := range r.world.all {
		if t.status == turnCompleted && slices.ContainsFunc(t.clients, func(client string) bool {
			return strings.HasPrefix(client, string(task)+".")
		}) {
			done = t
		}
	}
	return done
}

// isOf reports whether an attempt is at a message.
func (r *run) isOf(client string, m *message) bool {
	return strings.HasPrefix(r.world.messages[jobOf(client)], wordsOf(m))
}

// auditOrder holds the first turns of the messages of a context against the order in which they were accepted. One that
// became part of a turn that ran may have come before others that waited; one that runs again comes when that is asked
// for, in a task of its own.
func (r *run) auditOrder() {
	first := map[*message]int{}
	for i, t := range slices.Backward(r.world.all) {
		for _, m := range r.books.messages {
			if len(m.tasks) > 0 && tasks.TaskOf(jobOf(t.clients[0])) == m.tasks[0] && r.isOf(t.clients[0], m) {
				first[m] = i
			}
		}
	}
	for _, m := range r.books.messages {
		for before := m.before; before != nil; before = before.before {
			a, hadOne := first[before]
			b, has := first[m]
			if hadOne && has && a > b && !before.refused { // else it was taken when it was sent again
				r.books.fault(m, "its turn came before that of %s, which was accepted before it", before.id)
			}
		}
	}
}

func textOf(task *a2a.Task) string {
	var b strings.Builder
	for _, artifact := range task.Artifacts {
		for _, part := range artifact.Parts {
			b.WriteString(part.Text())
		}
	}
	return b.String()
}
