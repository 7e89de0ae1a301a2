package executor

import "github.com/Molecule-AI/molecule-codex-runtime/agent"

// A Recorder is told what an executor is asked, and what becomes of its jobs. Record must
// not block, and is done with data when it returns. Data is one of the Record types.
type Recorder interface {
	Record(event string, data any)
}

// The events of a [Recorder]: first what comes in, then what goes out. Nothing
// that follows from an event is recorded before it.
const (
	RecordSubmit  = "submit"  // RecordedJob
	RecordSteer   = "steer"   // RecordedJob, with Into
	RecordRefused = "refused" // RecordedFact: the last of these two, or an answer, was not accepted
	RecordAnswer  = "answer"  // RecordedAnswer
	RecordCancel  = "cancel"  // RecordedFact, of a job

	RecordStarted   = "started"   // RecordedTurn
	RecordHeld      = "held"      // RecordedFact, of a job
	RecordAsked     = "asked"     // RecordedFact: a job, and the question's id
	RecordAnswered  = "answered"  // RecordedFact, likewise
	RecordSteered   = "steered"   // RecordedFact: a job, and the turn's id
	RecordUnsteered = "unsteered" // RecordedFact, of a job
	RecordEnded     = "ended"     // RecordedEnd
)

// A RecordedFact is about a job.
type RecordedFact struct {
	Of    string `json:"of"`
	ID    string `json:"id,omitempty"`
	Error string `json:"error,omitempty"`
}

// A RecordedJob is a [Job].
type RecordedJob struct {
	Job
	Into string `json:",omitempty"` // the job whose turn it was handed to
}

// A RecordedAnswer is an [agent.Answer] to a question of a job.
type RecordedAnswer struct {
	Job    string       `json:"job"`
	Answer agent.Answer `json:"answer"`
}

// A RecordedTurn is a [agent.Started].
type RecordedTurn struct {
	Job     string `json:"job"`
	Thread  string `json:"thread"`
	Turn    string `json:"turn"`
	Attempt int    `json:"attempt"`
}

// A RecordedEnd is an [agent.Ended].
type RecordedEnd struct {
	Job      string          `json:"job"`
	Outcome  agent.Outcome   `json:"outcome"`
	Messages []agent.Message `json:"messages,omitempty"`
	Failure  *agent.Failure  `json:"failure,omitempty"`
	Taken    []string        `json:"taken,omitempty"`
}

// record has the recorder told, if there is one.
func (e *Executor) record(event string, data any) {
	if e.cfg.Recorder != nil {
		e.cfg.Recorder.Record(event, data)
	}
}

// unaccepted notes that what was recorded last of a job did not come to be.
func (e *Executor) unaccepted(job string, err error) {
	if err != nil {
		e.record(RecordRefused, RecordedFact{Of: job, Error: err.Error()})
	}
}

// recorded has the observer's events recorded, too: those that are no output.
func (c Config) recorded(job string, observe Observer) Observer {
	if c.Recorder == nil {
		return observe
	}
	return func(event agent.Event) {
		switch event := event.(type) {
		case agent.Started:
			c.Recorder.Record(RecordStarted, RecordedTurn{job, event.ThreadID, event.TurnID, event.Attempt})
		case agent.Paused:
			c.Recorder.Record(RecordHeld, RecordedFact{Of: job, ID: string(event.Kind)})
		case agent.Question:
			c.Recorder.Record(RecordAsked, RecordedFact{Of: job, ID: event.ID})
		case agent.Answered:
			c.Recorder.Record(RecordAnswered, RecordedFact{Of: job, ID: event.ID})
		case agent.Steered:
			c.Recorder.Record(RecordSteered, RecordedFact{Of: job, ID: event.TurnID})
		case agent.Unsteered:
			c.Recorder.Record(RecordUnsteered, RecordedFact{Of: job})
		case agent.Ended:
			c.Recorder.Record(RecordEnded, RecordedEnd{job, event.Outcome, event.Messages, event.Failure, event.Taken})
		}
		observe(event)
	}
}
