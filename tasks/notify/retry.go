package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A Report says what was done about notices.
type Report struct {
	DryRun        bool     `json:"dryRun"`
	Processed     int      `json:"processed"`
	Notifications []Notice `json:"notifications"` // that of the task that ended first, first
}

// A Notice is one of them.
type Notice struct {
	TaskID     string     `json:"taskId"`
	Name       string     `json:"name"`  // of the task, as its sender calls it
	State      string     `json:"state"` // of the task
	Target     string     `json:"target,omitempty"`
	Status     string     `json:"status"` // sent, failed, pending, no_target or dry_run
	Sent       bool       `json:"sent"`   // now
	Message    string     `json:"message"`
	NotifiedAt *time.Time `json:"notifiedAt,omitempty"`
	Delivery   any        `json:"delivery,omitempty"`
	Error      string     `json:"error,omitempty"`
}

const (
	defaultLimit = 10
	largestLimit = 100
	dryRun       = "dry_run"
)

// Retry tries each notice that has not arrived once, whatever was to become of it by
// itself, and reports. With dry it only says which ones there are. Limit is how many
// of them; 0 means 10.
func (d *Deliverer) Retry(ctx context.Context, limit int, dry bool) (Report, error) {
	report := Report{DryRun: dry, Notifications: []Notice{}}
	list, err := d.notices.cfg.Journal.Notices(ctx, min(max(cmp.Or(limit, defaultLimit), 1), largestLimit))
	if err != nil {
		return report, err
	}
	for _, n := range list {
		line, err := d.retry(ctx, n, dry)
		if err != nil {
			return report, err
		}
		report.Notifications = append(report.Notifications, line)
	}
	report.Processed = len(report.Notifications)
	return report, nil
}

func (d *Deliverer) retry(ctx context.Context, n store.Notice, dry bool) (Notice, error) {
	var body Body
	_ = json.Unmarshal(n.Body, &body) // a damaged one is said to be when it is tried
	line := Notice{TaskID: n.Task, Name: body.Name, State: body.State, Target: n.Target, Message: body.Text}
	switch {
	case n.Target == "":
		line.Status = store.NoticeNoTarget
		if n.Status = store.NoticeNoTarget; dry {
			return line, nil
		}
		return line, d.notices.cfg.Journal.SetNotice(ctx, n)
	case dry:
		line.Status = dryRun
		return line, nil
	}
	try := &delivery{Notice: n, asked: true}
	if err := d.Now(ctx, n.Task, try); err != nil {
		return line, err
	}
	n, err := d.notices.cfg.Journal.Notice(ctx, n.Task)
	if err != nil {
		return line, err
	}
	line.Status, line.Error, line.Delivery = n.Status, n.Error, try.said
	if line.Sent = try.tried && line.Status == store.NoticeSent; line.Status == store.NoticeSent {
		line.NotifiedAt = &n.Sent
	}
	return line, nil
}
