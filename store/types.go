package store

import "time"

// A Key identifies a message across repetitions, by the ids that its sender
// gave. All but Message may be empty; a message without an id is like no other.
type Key struct {
	Caller  string
	Context string
	Task    string
	Message string
}

// A Message is what a caller sent, from its acceptance to its turn's end.
type Message struct {
	Key          Key
	Digest       [32]byte
	TaskID       string
	Job          string // unique
	Conversation string
	Body         []byte    // is also its place in the task's history; [Store.Message] leaves it out
	Push         *Push     // to be set with the message; not read back
	Files        []FileUse // that it names in the folder of messages; not read back
	Answers      *Answers  // if it answers questions; not read back

	// Set by the store.
	Seq         int64 // the order of acceptance, over all contexts
	Ended       bool  // has had its turn
	Interrupted bool  // it has ended, and its turn was cut off
	Attempt     int   // begun last; 0 means none
	Thread      string
	Turn        string // "" if not known
	Tool        bool   // a tool of that attempt has started
}

// Answers are what is committed with a message that answers questions.
type Answers struct {
	Posed     []byte     // the message that has put them, before it in the history
	Questions []Question // as [Change] has them: they name their answer; without any the message has no turn
}

// A Head is what of a task is shown in lists and replaced with each state.
type Head struct {
	ID           string
	Context      string
	Conversation string
	State        string
	At           time.Time // of the status; orders lists
	Ended        bool
	Body         []byte
	Class        Class // counts when the task is made, and unless a turn is begun for it; not read back
}

// A Task is a task as it is kept.
type Task struct {
	Head
	Epoch     int // of its newest events; 1 when it is accepted
	LastSeq   int64
	History   [][]byte
	Artifacts [][]byte
	Notice    *Notice // of its end: target, state, error and time; nil if there is none
}

// Events is a batch of a task's events, with the numbers First to Last.
type Events struct {
	First, Last int64
	Epoch       int
	Body        []byte
}

// A Question is asked in a task and not answered yet.
type Question struct {
	ID       string
	Body     []byte
	Asked    time.Time
	Deadline time.Time
}

// A Push is a push notification setting of a task.
type Push struct {
	ID   string
	Body []byte
}

// A Delivery is something to be sent out until it has arrived.
type Delivery struct {
	ID     int64 // set by the store
	Kind   string
	Task   string
	Target string
	Body   []byte
	Due    time.Time // the zero time means at once
	// Replaces takes those of the same kind and task out that have not been made. It is
	// made at most once more than it need be, and does not ask for the disk at once.
	Replaces bool

	// Set by the store.
	Conversation string // of the task
	Size         int    // of the body
	Tries        int    // failed so far
	Created      time.Time
}

// A Turn is what became known of an attempt that has begun.
type Turn struct {
	Job     string
	Attempt int
	Thread  string // of an attempt that Begin has not been told of
	TurnID  string // "" changes nothing
	Tool    bool   // false changes nothing
}

// A Change is what is committed together. Zero fields change nothing.
type Change struct {
	Task      string // may be left out if there is a Head
	Head      *Head
	Epoch     int
	Events    []Events // numbered higher than those before
	History   [][]byte // messages that nobody sent, at the end of the history
	Artifacts [][]byte // replace all that there are
	Turn      *Turn
	Ended     []string   // jobs that have had their turn
	Cut       []string   // those of them whose turn was cut off
	Unbegun   []string   // those of them that have no use for their files; one with an attempt keeps them
	Ask       []Question // replace those of the same id
	Drop      []string   // ids of questions
	Outbox    []Delivery // of this task, unless they name another
	Notice    *Notice    // of the task's end

	// Durable asks for the disk at once, and not within a second. A tool's start,
	// questions, deliveries and notices always do.
	Durable bool
}
