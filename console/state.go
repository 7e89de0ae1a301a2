package console

import "time"

// State is how the runtime stands. It holds no secret but the code of a login that is
// under way, which is for whoever sees this. Times and numbers that are not known are
// left out, texts are empty.
type State struct {
	Version   string    `json:"version"`
	Codex     string    `json:"codex"`     // the version that runs, "" while none does
	CodexNote string    `json:"codexNote"` // what is to be known of it
	StartedAt time.Time `json:"startedAt"`
	Scripted  bool      `json:"scripted"` // the built-in model answers, and no real one
	WorkDir   string    `json:"workdir"`
	Model     Model     `json:"model"`
	Policy    Policy    `json:"policy"`
	Ready     Ready     `json:"ready"`
	Child     Child     `json:"child"`
	Account   Account   `json:"account"`
	Limits    []Limit   `json:"limits"`
	Hold      *Hold     `json:"hold"`     // why no turn is started; null if they are
	Login     *Login    `json:"login"`    // that somebody can carry out; null if there is none
	Platform  *Platform `json:"platform"` // null standing alone
	Machines  *Machines `json:"machines"` // that commands run on; null where they run on this machine
	Queue     Queue     `json:"queue"`
	Threads   []Thread  `json:"threads"` // those in use first, then the ones used last
}

// A Model answers.
type Model struct {
	Name     string `json:"name"`
	Provider string `json:"provider"` // in words
}

// A Policy is what codex may do.
type Policy struct {
	Sandbox  string `json:"sandbox"`
	Approval string `json:"approval"`
}

// Ready says whether a turn would run, as far as that is known without asking anew.
type Ready struct {
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
}

// A Check is one condition, or one of doctor's answers.
type Check struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Status  string `json:"status,omitempty"` // of doctor's: ok, warn or fail; OK is true of a warning
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // what to do; of doctor's only
}

// A Child is codex's process.
type Child struct {
	State       string    `json:"state"`
	Pid         int       `json:"pid,omitempty"`
	StartedAt   time.Time `json:"startedAt,omitzero"` // of the present one
	Restarts    int       `json:"restarts"`
	MemoryBytes int64     `json:"memoryBytes,omitempty"`
	Error       string    `json:"error"`
}

// An Account is what codex is logged in with.
type Account struct {
	Kind    string `json:"kind"`
	Email   string `json:"email"`
	Plan    string `json:"plan"`
	Message string `json:"message"`
}

// A Limit is an allowance of the account.
type Limit struct {
	Name        string    `json:"name"`
	UsedPercent int       `json:"usedPercent"`
	ResetsAt    time.Time `json:"resetsAt,omitzero"`
}

// A Hold is why no turn is started.
type Hold struct {
	Reason string    `json:"reason"`
	Until  time.Time `json:"until,omitzero"`
}

// A Login is a device code that waits to be entered.
type Login struct {
	URL       string    `json:"url"`
	Code      string    `json:"code"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
}

// A Platform is how the workspace's platform and we stand.
type Platform struct {
	Workspace  string    `json:"workspace"`
	URL        string    `json:"url"`
	Registered bool      `json:"registered"`
	LastBeat   time.Time `json:"lastBeat,omitzero"`
	Error      string    `json:"error"`
}

// Machines are those that commands run on.
type Machines struct {
	List    []Machine `json:"list"`    // by their names
	Waiting int       `json:"waiting"` // turns that wait for a machine
	Trouble string    `json:"trouble"` // with the list of them
}

// A Machine is one of them, as far as it has been heard.
type Machine struct {
	Name          string            `json:"name"`
	Address       string            `json:"address"`
	State         string            `json:"state"` // up, or why it is not
	Takes         bool              `json:"takes"` // turns, with room or without
	Draining      bool              `json:"draining"`
	Why           string            `json:"why"`           // it takes no turns, where that is not only since it drains
	Turns         int               `json:"turns"`         // that may run on it at a time
	Taken         int               `json:"taken"`         // that run on it, of all runtimes
	Mine          int               `json:"mine"`          // of this one
	Conversations int               `json:"conversations"` // of this runtime that are on it
	Waiting       int               `json:"waiting"`       // turns that wait for this machine alone
	Labels        map[string]string `json:"labels,omitempty"`
	CPUs          int               `json:"cpus,omitempty"`
	Load          float64           `json:"load"`
	FreeDisk      int64             `json:"freeDisk,omitempty"` // in bytes
	Codex         string            `json:"codex"`              // its version there
}

// A Queue is what runs and what waits, in messages. Of a long one not all is listed.
type Queue struct {
	Running   int       `json:"running"`
	Waiting   int       `json:"waiting"`
	Limit     int       `json:"limit"`              // turns that may run at the same time
	Asking    int       `json:"asking"`             // turns that wait for answers, and do not count as running
	FullSince time.Time `json:"fullSince,omitzero"` // since when no other turn has begun, for as many run as may; zero if that is not for long
	Contexts  []Context `json:"contexts"`
}

// A Context is a conversation in which something runs or waits.
type Context struct {
	ContextID string   `json:"contextId"`
	Running   string   `json:"running"` // the id of the task whose turn runs; empty if none does
	Waiting   []string `json:"waiting"` // those of tasks, in the order in which their messages are served
}

// A Thread is codex's side of a conversation.
type Thread struct {
	ContextID    string    `json:"contextId"`
	ThreadID     string    `json:"threadId"`
	Loaded       bool      `json:"loaded"`            // in the present codex
	Machine      string    `json:"machine,omitempty"` // that its commands run on; empty where that is this machine
	InputTokens  int64     `json:"inputTokens,omitempty"`
	OutputTokens int64     `json:"outputTokens,omitempty"`
	TotalTokens  int64     `json:"totalTokens,omitempty"`
	LastUsed     time.Time `json:"lastUsed,omitzero"`
}

// filled has empty lists where there are none: readers get [] and not null.
func (s State) filled() State {
	s.Ready.Checks = orEmpty(s.Ready.Checks)
	s.Limits, s.Threads = orEmpty(s.Limits), orEmpty(s.Threads)
	s.Queue.Contexts = orEmpty(s.Queue.Contexts)
	if m := s.Machines; m != nil {
		s.Machines = &Machines{List: orEmpty(m.List), Waiting: m.Waiting, Trouble: m.Trouble}
	}
	for i, c := range s.Queue.Contexts {
		s.Queue.Contexts[i].Waiting = orEmpty(c.Waiting)
	}
	return s
}

func orEmpty[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// A Task is one line of the list of tasks.
type Task struct {
	ID        string    `json:"id"`
	ContextID string    `json:"contextId"`
	State     string    `json:"state"`  // TASK_STATE_…
	Title     string    `json:"title"`  // how the first message begins
	Caller    string    `json:"caller"` // who sent it, as far as it says so
	UpdatedAt time.Time `json:"updatedAt"`
	Ahead     int       `json:"ahead"`    // turns that were ahead of its newest message
	Question  bool      `json:"question"` // it waits for an answer
}
