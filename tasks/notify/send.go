package notify

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A Body is what a notice says.
type Body struct {
	Name  string `json:"name"`  // of the task, as its sender calls it
	State string `json:"state"` // completed, failed or cancelled
	Text  string `json:"text"`
}

// headerID names a notice: one that is posted again has the name that it had before.
const headerID = "A2A-Notification-Id"

// A post is what a webhook gets.
type post struct {
	Text      string `json:"text"` // where chat programs look
	TaskID    string `json:"task_id"`
	HermesID  string `json:"hermes_task_id"`
	A2ATaskID string `json:"a2a_task_id"`
	Status    string `json:"status"`
}

// A result is what became of one try.
type result struct {
	notice   store.Notice // as it is now
	tried    bool
	answered bool // by the host of a URL, whatever that says, or by the platform, which has it
	delivery any  // what the receiver, or we, say of it
}

// send tries a notice once, if it is wanted as it is by now, and notes what came of
// it. Nobody else tries it meanwhile.
func (d *Deliverer) send(ctx context.Context, task string, wanted func(store.Notice) bool) (r result, err error) {
	release, err := d.take(ctx, task)
	if err != nil {
		return r, err
	}
	defer release()
	if r.notice, err = d.cfg.Journal.Notice(ctx, task); err != nil {
		if !errors.Is(err, store.ErrUnknown) && ctx.Err() == nil {
			d.log.Error("the notice of an ended task cannot be read; this is tried again", "task_id", task, "err", err)
		}
		return r, err
	}
	if known, err := d.settle(task); known != nil {
		r.notice = *known
		return r, err
	}
	n := &r.notice
	if n.Status == store.NoticeSent || !wanted(*n) {
		return r, nil
	}
	r.tried = true
	why, next := d.try(ctx, &r)
	if why != "" && ctx.Err() != nil { // we were cut off, not the receiver
		return r, context.Cause(ctx)
	}
	n.Due, n.Error = next, why
	if n.Status = store.NoticeSent; why != "" {
		n.Status = store.NoticeFailed
		n.Tries++
		d.log.Warn("somebody could not be told of the end of a task", "task_id", task, "reason", why, "tries", n.Tries, "again", !next.IsZero())
	} else {
		n.Sent = d.cfg.Now()
	}
	d.mu.Lock()
	d.unnoted[task] = *n
	d.mu.Unlock()
	_, err = d.settle(task)
	return r, err
}

// settle notes what became of a notice, if that has not been done. While the journal
// takes nothing this is tried again, and the notice itself is not: it has arrived, or
// waits. The caller has taken it.
func (d *Deliverer) settle(task string) (*store.Notice, error) {
	d.mu.Lock()
	n, ok := d.unnoted[task]
	d.mu.Unlock()
	if !ok {
		return nil, nil
	}
	if err := d.cfg.Journal.SetNotice(context.Background(), n); err != nil && !errors.Is(err, store.ErrUnknown) {
		d.log.Error("what became of a notice could not be noted; this is tried again, and if it is never done the next process sends it again",
			"task_id", task, "err", err)
		return &n, err
	}
	d.mu.Lock()
	delete(d.unnoted, task)
	d.mu.Unlock()
	return &n, nil
}

// try sends a notice and returns why it has not arrived, and when to try again by
// ourselves.
func (d *Deliverer) try(ctx context.Context, r *result) (why string, next time.Time) {
	n := &r.notice
	var body Body
	if err := json.Unmarshal(n.Body, &body); err != nil {
		return "what was to be said is damaged", next
	}
	switch {
	case n.Target == Local:
		d.log.Info("a task has ended", "task_id", n.Task, "name", body.Name, "state", body.State)
		r.delivery = map[string]any{"success": true, "target": Local, "local": true}
		return "", next
	case isURL(n.Target):
		return d.webhook(ctx, r, body)
	case d.cfg.Platform == nil:
		return errNoWorkspace.Error(), next
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := d.cfg.Platform.Notify(ctx, n.Task, body.Text)
	if r.answered = err == nil; r.answered {
		r.delivery = map[string]any{"success": true, "target": n.Target}
		return "", next
	}
	var refused interface{ Permanent() bool }
	if errors.As(err, &refused) && refused.Permanent() {
		return err.Error(), next
	}
	return err.Error(), d.cfg.Now().Add(time.Minute)
}

func (d *Deliverer) webhook(ctx context.Context, r *result, body Body) (why string, next time.Time) {
	n := &r.notice
	if d.post == nil {
		return "calling out is switched off (RUNTIME_PUSH=0)", next
	}
	payload, err := json.Marshal(post{Text: body.Text, TaskID: body.Name, HermesID: body.Name, A2ATaskID: n.Task, Status: body.State})
	if err != nil {
		return "what was to be said is damaged", next
	}
	header := http.Header{}
	header.Set(headerID, n.Task+"/end")
	out := d.post.Post(ctx, n.Target, header, payload, n.Tries, n.Created)
	r.answered = out.Status != 0
	if !out.Arrived {
		return out.Reason, out.Next
	}
	r.delivery = map[string]any{"success": true, "target": n.Target, "status": out.Status}
	return "", next
}
