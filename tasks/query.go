package tasks

import (
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

const (
	defaultPage = 50
	largestPage = 100
	// mostBytes is about how large a page gets before it ends early. A single
	// task may be larger: its reader has to have it somehow.
	mostBytes = 4 << 20
)

// GetTask implements a2asrv.RequestHandler.
func (e *Engine) GetTask(ctx context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error) {
	if req == nil || req.ID == "" {
		return nil, refuse(a2a.ErrInvalidParams, "the id of the task is missing")
	}
	if err := checkHistory(req.HistoryLength); err != nil {
		return nil, err
	}
	v, err := e.open(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	return trimmed(v.task, req.HistoryLength), nil
}

// SubscribeToTask implements a2asrv.RequestHandler. The first event is the task
// as it is, and what follows is everything that happened since.
func (e *Engine) SubscribeToTask(ctx context.Context, req *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error] {
	if req == nil || req.ID == "" {
		return fail(refuse(a2a.ErrInvalidParams, "the id of the task is missing"))
	}
	return func(yield func(a2a.Event, error) bool) {
		v, err := e.open(ctx, req.ID)
		if err == nil && (v.of == nil || v.task.Status.State.Terminal()) {
			err = inState(a2a.ErrUnsupportedOperation, v.task, "task %q has ended (%s): there is nothing to subscribe to, get the task instead", v.task.ID, v.task.Status.State)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		v.events(ctx, false, yield)
	}
}

// ListTasks implements a2asrv.RequestHandler.
func (e *Engine) ListTasks(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	if req == nil {
		req = &a2a.ListTasksRequest{}
	}
	query, err := queryOf(req)
	if err != nil {
		return nil, err
	}
	page, err := e.cfg.Journal.List(ctx, query)
	if err != nil {
		return nil, e.journalError("list the tasks", err)
	}
	res := &a2a.ListTasksResponse{Tasks: make([]*a2a.Task, 0, len(page.Tasks)), TotalSize: page.Total, PageSize: query.Limit}
	size := 0
	for i, kept := range page.Tasks {
		task := trimmed(kept, req.HistoryLength)
		if t := e.find(kept.ID); t != nil {
			live := t.peek() // the journal has these at the next change of state
			task.Artifacts, task.Metadata = live.Artifacts, live.Metadata
		}
		if !req.IncludeArtifacts {
			task.Artifacts = nil
		}
		if size += wireSize(task); i > 0 && size > mostBytes {
			page.Tasks, page.More = page.Tasks[:i], true
			break
		}
		res.Tasks = append(res.Tasks, task)
	}
	if page.More {
		res.NextPageToken = position(page.Tasks[len(page.Tasks)-1]).token()
	}
	return res, nil
}

// wireSize is about what a task takes on the wire.
func wireSize(task *a2a.Task) int {
	n := 512
	add := func(parts a2a.ContentParts) {
		for _, p := range parts {
			n += 64 + len(p.Text()) + len(p.Raw())*4/3 + len(p.URL())
			if data := p.Data(); data != nil {
				n += len(encode(data))
			}
		}
	}
	for _, a := range task.Artifacts {
		n += 128
		add(a.Parts)
	}
	for _, m := range task.History {
		n += 256
		add(m.Parts)
	}
	if m := task.Status.Message; m != nil {
		add(m.Parts)
	}
	return n
}

func queryOf(req *a2a.ListTasksRequest) (Query, error) {
	query := Query{ContextID: req.ContextID, State: req.Status, Limit: req.PageSize}
	if query.Limit == 0 {
		query.Limit = defaultPage
	}
	if query.Limit < 1 || query.Limit > largestPage {
		return Query{}, refuse(a2a.ErrInvalidParams, "pageSize is %d; it must be between 1 and %d", req.PageSize, largestPage)
	}
	if query.State != a2a.TaskStateUnspecified && !slices.Contains(states(), query.State) {
		return Query{}, refuse(a2a.ErrInvalidParams, "status is %q, which is no state of a task", clip(string(query.State), 64))
	}
	if req.StatusTimestampAfter != nil {
		query.Since = *req.StatusTimestampAfter
	}
	if req.PageToken != "" {
		var ok bool
		if query.After, ok = parseToken(req.PageToken); !ok {
			return Query{}, refuse(a2a.ErrInvalidParams, "pageToken is none of ours; send the nextPageToken of the page before")
		}
	}
	return query, checkHistory(req.HistoryLength)
}

// states are those that a task can be in.
func states() []a2a.TaskState {
	return []a2a.TaskState{
		a2a.TaskStateSubmitted, a2a.TaskStateWorking, a2a.TaskStateInputRequired, a2a.TaskStateAuthRequired,
		a2a.TaskStateCompleted, a2a.TaskStateCanceled, a2a.TaskStateFailed, a2a.TaskStateRejected,
	}
}

func (p Position) token() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s %s", p.Time.Format(time.RFC3339Nano), p.ID))
}

func parseToken(token string) (Position, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return Position{}, false
	}
	stamp, id, ok := strings.Cut(string(raw), " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	return Position{Time: at, ID: a2a.TaskID(id)}, ok && err == nil && id != ""
}

// trimmed returns the task with the newest n messages of its history, or all of
// them. The struct is the caller's own.
func trimmed(task *a2a.Task, n *int) *a2a.Task {
	out := *task
	if n != nil && *n < len(out.History) {
		out.History = out.History[len(out.History)-*n:]
	}
	return &out
}

func checkHistory(n *int) error {
	if n != nil && *n < 0 {
		return refuse(a2a.ErrInvalidParams, "historyLength is %d; it must not be negative", *n)
	}
	return nil
}
