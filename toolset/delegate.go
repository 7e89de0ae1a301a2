package toolset

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

type delegation struct {
	Workspace string `json:"workspace_id" jsonschema:"the id of the peer, as list_peers has it"`
	Task      string `json:"task" jsonschema:"the task, with all that the peer needs to know: it does not see this conversation"`
	own
}

// receiver finds whom a delegation is for, and refuses what must not be one.
func (s *Set) receiver(ctx context.Context, a delegation) (platform.Peer, error) {
	if err := errors.Join(s.ours(a.Source), s.granted(actDelegate)); err != nil {
		return platform.Peer{}, err
	}
	id := strings.TrimSpace(a.Workspace)
	if id == "" || strings.TrimSpace(a.Task) == "" {
		return platform.Peer{}, errors.New("workspace_id and task are required")
	}
	peer := platform.Peer{ID: id}
	if !strings.EqualFold(id, s.cfg.Workspace) {
		peer = s.peer(ctx, id)
	}
	if strings.EqualFold(peer.ID, s.cfg.Workspace) { // we would wait for ourselves
		return platform.Peer{}, errors.New("self-delegation is not permitted: workspace_id is your own id. Do the task yourself, or choose a peer of list_peers")
	}
	return peer, nil
}

// delegateTask is delegate_task.
func (s *Set) delegateTask(ctx context.Context, a delegation) (string, error) {
	peer, err := s.receiver(ctx, a)
	if err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, s.cfg.Delegation)
	defer cancel()
	by := s.ask
	if s.cfg.ViaInbox {
		by = s.askByDelegation
	}
	text, err := by(limited, peer, a.Task)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = ours(fmt.Sprintf("no answer within %s; it may still be at work", s.cfg.Delegation))
	}
	if err != nil {
		name := called(peer)
		return "", whole(fmt.Sprintf("DELEGATION FAILED to %s: %s\n"+
			"You should either: (1) try a different peer, (2) do this task yourself, or (3) tell the user that %s is not available now, and give your best answer.",
			name, s.failure(err), name))
	}
	return text, nil
}

// ask sends a task to a peer and returns its answer, marked as such, or what is to be
// known instead of one.
func (s *Set) ask(ctx context.Context, peer platform.Peer, task string) (string, error) {
	began := time.Now()
	told, err := s.telling(ctx, peer.ID, task)
	if err != nil {
		return "", err
	}
	s.noteTask(peer, task, nil)
	reply, err := s.cfg.Platform.Send(ctx, peer.ID, platform.Message{
		ID: uuid.NewString(), Text: task, Limit: s.cfg.Delegation,
		Metadata: map[string]any{"source_workspace_id": s.cfg.Workspace},
	})
	told(err)
	switch {
	case err == nil && reply.Queued && reply.DeliveryMode == "poll":
		return inInbox(peer), nil
	case err == nil && reply.Queued:
		return waits(peer), nil
	case err == nil && strings.HasPrefix(reply.Text, agentError):
		err = errors.New(reply.Text)
	}
	s.noteAnswer(peer, reply.Text, began, err)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(reply.Text) == "" {
		return wrap("(no response)"), nil
	}
	return wrap(reply.Text), nil
}

// agentError is how the replies of runtimes begin that could not do their work.
const agentError = "Agent error:"

// waits is said of a peer that has a task and no time for it.
func waits(peer platform.Peer) string {
	return fmt.Sprintf("%s is busy: the platform keeps the task for it, and its answer does not come back from this call. "+
		"Do not send the task again. Go on with something else, or tell the user that the answer is outstanding.", called(peer))
}

// inInbox is said of a peer that asks for its messages: the platform has the task in its
// inbox, once, and a delegation of the same task would be a second one.
func inInbox(peer platform.Peer) string {
	return fmt.Sprintf("%s fetches its messages itself: the task is in its inbox, and its answer does not come back from this call. "+
		"It comes as a message of its own when the peer has written it, in the conversation with that agent and not in this one; chat_history with the peer_id %s shows what has come. "+
		"Do not send the task again. Go on with something else, or tell the user that the answer is outstanding.", called(peer), peer.ID)
}

// pollEvery is how often it is looked how a delegation stands.
const pollEvery = 3 * time.Second

// askByDelegation brings a task to a peer by way of the platform's delegations.
func (s *Set) askByDelegation(ctx context.Context, peer platform.Peer, task string) (string, error) {
	taken, err := s.delegate(ctx, peer, task)
	if err != nil {
		return "", err
	}
	defer s.awaited.wait(taken.ID)()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		rows, err := s.cfg.Platform.Delegations(ctx)
		if err != nil && ctx.Err() == nil {
			s.cfg.Logger.Debug("a delegation could not be looked at", "delegation_id", taken.ID, "err", err)
		}
		switch now := standing(rows, taken.ID, peer.ID); {
		case now.failed != "":
			s.awaited.tell(taken.ID, now.row)
			return "", errors.New(now.failed)
		case now.polls:
			return inInbox(peer), nil
		case now.waits:
			return waits(peer), nil
		case now.done:
			s.awaited.tell(taken.ID, now.row)
			return wrap(now.result), nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", ours(fmt.Sprintf("no answer yet to the delegation %s; check_task_status tells later", taken.ID))
		}
	}
}

// delegate gives a task to the platform for a peer. The same task within a minute is
// the same delegation: a call that is made again must not have the work done twice,
// and the same work may be wanted again tomorrow. The platform writes rows about what it
// takes.
func (s *Set) delegate(ctx context.Context, peer platform.Peer, task string) (platform.Delegated, error) {
	told, err := s.telling(ctx, peer.ID, task)
	if err != nil {
		return platform.Delegated{}, err
	}
	taken, err := s.cfg.Platform.Delegate(ctx, platform.Task{
		Target: peer.ID, Text: task, Key: s.given.key(s.cfg.Workspace+":"+peer.ID+":"+task, time.Now()),
	})
	told(err)
	if err != nil {
		s.noteTask(peer, task, err)
	}
	return taken, err
}
