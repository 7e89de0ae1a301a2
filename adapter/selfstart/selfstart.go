package selfstart

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A Message is one that the workspace sends to itself.
type Message struct {
	ID   string // the same message has the same: it is taken once
	Kind string // initial_prompt, idle_prompt or delegation_results
	Text string
}

// The kinds of messages.
const (
	KindInitial     = "initial_prompt"
	KindIdle        = "idle_prompt"
	KindDelegations = "delegation_results"
)

// A Sender takes a message. When it returns nil the message is kept, also over the end
// of the process; it does not wait for the answer.
type Sender func(ctx context.Context, m Message) error

// Work says what the workspace does. A presence is one.
type Work interface {
	Active() int // messages on their way to a turn, or in one
}

// A Platform is the part of the platform's client that is needed; a [platform.Client]
// is one.
type Platform interface {
	Delegations(ctx context.Context) ([]platform.Delegation, error)
	Notify(ctx context.Context, message string, attachments ...platform.Attachment) error
}

// Config describes what is sent. Send must be set.
type Config struct {
	Send      Sender
	Work      Work     // needed for the idle prompt
	Platform  Platform // needed for delegations; nil leaves them
	Workspace string   // our id on it

	InitialPrompt string
	MarkerDirs    []string // where the marker of the initial prompt may stand, the best first

	IdlePrompt   string
	IdleInterval time.Duration // 0 means 600 s
	Rest         func() bool   // whether nothing is to be started by ourselves now; nil means never

	// Awaited says of a delegation whether a call waits for its result now, and whether one
	// has returned it: then nothing is said of it. nil means neither of all.
	Awaited func(id string) (waits, told bool)

	// Name is what a workspace is called, and Excerpt the beginning of what another agent
	// says, in a line that the user may be shown. nil shows its id, and none of its words.
	Name    func(ctx context.Context, workspace string) string
	Excerpt func(text string) string

	Seen string // the file that keeps which results were delivered

	Logger *slog.Logger // nil discards
}

// Run sends what is to be sent until ctx ends. It begins when each of ready is closed:
// the runtime listens, the workspace is registered, its instructions are known.
func Run(ctx context.Context, cfg Config, ready ...<-chan struct{}) {
	cfg.IdleInterval = cmp.Or(cfg.IdleInterval, 10*time.Minute)
	if cfg.Rest == nil {
		cfg.Rest = func() bool { return false }
	}
	if cfg.Awaited == nil {
		cfg.Awaited = func(string) (waits, told bool) { return false, false }
	}
	if cfg.Name == nil {
		cfg.Name = func(_ context.Context, workspace string) string { return workspace }
	}
	if cfg.Excerpt == nil {
		cfg.Excerpt = func(string) string { return "" }
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	began := time.Now()
	if !wait(ctx, ready) {
		return
	}
	var wg sync.WaitGroup
	if cfg.InitialPrompt != "" {
		wg.Go(func() { initial(ctx, &cfg) })
	}
	if cfg.IdlePrompt != "" && cfg.Work != nil {
		wg.Go(func() { idle(ctx, &cfg) })
	}
	if cfg.Platform != nil {
		wg.Go(func() { newResults(&cfg, began).run(ctx) })
	}
	wg.Wait()
}

// mostReady bounds the waiting for each of the things that should be there first.
const mostReady = 30 * time.Second

func wait(ctx context.Context, ready []<-chan struct{}) bool {
	limit, cancel := context.WithTimeout(ctx, mostReady)
	defer cancel()
	for _, c := range ready {
		select {
		case <-c:
		case <-limit.Done():
		}
	}
	return ctx.Err() == nil
}

// newID makes the id of a message that is sent once.
func newID(prefix string) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return prefix + "-" + hex.EncodeToString(b[:])
}
