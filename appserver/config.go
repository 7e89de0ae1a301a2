package appserver

import (
	"context"
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// A Config says how to run codex and whom to tell. Bin must be set; the zero
// values of all other fields work.
type Config struct {
	Bin  string   // the codex binary
	Args []string // after "app-server", such as "-c", "key=value"; visible to every user of the machine
	Env  []string // the whole environment of the child; nil is an empty one
	Dir  string   // working directory; empty is ours

	User    *asuser.User // that codex and its commands run as; nil is ours
	Through []string     // a program that becomes Bin, with its own arguments; nil is none

	OwnMounts bool // what is mounted later does not arrive with the child: see [asuser.User.OwnMounts]

	ClientName    string   // how we introduce ourselves; the model provider sees it. Empty is "runtime"
	ClientVersion string   // empty is "0"
	OptOut        []string // methods of notifications that codex need not send

	// OnRequest answers a request of the child with [Request.Reply] or
	// [Request.Refuse]. It has a goroutine of its own for each request and must
	// return soon after ctx ends, which it does with the child. A request that it
	// left open is refused. Nil refuses all of them.
	OnRequest func(ctx context.Context, r *Request)

	// OnGlobal takes the notifications that belong to no subscribed thread, in
	// wire order. It runs on the reading goroutine: it must not block, nor call
	// a method of the client that waits. Nil ignores them.
	OnGlobal func(Notification)

	// OnTurn is shown each turn/started of a subscribed thread, before that is there to be read. It runs on the
	// reading goroutine and must not block. Nil is nothing.
	OnTurn func(Notification)

	MaxLine    int // longest line of the child in bytes; a longer one is dropped. 0 is 64 MiB
	QueueBytes int // what one thread's queue may hold before deltas are dropped; of the rest it holds 16 MiB more. 0 is 8 MiB

	WriteTimeout time.Duration // how long the child may refuse to read before it is ended. 0 is 15 s
	Grace        time.Duration // what each step of Close waits. 0 is 2 s
	StartTimeout time.Duration // from the start of the process until initialize is answered. 0 is 30 s

	Wire   Wire         // is told each line in either direction, secrets and all; nil records nothing
	Logger *slog.Logger // nil discards
}

func (cfg Config) withDefaults() Config {
	cfg.ClientName = orDefault(cfg.ClientName, "runtime")
	cfg.ClientVersion = orDefault(cfg.ClientVersion, "0")
	cfg.MaxLine = orDefault(cfg.MaxLine, 64<<20)
	cfg.QueueBytes = orDefault(cfg.QueueBytes, 8<<20)
	cfg.WriteTimeout = orDefault(cfg.WriteTimeout, 15*time.Second)
	cfg.Grace = orDefault(cfg.Grace, 2*time.Second)
	cfg.StartTimeout = orDefault(cfg.StartTimeout, 30*time.Second)
	if cfg.Env == nil {
		cfg.Env = []string{} // os/exec takes nil for our own environment
	}
	if cfg.OnRequest == nil {
		cfg.OnRequest = func(context.Context, *Request) {}
	}
	if cfg.OnTurn == nil {
		cfg.OnTurn = func(Notification) {}
	}
	if cfg.OnGlobal == nil {
		cfg.OnGlobal = func(Notification) {}
	}
	if cfg.Wire == nil {
		cfg.Wire = noWire{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return cfg
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}
