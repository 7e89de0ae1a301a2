package executor

import (
	"context"
	"errors"
	"io/fs"
	"reflect"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// A Recorder is told what an executor is asked, what it reads, and what becomes of
// its jobs: with the wire of the child, everything that decides what it does, so
// that it can be played again. Record must not block, and is done with data when it
// returns. Data is one of the Record types, or nil.
type Recorder interface {
	Record(event string, data any)
}

// The events of a [Recorder]: first what comes in, then what goes out. Nothing
// that follows from an event is recorded before it.
const (
	RecordConfig       = "config"       // RecordedConfig: an executor was made
	RecordLaunch       = "launch"       // RecordedLaunch: how codex is started the next time
	RecordInstructions = "instructions" // RecordedText: they differ from before
	RecordThread       = "thread"       // RecordedThread: threads are loaded with another configuration than before
	RecordOversized    = "oversized"    // RecordedOversized: what is too large for codex to read in a folder is another file than before, or none
	RecordPast         = "past"         // RecordedPast: what the book knows of a conversation
	RecordUsed         = "used"         // RecordedFact, of a conversation
	RecordTurned       = "turned"       // RecordedFact, of a thread
	RecordVanished     = "vanished"     // RecordedFact, of a job
	RecordLent         = "lent"         // RecordedLent: what codex is given of a job's input
	RecordTrace        = "trace"        // RecordedTrace: what a rollout file has of an attempt
	RecordSubmit       = "submit"       // RecordedJob
	RecordSteer        = "steer"        // RecordedJob, with Into
	RecordRefused      = "refused"      // RecordedFact: the last of these two, or an answer, was not accepted
	RecordAnswer       = "answer"       // RecordedAnswer
	RecordCancel       = "cancel"       // RecordedFact, of a job
	RecordForget       = "forget"       // RecordedFact, of a conversation
	RecordDrop         = "drop"         // RecordedFact, of a conversation
	RecordEndAgents    = "endAgents"    // RecordedFact, of a thread
	RecordDelete       = "delete"       // RecordedFact, of a thread
	RecordRestart      = "restart"      // RecordedText: why codex is restarted when it is idle
	RecordClose        = "close"        // nil

	RecordStarted   = "started"   // RecordedTurn
	RecordHeld      = "held"      // RecordedFact, of a job
	RecordAsked     = "asked"     // RecordedFact: a job, and the question's id
	RecordAnswered  = "answered"  // RecordedFact, likewise
	RecordSteered   = "steered"   // RecordedFact: a job, and the turn's id
	RecordUnsteered = "unsteered" // RecordedFact, of a job
	RecordEnded     = "ended"     // RecordedEnd
)

// A RecordedFact is about a job, a thread or a conversation.
type RecordedFact struct {
	Of    string `json:"of"`
	ID    string `json:"id,omitempty"`
	Yes   bool   `json:"yes,omitempty"`
	N     int    `json:"n,omitempty"`
	Error string `json:"error,omitempty"`
}

// A RecordedText is words.
type RecordedText struct {
	Text string `json:"text"`
}

// A RecordedConfig is as much of a [Config] as decides what codex is told.
type RecordedConfig struct {
	Thread       appserver.ThreadStartParams `json:"thread"`
	MaxTurns     int                         `json:"maxTurns"`
	MaxQuestions int                         `json:"maxQuestions"`
	MaxMute      int                         `json:"maxMute,omitempty"`
	MaxAsked     int                         `json:"maxAsked,omitempty"` // an older record has none
	MaxQueue     int                         `json:"maxQueue"`
	MaxThreads   int                         `json:"maxThreads"`
	TurnTimeout  time.Duration               `json:"turnTimeout"`
	IdleTimeout  time.Duration               `json:"idleTimeout"`
	ItemTimeout  time.Duration               `json:"itemTimeout"`
	QuestionTTL  time.Duration               `json:"questionTTL"`
	Rules        bool                        `json:"rules,omitempty"`
	Open         bool                        `json:"open,omitempty"`
	Grace        time.Duration               `json:"grace"`
}

// A RecordedOversized is what [Launch].Oversized has returned.
type RecordedOversized struct {
	Dir   string `json:"dir"`
	Found string `json:"found"`
}

// A RecordedThread is what [Launch].Thread has returned.
type RecordedThread struct {
	Config map[string]any `json:"config,omitempty"`
}

// A RecordedLaunch is a [Launch] without its environment.
type RecordedLaunch struct {
	Args          []string `json:"args,omitempty"`
	Model         string   `json:"model,omitempty"`
	ModelProvider string   `json:"modelProvider,omitempty"`
	KeyVariable   string   `json:"keyVariable,omitempty"`
	Error         string   `json:"error,omitempty"`
	Unready       bool     `json:"unready,omitempty"` // Error is an [Unready]
}

// A RecordedPast is what [Book.Past] has returned.
type RecordedPast struct {
	Conversation string `json:"conversation"`
	Past
	Error string `json:"error,omitempty"`
}

// A RecordedTrace is what [appserver.ReadTrace] or [appserver.FindTrace] has returned.
type RecordedTrace struct {
	ClientID string `json:"clientId"`
	appserver.Trace
	Missing bool   `json:"missing,omitempty"` // there is no file
	Error   string `json:"error,omitempty"`
}

// A RecordedLent is what a [Lender] has made of the input of an attempt.
type RecordedLent struct {
	Job     string                      `json:"job"`
	Changed map[int]appserver.UserInput `json:"changed,omitempty"` // by their places
	// Whole is all of it where it has more or fewer parts than the input had.
	Whole []appserver.UserInput `json:"whole,omitempty"`
	// Canceled says that the attempt was over before it was made.
	Canceled bool `json:"canceled,omitempty"`
}

// A RecordedJob is a [Job].
type RecordedJob struct {
	Job
	Into string `json:",omitempty"` // the job whose turn it was handed to
}

// A RecordedAnswer is an [Answer] to a question of a job.
type RecordedAnswer struct {
	Job    string `json:"job"`
	Answer Answer `json:"answer"`
}

// A RecordedTurn is a [Started].
type RecordedTurn struct {
	Job     string `json:"job"`
	Thread  string `json:"thread"`
	Turn    string `json:"turn"`
	Attempt int    `json:"attempt"`
}

// A RecordedEnd is an [Ended].
type RecordedEnd struct {
	Job      string         `json:"job"`
	Outcome  Outcome        `json:"outcome"`
	Messages []AgentMessage `json:"messages,omitempty"`
	Failure  *Failure       `json:"failure,omitempty"`
	Taken    []string       `json:"taken,omitempty"`
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
	return func(event Event) {
		switch event := event.(type) {
		case Started:
			c.Recorder.Record(RecordStarted, RecordedTurn{job, event.ThreadID, event.TurnID, event.Attempt})
		case Held:
			c.Recorder.Record(RecordHeld, RecordedFact{Of: job, ID: string(event.Kind)})
		case Asked:
			c.Recorder.Record(RecordAsked, RecordedFact{Of: job, ID: event.ID})
		case Answered:
			c.Recorder.Record(RecordAnswered, RecordedFact{Of: job, ID: event.ID})
		case Steered:
			c.Recorder.Record(RecordSteered, RecordedFact{Of: job, ID: event.TurnID})
		case Unsteered:
			c.Recorder.Record(RecordUnsteered, RecordedFact{Of: job})
		case Ended:
			c.Recorder.Record(RecordEnded, RecordedEnd{job, event.Outcome, event.Messages, event.Failure, event.Taken})
		}
		observe(event)
	}
}

// withRecorder has everything recorded that a new executor will read.
func (c Config) withRecorder() Config {
	r := c.Recorder
	if r == nil {
		return c
	}
	r.Record(RecordConfig, RecordedConfig{
		Thread: c.Thread, MaxTurns: c.MaxTurns, MaxQuestions: c.MaxQuestions, MaxMute: c.MaxMute, MaxAsked: c.MaxAsked, MaxQueue: c.MaxQueue, MaxThreads: c.MaxThreads,
		TurnTimeout: c.TurnTimeout, IdleTimeout: c.IdleTimeout, ItemTimeout: c.ItemTimeout, QuestionTTL: c.QuestionTTL, Rules: c.Rules, Open: c.Open, Grace: c.Grace,
	})
	if _, none := c.Book.(noBook); !none {
		c.Book = recordedBook{c.Book, r}
	}
	if c.Instructions != nil {
		c.Instructions = recordedInstructions(c.Instructions, r)
	}
	prepare := c.Prepare
	if prepare != nil {
		c.Prepare = func(ctx context.Context) (Launch, error) {
			launch, err := prepare(ctx)
			_, unready := err.(Unready) //nolint:errorlint // as the supervisor is given it
			r.Record(RecordLaunch, RecordedLaunch{launch.Args, launch.Model, launch.ModelProvider, launch.KeyVariable, text(err), unready})
			return launch.withRecorder(r), err
		}
	}
	c.ReadTrace, c.FindTrace = recordedTraces(c.ReadTrace, r), recordedTraces(c.FindTrace, r)
	return c
}

func recordedTraces(read func(path, clientID string) (appserver.Trace, error), r Recorder) func(path, clientID string) (appserver.Trace, error) {
	return func(path, clientID string) (appserver.Trace, error) {
		found, err := read(path, clientID)
		r.Record(RecordTrace, RecordedTrace{clientID, found, errors.Is(err, fs.ErrNotExist), text(err)})
		return found, err
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// whenOther has what is looked up by a key recorded when it is not what it was; at first it is zero.
func whenOther[K comparable, V any](now func(K) V, record func(K, V)) func(K) V {
	var mu sync.Mutex // guards what follows
	last := map[K]V{}
	return func(key K) V {
		mu.Lock()
		defer mu.Unlock()
		found := now(key)
		if !reflect.DeepEqual(found, last[key]) {
			record(key, found)
		}
		last[key] = found
		return found
	}
}

// withRecorder has what the launch says of threads recorded.
func (l Launch) withRecorder(r Recorder) Launch {
	if now := l.Thread; now != nil {
		thread := whenOther(func(struct{}) map[string]any { return now() }, func(_ struct{}, config map[string]any) { r.Record(RecordThread, RecordedThread{config}) })
		l.Thread = func() map[string]any { return thread(struct{}{}) }
	}
	if l.Oversized != nil {
		l.Oversized = whenOther(l.Oversized, func(dir, found string) { r.Record(RecordOversized, RecordedOversized{dir, found}) })
	}
	return l
}

// recordedInstructions has instructions recorded when they are not what they were.
func recordedInstructions(now func() string, r Recorder) func() string {
	var mu sync.Mutex // guards the two below
	last, asked := "", false
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		text := now()
		if text != last || !asked {
			r.Record(RecordInstructions, RecordedText{text})
		}
		last, asked = text, true
		return text
	}
}

// A recordedBook has recorded what is read in it.
type recordedBook struct {
	Book
	recorder Recorder
}

// Past implements [Book].
func (b recordedBook) Past(ctx context.Context, conversation string) (Past, error) {
	past, err := b.Book.Past(ctx, conversation)
	b.recorder.Record(RecordPast, RecordedPast{conversation, past, text(err)})
	return past, err
}

// Used implements [Book].
func (b recordedBook) Used(ctx context.Context, conversation string) (bool, error) {
	used, err := b.Book.Used(ctx, conversation)
	b.recorder.Record(RecordUsed, RecordedFact{Of: conversation, Yes: used, Error: text(err)})
	return used, err
}

// Turned implements [Book].
func (b recordedBook) Turned(ctx context.Context, thread string) (bool, error) {
	turned, err := b.Book.Turned(ctx, thread)
	b.recorder.Record(RecordTurned, RecordedFact{Of: thread, Yes: turned, Error: text(err)})
	return turned, err
}

// Vanished implements [Book].
func (b recordedBook) Vanished(ctx context.Context, a Attempt) (int, error) {
	n, err := b.Book.Vanished(ctx, a)
	b.recorder.Record(RecordVanished, RecordedFact{Of: a.Job, N: n, Error: text(err)})
	return n, err
}
