package executor

import (
	"fmt"
	"net/http"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// A Refusal is why the model's provider does not answer: it refuses the credential,
// or a limit is reached. That concerns all who come with our credential, or one job
// alone, see [Refusal.Alone]. A driver may end a turn for it at the first sign of it.
type Refusal struct {
	Kind   agent.FailureKind // FailAuth or FailLimit
	Code   string            // the agent's name of the error
	Why    string            // in the agent's words, fit for the sender of the message
	Status int               // of HTTP, or 0
	Usage  bool              // the limit is the allowance of the account
	Limit  string            // the name of the limit
	Until  time.Time         // when the limit ends, by the wall clock; zero if it is not known
	Model  string            // that was asked, where the job had named another than its thread has; else empty
	Unsure bool              // the model of the turn before may have been asked, which may be another
}

func (r *Refusal) Error() string { return r.Why }

// Alone reports whether a refusal may concern no other job: it is about the model that
// the job has named, or that a turn before it has, with which an agent may summarise where that of
// this one has less room, as codex does; or it is a 403, which may be about what the
// message says.
func (r *Refusal) Alone() bool {
	return r.Model != "" || r.Unsure || r.Kind == agent.FailAuth && r.Status == http.StatusForbidden
}

// Failure is what the sender of the message is told.
func (r *Refusal) Failure(tools bool) *agent.Failure {
	f := &agent.Failure{Kind: r.Kind, Code: r.Code, Message: r.Why, Limit: r.Limit, ResetsAt: r.Until}
	if r.Kind == agent.FailLimit {
		f.Message += r.ending()
	} else {
		f.Message += ". The model's provider refused the credential, or got none: check OPENAI_API_KEY, or log codex in"
	}
	if r.Model != "" {
		f.Message += ". This may be about the model that the message names; without it the message may run"
	}
	if r.Kind == agent.FailAuth && tools {
		f.Message += ". This came in the middle of the turn, after tools had run: look at what is done, and then send a message to go on"
	}
	return f
}

// ending says when the limit ends, if that is known.
func (r *Refusal) ending() string {
	if r.Until.IsZero() {
		return ". It is not known when this limit ends; try again in a minute"
	}
	return fmt.Sprintf(". The limit (%s) ends at %s", r.Limit, r.Until.UTC().Format(time.RFC3339))
}

// A Pause is what waiting jobs are told while no turn is started.
type Pause struct {
	agent.Paused
	Peers   *Pause // is told to jobs of other agents in the place of this; nil if nothing is
	Unbegun bool   // only those are told: a login is begun for the first job of the user's
}

// to is what a job is told of it, nil for nothing.
func (h *Pause) to(peer bool) *Pause {
	switch {
	case h == nil, h.Unbegun && !peer:
		return nil
	case peer && h.Peers != nil:
		return h.Peers
	}
	return h
}
