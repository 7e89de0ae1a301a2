package fakeplatform

import "slices"

// A queued message waits for its workspace to have time.
type queued struct {
	id string
	m  *message
}

const mostAttempts = 5

// enqueueLocked takes a message for later, once.
func (k *world) enqueueLocked(m *message) *queued {
	for _, q := range m.to.queue {
		if m.id != "" && q.m.id == m.id {
			return q
		}
	}
	q := &queued{id: newID(), m: m}
	m.to.queue = append(m.to.queue, q)
	k.tell()
	return q
}

// drainLocked hands on what waits, as a heartbeat says that there is time: one message, or as
// many as there is room for.
func (p *Platform) drainLocked(ws *workspace, active int) {
	room := ws.MaxTasks - active
	if p.era == APR {
		room = min(room, 1)
	}
	for range room {
		if len(ws.queue) == 0 || p.ctx.Err() != nil {
			return
		}
		q := ws.queue[0]
		ws.queue = slices.Delete(ws.queue, 0, 1)
		p.jobs.Go(func() { p.drained(q) })
	}
}

// drained hands on a message that has waited. Its answer goes to the delegation that it
// carries; one for the user is only written down.
func (p *Platform) drained(q *queued) {
	q.m.attempts++
	d := p.dispatch(q.m)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case d.Err != nil && q.m.attempts < mostAttempts:
		q.m.to.queue = append(q.m.to.queue, q)
	case d.Err != nil:
		p.settleLocked(q.m, "failed", d.Err.Error())
	default:
		p.rowOfLocked(q.m, "ok", d.Answer)
		p.settleLocked(q.m, "completed", replyText(d.Answer))
	}
	p.tell()
}
