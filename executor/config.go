package executor

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// Config describes an executor. Every zero value works.
type Config struct {
	MaxTurns     int // turns that run at the same time; 0 means 4
	MaxQuestions int // turns that wait for answers without counting among those; 0 means 64
	MaxMute      int // of these, turns of jobs that are [Job.Mute], and never more than half; 0 means 4, and less that none waits
	MaxQueue     int // jobs that wait in one context; 0 means 32
	MaxWaiting   int // jobs that wait in all contexts together; 0 means 1024

	// MaxBytes is how many bytes the jobs may take that have not ended (see Job.Size), a
	// quarter of them those of one context; 0 means 64 MiB.
	MaxBytes int64

	// The timers of a turn; 0 means none. IdleTimeout counts from its last sign of life while no tool
	// runs, ItemTimeout while one does. While it waits for answers none counts.
	TurnTimeout, IdleTimeout, ItemTimeout time.Duration

	// StartWait is how long starts of the agent may fail in a row before a job that is [Job.Patient]
	// fails with them; until then it keeps its place and waits. 0 means that none waits.
	StartWait time.Duration
	// LimitProbe is how long after it the model is asked whether a limit of unknown length has ended,
	// doubling to a minute; 0 means 5 s.
	LimitProbe time.Duration

	// Trace is asked before each attempt at a job for what the agent is told that the turn is
	// part of. It must not block. Nil tells it Job.Trace.
	Trace func(j Job, attempt int) agent.TraceContext

	Journal Journal // keeps what outlives this process; nil keeps nothing
	Metrics Metrics // nil counts nothing
	// Recorder is told what the executor is asked of its jobs, for people who look for a fault;
	// nil records nothing.
	Recorder Recorder
	Logger   *slog.Logger // nil discards
}

// A Recorder is told what is asked of jobs, before anything follows from it: a [Watcher] hears of
// the jobs themselves. It must not block, and is done with what it is given when it returns.
type Recorder interface {
	// Cancel tells of a job that is to end.
	Cancel(job string)
	// Answer tells of an answer to a question of a job. What it returns is called if that is not taken.
	Answer(job string, a agent.Answer) (refused func(error))
}

type noRecorder struct{}

func (noRecorder) Cancel(string)                           {}
func (noRecorder) Answer(string, agent.Answer) func(error) { return func(error) {} }

// Metrics counts what happens to jobs. Implementations must not block.
type Metrics interface {
	QueueDepth(n int)
	// Held says whether turns wait for a login (kind auth), and for the end of a limit (kind limit). It may be called
	// again with what it has said before. A job that waits alone (alone.go) is not in it.
	Held(kind string, held bool)
}

type noMetrics struct{}

func (noMetrics) QueueDepth(int)    {}
func (noMetrics) Held(string, bool) {}

func (c Config) withDefaults() Config {
	c.MaxTurns = cmp.Or(c.MaxTurns, 4)
	c.MaxQuestions = cmp.Or(c.MaxQuestions, 64)
	c.MaxMute = cmp.Or(c.MaxMute, 4)
	c.MaxQueue = cmp.Or(c.MaxQueue, 32)
	c.MaxWaiting = cmp.Or(c.MaxWaiting, 1024)
	c.MaxBytes = cmp.Or(c.MaxBytes, 64<<20)
	c.LimitProbe = cmp.Or(c.LimitProbe, 5*time.Second)
	if c.Journal == nil {
		c.Journal = noJournal{}
	}
	if c.Recorder == nil {
		c.Recorder = noRecorder{}
	}
	if c.Metrics == nil {
		c.Metrics = noMetrics{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
