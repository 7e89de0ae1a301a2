package tasks

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/sizes"
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
		return nil, refusal.New(a2a.ErrInvalidParams, "the id of the task is missing")
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
	return unplaced(e.Resume(ctx, req, ""))
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
	e.saveHeads()
	page, err := e.cfg.Journal.Tasks(ctx, query)
	if err != nil {
		return nil, e.journalError("list the tasks", err)
	}
	res := &a2a.ListTasksResponse{Tasks: make([]*a2a.Task, 0, len(page.Tasks)), TotalSize: page.Total, PageSize: query.Limit}
	size := 0
	for i, row := range page.Tasks {
		task := e.listed(row, req)
		if size += sizes.OfTask(task); i > 0 && size > mostBytes {
			page.Tasks, page.More = page.Tasks[:i], true
			break
		}
		res.Tasks = append(res.Tasks, task)
	}
	if page.More {
		last := page.Tasks[len(page.Tasks)-1]
		res.NextPageToken = token(store.Position{At: last.At, ID: last.ID})
	}
	return res, nil
}

// saveHeads commits the states that have been shown, so that a list has them.
func (e *Engine) saveHeads() {
	for _, t := range e.live.all() {
		if t.headWaits.Load() { // others are not waited for
			t.saveHead()
		}
	}
}

func (t *task) saveHead() {
	t.lock()
	defer t.unlock()
	if t.rec.head && t.rec.err == nil {
		t.save(store.Change{})
	}
}

// listed returns a task of a list as the request wants to see it. Its row has what is
// shown and nothing else.
func (e *Engine) listed(row store.Task, req *a2a.ListTasksRequest) *a2a.Task {
	var task *a2a.Task
	if t := e.live.find(a2a.TaskID(row.ID)); t != nil {
		task = trimmed(t.peek(), req.HistoryLength)
		task.Status.Timestamp = &row.At // of the order that the list is in
	} else {
		task = e.kept(row)
	}
	if !req.IncludeArtifacts {
		task.Artifacts = nil
	}
	return task
}

func queryOf(req *a2a.ListTasksRequest) (store.Query, error) {
	query := store.Query{Context: req.ContextID, State: string(req.Status), Limit: req.PageSize, History: -1, Artifacts: req.IncludeArtifacts, Bytes: mostBytes}
	if req.HistoryLength != nil {
		query.History = *req.HistoryLength
	}
	if query.Limit == 0 {
		query.Limit = defaultPage
	}
	if query.Limit < 1 || query.Limit > largestPage {
		return query, refusal.New(a2a.ErrInvalidParams, "pageSize is %d; it can be between 1 and %d, or 0 for %d", req.PageSize, largestPage, defaultPage)
	}
	if req.Status != a2a.TaskStateUnspecified && !slices.Contains(states(), req.Status) {
		return query, refusal.New(a2a.ErrInvalidParams, "status is %q, which is no state of a task", brief.Clip(string(req.Status), 64))
	}
	if req.StatusTimestampAfter != nil {
		query.Since = *req.StatusTimestampAfter
	}
	if req.PageToken != "" {
		var ok bool
		if query.After, ok = parseToken(req.PageToken); !ok {
			return query, refusal.New(a2a.ErrInvalidParams, "pageToken is none of ours; send the nextPageToken of the page before")
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

func token(p store.Position) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s %s", p.At.Format(time.RFC3339Nano), p.ID))
}

func parseToken(token string) (store.Position, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return store.Position{}, false
	}
	stamp, id, ok := strings.Cut(string(raw), " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	return store.Position{At: at, ID: id}, ok && err == nil && id != ""
}

// titleOfLong stands for a first message that is too long to be looked at: a list must
// not cost what all of its tasks hold.
const titleOfLong = "(a long message)"

// Newest returns the n tasks whose state has changed last, the latest first.
func (e *Engine) Newest(ctx context.Context, n int) ([]Brief, error) {
	page, err := e.cfg.Journal.Tasks(ctx, store.Query{Limit: n, Opening: longestOpened})
	if err != nil {
		return nil, e.journalError("list the tasks", err)
	}
	all := e.newestLive(n)
	for _, row := range page.Tasks {
		if e.live.find(a2a.TaskID(row.ID)) != nil || slices.ContainsFunc(all, func(b Brief) bool { return b.ID == a2a.TaskID(row.ID) }) {
			continue
		}
		b := briefOf(e.kept(row), e.cfg.Main)
		if len(row.History) == 0 {
			b.Title = titleOfLong
		}
		all = append(all, b)
	}
	slices.SortFunc(all, later)
	return all[:min(n, len(all))], nil
}

// newestLive are the newest of the tasks that have not ended, as they are shown: nothing is waited for.
func (e *Engine) newestLive(n int) []Brief {
	var all []Brief
	for _, t := range e.live.all() {
		all = append(all, Brief{ID: t.id, At: statusTime(t.feed.Face().Status)})
	}
	slices.SortFunc(all, later)
	all = all[:min(n, len(all))]
	for i, b := range all {
		if t := e.live.find(b.ID); t != nil {
			all[i] = t.brief()
		}
	}
	return slices.DeleteFunc(all, func(b Brief) bool { return b.State == "" }) // it has just ended, and is in no page
}

// later orders tasks by their states, the latest first.
func later(a, b Brief) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID)) }

// GetExtendedAgentCard implements a2asrv.RequestHandler. Cards are the server's:
// it knows the URL that its caller used.
func (e *Engine) GetExtendedAgentCard(context.Context, *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	return nil, refusal.New(a2a.ErrExtendedCardNotConfigured, "there is no extended agent card; the public one says it all")
}
