package channel

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A Platform is where a workspace has its inbox. A [platform.Client] is one.
type Platform interface {
	ActivityRows(ctx context.Context, q platform.RowQuery) ([]platform.Row, error)
	AckActivity(ctx context.Context, seq int64) error
	Acknowledged(ctx context.Context) (int64, error)
	Notify(ctx context.Context, message string, attachments ...platform.Attachment) error
	Send(ctx context.Context, target string, m platform.Message) (platform.Reply, error)
	Upload(ctx context.Context, files ...platform.File) ([]platform.Attachment, error)
}

// A Files has the files of a workspace's messages on the disk.
type Files interface {
	// Fetch brings a file that the platform holds to the disk, and returns the URI that
	// it has from then on. The same file may be fetched twice.
	Fetch(ctx context.Context, f File) (uri string, err error)
	// Open returns the file that a reply hands out.
	Open(f File) (platform.File, error)
}

// A File is one that a message or a reply names.
type File struct {
	URI       string `json:"uri,omitempty"`
	Name      string `json:"name,omitempty"`
	MediaType string `json:"mimeType,omitempty"`
	Size      int64  `json:"size,omitempty"`
	Bytes     []byte `json:"bytes,omitempty"` // of one that came with its message
}

// A Message is what an engine is given.
type Message struct {
	ID           string // the same for the same message
	Conversation string
	Workspace    string // at which it has arrived
	Peer         string // that has sent it; "" is the user
	Text         string
	Written      time.Time // by this machine's clock; zero if that is not known
	Files        []File
	Beside       json.RawMessage // what the row says beside; nil if that is of no use
	Own          bool            // it is word of the workspace's own doings

	// The rest is for those who show a message as it came, and of no use to codex.
	Origin
	N    int64  // its place among all that the channel has accepted
	Kind string // canvas, peer, delegation or unknown
	Mute string // why it gets no answer; empty if it gets one
	Note string // what was noted of it with the store's NoteInbox
}

// An Origin is what the platform says of a message beside its words.
type Origin struct {
	Method   string    `json:"method,omitempty"`
	At       time.Time `json:"at,omitzero"` // by the platform's clock
	PeerName string    `json:"peer_name,omitempty"`
	PeerRole string    `json:"peer_role,omitempty"`
	CardURL  string    `json:"card_url,omitempty"`
}

// An Answer is what a task says to those who wait for it.
type Answer struct {
	ID    string // the same for the same answer
	Text  string
	Files []File
	Final bool // the task has ended
	Aside bool // it is for users who wait, no answer, and of no use to other agents
	Read  bool // the message was read, and gets no answer: there is no text
	// ForUser is what the user is told, at most once a day, where the message is another
	// agent's and waits for what only the user has; empty for nothing.
	ForUser string
}

// An Engine has messages answered.
type Engine interface {
	// Give hands a message in and returns the task that it is part of. When it has
	// returned, the message survives the end of the process. The same message is the
	// same task. [ErrNotNow] says to try again; a [*RefusedError] that this is of no use.
	Give(ctx context.Context, m Message) (task string, err error)
	// Follow calls say with each thing that a task says, until it has ended.
	// [ErrGone] says that the task is not known.
	Follow(ctx context.Context, task string, say func(Answer) error) error
	// Over reports whether a task has ended.
	Over(ctx context.Context, task string) bool
}

// What an engine says of messages that it does not take.
var (
	ErrNotNow = errors.New("it cannot be taken now")
	ErrGone   = errors.New("the task is not known any more")
)

// A RefusedError says why a message is not taken, to its sender.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

// A Workspace is one whose inbox is read.
type Workspace struct {
	ID       string
	Platform Platform
	Files    Files
	// Awaited says of a delegation whether a call waits for its result, and whether one
	// has returned it. Nil means neither.
	Awaited func(id string) (waits, told bool)
	// Replied is told of each reply that a peer has got. Nil wants to know of none.
	Replied func(peer, text string)
	// Telling is told of each reply that its user is about to get, and Told of what came of it. Nil wants
	// to know of none.
	Telling func(chat, reply string)
	Told    func(chat, reply string, err error)
}

// Config describes a channel. Store, Engine and Workspaces must be set.
type Config struct {
	Store      *store.Store
	Engine     Engine
	Workspaces []Workspace
	Interval   time.Duration // between polls of an inbox; 0 means 5 s
	Metrics    Metrics       // nil counts nothing
	Logger     *slog.Logger  // nil discards

	// Has says of a task whether it may be one of Engine's: of others that have had the inbox nothing is followed here,
	// and what they have yet to say stays for them. Nil means that all are.
	Has func(task string) bool

	Agent string // who answers, as senders read it where that fails; "" means codex
}
