package host

import (
	"context"
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/requests"
)

// Boards bring the decisions of users to what codex asks, each for one workspace.
type Boards []*requests.Board

// OpenBoard makes one. What it has to say goes to the engine; mine says which conversations are those of
// the workspace, and is nil where all are.
func OpenBoard(life *Life, g *Ground, client *platform.Client, mine func(conversation string) bool) *requests.Board {
	board := requests.New(requests.Config{
		Journal: g.Journal, Platform: buttons{client}, Decide: g.Heard.decide, Mine: mine, Logger: g.Logger,
	})
	life.GoesOn(board.Run)
	return board
}

// Wake says that there is something new.
func (all Boards) Wake() {
	for _, board := range all {
		board.Wake()
	}
}

// decide answers a question; see [tasks.Engine.Decide].
func (h *Heard) decide(ctx context.Context, task, question, name string, accept bool) error {
	engine := h.engine.Get()
	if engine == nil {
		return errNotBuilt
	}
	return engine.Decide(ctx, task, question, name, accept)
}

var errNotBuilt = errors.New("there is no engine yet")

// buttons are those of a workspace's user. It implements [requests.Platform].
type buttons struct{ client *platform.Client }

// Put implements [requests.Platform].
func (b buttons) Put(ctx context.Context, r requests.Request) (id string, listed bool, err error) {
	asked, err := b.client.CreateRequest(ctx, platform.Ask{Kind: "approval", Title: r.Title, Detail: r.Detail, Task: r.Question})
	switch {
	case errors.Is(err, platform.ErrUnsupported):
		return "", false, noButtonsError{err}
	case err == nil && asked.ID == "":
		return "", false, noButtonsError{platform.ErrNotUnderstood}
	}
	return asked.ID, asked.Silent, err
}

// A noButtonsError says that the platform has none.
type noButtonsError struct{ error }

func (noButtonsError) Permanent() bool { return true }

// List implements [requests.Platform].
func (b buttons) List(ctx context.Context) ([]requests.Listed, error) {
	all, err := b.client.Approvals(ctx)
	if errors.Is(err, platform.ErrUnsupported) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := make([]requests.Listed, 0, len(all))
	for _, a := range all {
		out = append(out, requests.Listed{ID: a.ID, Question: a.Task, State: requests.StateOf(a.Status, a.DecidedBy)})
	}
	return out, nil
}

// Close implements [requests.Platform].
func (b buttons) Close(ctx context.Context, id string) error { return b.client.CloseApproval(ctx, id) }
