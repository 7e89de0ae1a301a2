package codex

import (
	"context"
)

// A Journal tells what of codex's threads has outlived the process before. Its methods are called
// concurrently.
type Journal interface {
	// Past returns what is known of a conversation; the zero Past if it never began an
	// attempt.
	Past(ctx context.Context, conversation string) (Past, error)
	// ConversationUsed reports whether a job of a conversation has had its turn: then the loss
	// of its thread is one. It is asked where this cannot be told otherwise.
	ConversationUsed(ctx context.Context, conversation string) (bool, error)
	// ThreadUsed reports whether a job has had its turn in a thread: then the thread was
	// on disk, and it is no accident if it is not.
	ThreadUsed(ctx context.Context, threadID string) (bool, error)
	// Threads returns every thread of which an attempt was begun. Commands that a
	// killed process has left running on them are ended at the start.
	Threads(ctx context.Context) (threadIDs []string, err error)
	// RecordInstructions notes by a digest which instructions a thread has heard. An attempt on it
	// was begun.
	RecordInstructions(ctx context.Context, threadID, digest string) error
}

// A Past is what a [Journal] knows of a conversation. It is asked for as one thing: a
// conversation's first turn waits for it.
type Past struct {
	Thread string // of the newest attempt
	Model  string // [executor.Attempt.Model] of the newest attempt in that thread that has one
	Tools  string // [executor.Attempt.Tools] of the newest attempt
	Told   string // what [Journal.RecordInstructions] was last given for the thread
}

// noJournal remembers nothing.
type noJournal struct{}

func (noJournal) Past(context.Context, string) (Past, error)               { return Past{}, nil }
func (noJournal) ConversationUsed(context.Context, string) (bool, error)   { return false, nil }
func (noJournal) ThreadUsed(context.Context, string) (bool, error)         { return false, nil }
func (noJournal) Threads(context.Context) ([]string, error)                { return nil, nil }
func (noJournal) RecordInstructions(context.Context, string, string) error { return nil }
