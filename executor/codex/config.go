package codex

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/failure"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/place"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/rollout"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/sandbox"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// Config describes a driver. Child must name a binary; every other zero
// value works.
type Config struct {
	// Child is how codex is started.
	Child Process
	// Mend puts right what commands can break for all others, before each turn; nil is nothing.
	Mend func()
	// OnItem hears of each item as it begins and as it ends, of any turn, subagent or script
	// it is; nil is nothing.
	OnItem func(agent.Item)
	// Calls is given, once, what hears of each request of codex to the model that has ended, with the thread
	// that it was made on; nil where they cannot be seen. What hears of them does not block.
	Calls func(hear func(threadID string, call agent.ModelCalled))
	// Prepare is asked how codex is to be started, before each start of it; nil means
	// as Child and Thread say. The arguments in Child come after its. It may take its
	// time: jobs wait meanwhile. Its error is why codex is not started, and it is asked
	// again.
	Prepare func(ctx context.Context) (Launch, error)
	// Thread is what every new thread is started with, and resumed with.
	Thread Thread
	// Instructions returns what threads are told beside their messages. New threads are
	// started with it; one that has heard something else is told with its next turn. It
	// is asked before each turn and must not block. Nil means that there are none.
	Instructions func() string

	MaxAsked     int // questions that are open in one context; 0 means 16
	MaxThreads   int // threads kept loaded in codex; 0 means 16
	MaxLingering int // threads let go of within a minute, of a side, before the next is unloaded at once; 0 means 32
	MaxMessages  int // messages of the agent in one turn; 0 means 10,000

	// QuestionTTL is how long a question waits for its answer before it is
	// declined. 0 is for ever.
	QuestionTTL time.Duration
	// Rules has callers make the rules that codex proposes where it asks about a command. It
	// writes them into its home, and they hold in all conversations, outside the sandbox.
	Rules bool
	// Open says that callers need no credential, or one that codex's commands can read. What codex
	// asks is then declined where these have the network, and could answer.
	Open bool

	Grace    time.Duration // what each rung of the interrupt ladder waits; 0 means 5 s
	Patience time.Duration // what a call may take that codex answers at once, before it is taken for deaf; 0 means 15 s

	// KeyVariable names the environment variable that the model's key comes from;
	// empty where codex's own login or configuration has it.
	KeyVariable string
	// RefreshEvery is how often codex is asked to renew a ChatGPT login before it
	// expires; 0 means never. Only the one process that owns the login may.
	RefreshEvery time.Duration

	LoginProbe time.Duration // how often the model is asked whether it takes a refused credential now; 0 means 1 minute
	// Tools answers the calls of Thread.DynamicTools. Nil answers that there are none.
	Tools agent.ToolCaller
	// ToolTimeout ends the context of a call; 0 means 30 minutes. A tool has a
	// deadline of its own, that is shorter.
	ToolTimeout time.Duration

	// Apart are places that commands must not be able to write in their sandbox: a thread
	// whose sandbox has one of them below a writable root is refused, and so is a job that asks
	// for such a sandbox.
	Apart []within.Place

	// Machines are where commands run; nil is this machine.
	Machines place.Machines

	Journal Journal             // keeps what outlives this process; nil keeps nothing
	Redact  func(string) string // applied to texts of codex before they are shown; nil leaves them
	Hide    func(string) string // applied to what is asked: takes known secrets out and nothing else; nil leaves it
	Metrics Metrics             // nil counts nothing
	// ReadTrace says what a rollout file has of a message; nil is [rollout.ReadTrace].
	ReadTrace func(path, clientID string) (rollout.Trace, error)
	// FindTrace says what all files of its thread have of a message; nil is [rollout.FindTrace].
	FindTrace func(path, clientID string) (rollout.Trace, error)
	Logger    *slog.Logger // nil discards
}

// A Launch is what may differ from one start of codex to the next.
type Launch = child.Launch

// A Verdict is what was found of a codex by looking at it.
type Verdict = child.Verdict

// Unready is an error of Config.Prepare whose text is meant for the sender of a
// message: it says what to do.
type Unready = child.Unready

// Metrics counts what happens to the child, its account and its requests to the model. Implementations must
// not block.
type Metrics interface {
	child.Metrics
	failure.Metrics
	// ModelCalled counts a request to the model. Connect is 0 on a connection that was there, and first if no
	// byte of an answer has come.
	ModelCalled(transport, outcome string, connect, first time.Duration)
}

type noMetrics struct{}

func (noMetrics) ChildStarted()                                            {}
func (noMetrics) ChildRestarted(string)                                    {}
func (noMetrics) LimitUsed(string, int)                                    {}
func (noMetrics) ModelCalled(string, string, time.Duration, time.Duration) {}

func (c Config) withDefaults() Config {
	c.MaxAsked = cmp.Or(c.MaxAsked, 16)
	c.MaxThreads = cmp.Or(c.MaxThreads, 16)
	c.MaxLingering = cmp.Or(c.MaxLingering, 32)
	c.MaxMessages = cmp.Or(c.MaxMessages, 10_000)
	c.Grace = cmp.Or(c.Grace, 5*time.Second)
	c.Patience = cmp.Or(c.Patience, 15*time.Second)
	c.ToolTimeout = cmp.Or(c.ToolTimeout, 30*time.Minute)
	c.LoginProbe = cmp.Or(c.LoginProbe, time.Minute)
	if c.Journal == nil {
		c.Journal = noJournal{}
	}
	if c.Redact == nil {
		c.Redact = func(s string) string { return s }
	}
	if c.Hide == nil {
		c.Hide = func(s string) string { return s }
	}
	if c.Metrics == nil {
		c.Metrics = noMetrics{}
	}
	if c.ReadTrace == nil {
		c.ReadTrace = c.asUser(rollout.ReadTrace)
	}
	if c.FindTrace == nil {
		c.FindTrace = c.asUser(rollout.FindTrace)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// terms are what holds for the sandboxes of all threads.
func (c Config) terms() sandbox.Terms {
	return sandbox.Terms{User: c.Child.User, Cwd: c.Thread.Cwd, Mode: appserver.SandboxMode(c.Thread.Sandbox), Apart: c.Apart, Open: c.Open}
}

// asUser reads traces as the user that codex runs as.
func (c Config) asUser(read func(path, clientID string) (rollout.Trace, error)) func(path, clientID string) (rollout.Trace, error) {
	return func(path, clientID string) (rollout.Trace, error) {
		return asuser.Value(c.Child.User, func() (rollout.Trace, error) { return read(path, clientID) })
	}
}
