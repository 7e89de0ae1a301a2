package tasks

import (
	"context"
	"errors"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// A Push is what the engine needs to have push notifications made. All fields
// but Show must be set; the engine puts notifications into the journal's outbox, from
// where package push posts them.
type Push struct {
	// Check refuses URLs that must not be posted to. Its text is for the caller.
	Check func(url string) error
	// TaskV0 renders a task for receivers of A2A 0.3.
	TaskV0 func(*a2a.Task) ([]byte, error)
	// Show gives the files that an event hands out the form in which receivers get them;
	// nil leaves them as they are.
	Show func(a2a.Event) a2a.Event
	// Wake is called when there is something new in the outbox. It must not block.
	Wake func()
	// Full reports whether so much waits to be posted for who speaks in a conversation that
	// others are done without; nil is never. It must not block.
	Full func(conversation string) bool
	// Reserve takes room for so many bytes of notifications of a conversation, which are put
	// into the outbox then, or reports that there is none; nil is always room. It must not block.
	Reserve func(conversation string, bytes int) bool
}

// anyPush is the id that callers of A2A 0.3 give who have not got one.
const anyPush = "default"

func noPush() error {
	return refusal.New(a2a.ErrPushNotificationNotSupported, "push notifications are not supported; stream the task or subscribe to it")
}

// CreateTaskPushConfig implements a2asrv.RequestHandler. A setting whose id is
// known replaces the one that has it.
func (e *Engine) CreateTaskPushConfig(ctx context.Context, req *a2a.PushConfig) (*a2a.PushConfig, error) {
	s, err := e.readSetting(ctx, req)
	if err != nil {
		return nil, err
	}
	if req.TaskID == "" {
		return nil, refusal.New(a2a.ErrInvalidParams, "taskId is missing")
	}
	ctx = context.WithoutCancel(ctx)
	passed := e.admit.alone() // a task that is being accepted is found afterwards
	err = e.addSetting(ctx, req.TaskID, s)
	passed()
	if err == nil {
		err = e.promise(ctx)
	}
	if err != nil {
		return nil, err
	}
	return shown(req.TaskID, s.Setting), nil
}

// GetTaskPushConfig implements a2asrv.RequestHandler. Without an id, or with the
// id "default", it is the only one that there is.
func (e *Engine) GetTaskPushConfig(ctx context.Context, req *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) {
	switch {
	case e.cfg.Push == nil:
		return nil, noPush()
	case req == nil || req.TaskID == "":
		return nil, refusal.New(a2a.ErrInvalidParams, "the id of the task is missing")
	}
	all, err := e.settings(ctx, req.TaskID)
	if err != nil {
		return nil, e.pushError(req.TaskID, "load the push notification settings", err)
	}
	i := slices.IndexFunc(all, func(s push.Setting) bool { return s.Config.ID == req.ID })
	if i < 0 && len(all) == 1 && (req.ID == "" || req.ID == anyPush) {
		i = 0
	}
	switch {
	case i >= 0:
		return shown(req.TaskID, all[i]), nil
	case req.ID == "" && len(all) > 1:
		return nil, refusal.New(a2a.ErrInvalidParams, "the task has %d push notification settings; give the id of one", len(all))
	}
	return nil, refusal.New(a2a.ErrTaskNotFound, "task %q has no push notification setting %q", brief.Clip(string(req.TaskID), 64), brief.Clip(req.ID, 64))
}

// ListTaskPushConfigs implements a2asrv.RequestHandler. The list is in the order
// of the ids, and never nil.
func (e *Engine) ListTaskPushConfigs(ctx context.Context, req *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
	switch {
	case e.cfg.Push == nil:
		return nil, noPush()
	case req == nil || req.TaskID == "":
		return nil, refusal.New(a2a.ErrInvalidParams, "the id of the task is missing")
	case req.PageSize < 0:
		return nil, refusal.New(a2a.ErrInvalidParams, "pageSize is %d; it must not be negative", req.PageSize)
	}
	all, err := e.settings(ctx, req.TaskID)
	if err != nil {
		return nil, e.pushError(req.TaskID, "load the push notification settings", err)
	}
	res := &a2a.ListTaskPushConfigResponse{Configs: []*a2a.PushConfig{}}
	for _, s := range all {
		if s.Config.ID <= req.PageToken {
			continue
		}
		if n := len(res.Configs); req.PageSize > 0 && n == req.PageSize {
			res.NextPageToken = res.Configs[n-1].ID
			break
		}
		res.Configs = append(res.Configs, shown(req.TaskID, s))
	}
	return res, nil
}

// DeleteTaskPushConfig implements a2asrv.RequestHandler. One that is not there
// is no error: it may have been deleted before. What waits to be posted for it is
// not posted any more.
func (e *Engine) DeleteTaskPushConfig(ctx context.Context, req *a2a.DeleteTaskPushConfigRequest) error {
	switch {
	case e.cfg.Push == nil:
		return noPush()
	case req == nil || req.TaskID == "":
		return refusal.New(a2a.ErrInvalidParams, "the id of the task is missing")
	case req.ID == "":
		return refusal.New(a2a.ErrInvalidParams, "the id of the push notification setting is missing")
	}
	ctx = context.WithoutCancel(ctx)
	defer e.admit.alone()()
	if _, err := e.settings(ctx, req.TaskID); err != nil {
		return e.pushError(req.TaskID, "delete the push notification setting", err)
	}
	err := e.cfg.Journal.DropPush(ctx, string(req.TaskID), req.ID)
	if err != nil && !errors.Is(err, store.ErrUnknown) {
		return e.pushError(req.TaskID, "delete the push notification setting", err)
	}
	if t := e.live.find(req.TaskID); t != nil {
		t.lock()
		defer t.unlock()
		t.pushes = without(t.pushes, req.ID)
	}
	return nil
}

// shown is a setting as its callers see it.
func shown(id a2a.TaskID, s push.Setting) *a2a.PushConfig {
	c := s.Config
	c.TaskID = id
	return &c
}
