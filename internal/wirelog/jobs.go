package wirelog

import (
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// The events of the executor: first what it is asked, then what becomes of jobs. Nothing
// that follows from an event is recorded before it.
const (
	EventSubmit  = "submit"  // Job
	EventSteer   = "steer"   // Job, with Into
	EventRefused = "refused" // Fact: the last of these two, or an answer, was not accepted
	EventAnswer  = "answer"  // Answer
	EventCancel  = "cancel"  // Fact, of a job

	EventStarted   = "started"   // Turn
	EventHeld      = "held"      // Fact, of a job
	EventAsked     = "asked"     // Fact: a job, and the question's id
	EventAnswered  = "answered"  // Fact, likewise
	EventSteered   = "steered"   // Fact: a job, and the turn's id
	EventUnsteered = "unsteered" // Fact, of a job
	EventEnded     = "ended"     // Ended
)

// A Fact is about a job.
type Fact struct {
	Of    string `json:"of"`
	ID    string `json:"id,omitempty"`
	Error string `json:"error,omitempty"`
}

// A Job is an [executor.Job].
type Job struct {
	executor.Job
	Into string `json:",omitempty"` // the job whose turn it was handed to
}

// An Answer is an [agent.Answer] to a question of a job.
type Answer struct {
	Job    string       `json:"job"`
	Answer agent.Answer `json:"answer"`
}

// A Turn is an [agent.Started].
type Turn struct {
	Job     string `json:"job"`
	Thread  string `json:"thread"`
	Turn    string `json:"turn"`
	Attempt int    `json:"attempt"`
}

// An Ended is an [agent.Ended].
type Ended struct {
	Job      string          `json:"job"`
	Outcome  agent.Outcome   `json:"outcome"`
	Messages []agent.Message `json:"messages,omitempty"`
	Failure  *agent.Failure  `json:"failure,omitempty"`
	Taken    []string        `json:"taken,omitempty"`
}

// Watch implements [executor.Watcher]: it notes a job, and what becomes of it but for its output.
func (r *Recorder) Watch(j executor.Job, into string, next executor.Observer) (observe executor.Observer, refused func(error)) {
	if r == nil {
		return next, nil
	}
	event := EventSubmit
	if into != "" {
		event = EventSteer
	}
	r.Record(event, Job{j, into})
	return r.observer(j.ID, next), func(err error) { r.refused(j.ID, err) }
}

func (r *Recorder) refused(of string, err error) {
	r.Record(EventRefused, Fact{Of: of, Error: err.Error()})
}

// observer notes what a job's observer is told, and tells it.
func (r *Recorder) observer(job string, next executor.Observer) executor.Observer {
	return func(event agent.Event) {
		switch event := event.(type) {
		case agent.Started:
			r.Record(EventStarted, Turn{job, event.ThreadID, event.TurnID, event.Attempt})
		case agent.Paused:
			r.Record(EventHeld, Fact{Of: job, ID: string(event.Kind)})
		case agent.Question:
			r.Record(EventAsked, Fact{Of: job, ID: event.ID})
		case agent.Answered:
			r.Record(EventAnswered, Fact{Of: job, ID: event.ID})
		case agent.Steered:
			r.Record(EventSteered, Fact{Of: job, ID: event.TurnID})
		case agent.Unsteered:
			r.Record(EventUnsteered, Fact{Of: job})
		case agent.Ended:
			r.Record(EventEnded, Ended{job, event.Outcome, event.Messages, event.Failure, event.Taken})
		}
		next(event)
	}
}

// Cancel implements [executor.Recorder].
func (r *Recorder) Cancel(job string) { r.Record(EventCancel, Fact{Of: job}) }

// Answer implements [executor.Recorder].
func (r *Recorder) Answer(job string, a agent.Answer) (refused func(error)) {
	r.Record(EventAnswer, Answer{job, a})
	return func(err error) { r.refused(a.ID, err) }
}
