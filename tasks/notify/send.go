package notify

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
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

// Send implements [deliver.Sender].
func (s notices) Send(ctx context.Context, d *delivery) (out deliver.Outcome) {
	n, err := s.cfg.Journal.Notice(ctx, d.Task)
	out = deliver.Outcome{Err: err, Tries: n.Tries, Created: n.Created, Log: []any{"task_id", d.Task}}
	switch {
	case errors.Is(err, store.ErrUnknown):
		return deliver.Outcome{}
	case err != nil, n.Status == store.NoticeSent:
		return out
	case !d.asked && (n.Due.IsZero() || n.Due.After(s.cfg.Now())):
		return out
	}
	d.Notice, d.tried = n, true
	var body Body
	if json.Unmarshal(n.Body, &body) != nil {
		out.Verdict, out.Err = deliver.Refused, errDamaged
		return out
	}
	out.Verdict, out.Wait, out.Err = s.tell(ctx, d, body)
	if out.Verdict == deliver.Arrived {
		d.Sent = s.cfg.Now()
	}
	return out
}

var errDamaged = errors.New("what was to be said is damaged")

// tell says what a notice says to where it goes.
func (s notices) tell(ctx context.Context, d *delivery, body Body) (_ deliver.Verdict, wait time.Duration, err error) {
	switch {
	case d.Target == Local:
		s.cfg.Logger.Info("a task has ended", "task_id", d.Task, "name", body.Name, "state", body.State)
		d.said = map[string]any{"success": true, "target": Local, "local": true}
		return deliver.Arrived, 0, nil
	case isURL(d.Target):
		return s.post(ctx, d, body)
	case s.cfg.Platform == nil:
		return deliver.Refused, 0, errNoWorkspace
	}
	at, ok := placeOf(d.Target)
	if !ok {
		return deliver.Refused, 0, errNoTarget
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = s.cfg.Platform.Notify(ctx, at, d.Task, body.Text)
	if d.answered = err == nil; d.answered {
		d.said = map[string]any{"success": true, "target": d.Target}
	}
	return deliver.VerdictOn(err), 0, err
}

func (s notices) post(ctx context.Context, d *delivery, body Body) (_ deliver.Verdict, wait time.Duration, err error) {
	if s.cfg.Poster == nil {
		return deliver.Refused, 0, errNoPosts
	}
	payload, err := json.Marshal(post{Text: body.Text, TaskID: body.Name, HermesID: body.Name, A2ATaskID: d.Task, Status: body.State})
	if err != nil {
		return deliver.Refused, 0, errDamaged
	}
	header := http.Header{}
	header.Set(headerID, d.Task+"/end")
	a := s.cfg.Poster.Post(ctx, d.Target, header, payload)
	d.answered = a.Status != 0
	if a.Verdict == deliver.Arrived {
		d.said = map[string]any{"success": true, "target": d.Target, "status": a.Status}
	}
	return a.Verdict, a.Wait, a.Err
}
