package bridge

import (
	"context"
	"errors"
	"time"
)

// methodNotify is the extension method that tries notices again.
const methodNotify = "NotifyEndedTasks"

// A NotifyAnswer says who was told of tasks that have ended.
type NotifyAnswer struct {
	Success       bool           `json:"success"`
	DryRun        bool           `json:"dry_run"`
	Processed     int            `json:"processed"`
	Notifications []Notification `json:"notifications"`
}

// A Notification is about one of them.
type Notification struct {
	TaskID             string   `json:"task_id"`
	HermesTaskID       string   `json:"hermes_task_id"`
	Status             string   `json:"status"` // of the task
	Target             string   `json:"target,omitempty"`
	NotificationStatus string   `json:"notification_status"`
	Sent               bool     `json:"sent"`
	Message            string   `json:"message"`
	NotifiedAt         *float64 `json:"notified_at,omitempty"`
	Delivery           any      `json:"delivery,omitempty"`
	Error              string   `json:"error,omitempty"`
}

// notifyTimeout bounds the call, which waits for receivers.
const notifyTimeout = 3 * time.Minute

func (c *Client) notifyCompleted(ctx context.Context, limit int, dry bool) (any, error) {
	var report struct {
		DryRun        bool `json:"dryRun"`
		Notifications []struct {
			Name, State, Target, Status, Message, Error string
			Sent                                        bool
			NotifiedAt                                  *time.Time
			Delivery                                    any
		}
	}
	err := c.callWithin(ctx, notifyTimeout, methodNotify, map[string]any{"limit": limit, "dryRun": dry}, &report)
	if refused, ok := errors.AsType[*RefusedError](err); ok && refused.Code == codeNoMethod {
		return nil, errors.New("the server cannot tell of the ends of tasks: it lacks the method " + methodNotify)
	}
	if err != nil {
		return nil, err
	}
	answer := NotifyAnswer{Success: true, DryRun: report.DryRun, Processed: len(report.Notifications), Notifications: []Notification{}}
	for _, n := range report.Notifications {
		line := Notification{
			TaskID: n.Name, HermesTaskID: n.Name, Status: n.State, Target: n.Target, NotificationStatus: n.Status,
			Sent: n.Sent, Message: n.Message, Delivery: n.Delivery, Error: n.Error,
		}
		if n.NotifiedAt != nil {
			at := seconds(n.NotifiedAt)
			line.NotifiedAt = &at
		}
		answer.Notifications = append(answer.Notifications, line)
	}
	return answer, nil
}
