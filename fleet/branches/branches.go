// Package branches keeps the files of conversations whose commands run on other machines: a repository of the runtime's
// own, with a branch for each conversation. Where a machine is gone, its conversations go on elsewhere from there.
package branches

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/worktree"
)

// Config says where the repository is, and what conversations begin with.
type Config struct {
	Dir    string
	From   string // the repository of the operator, a path or a URL, at whose branch that is checked out conversations begin
	Ours   bool   // From is a folder that need be no repository: then conversations begin with nothing
	Most   int64  // of a bundle that a machine sends
	Logger *slog.Logger
}

// Branches are those of conversations. Create it with [Open].
type Branches struct {
	cfg Config
	r   *worktree.Repository

	importing sync.Mutex // one import at a time
	noted     map[string]bool
}

// base is the branch of the operator's repository, as it was imported last.
const base = "base"

// Open opens the repository, and makes it if it is not there.
func Open(ctx context.Context, cfg Config) (*Branches, error) {
	r, err := worktree.Open(ctx, worktree.Config{Dir: cfg.Dir, Logger: cfg.Logger})
	if err != nil {
		return nil, fmt.Errorf("the repository of conversations, %s: %w", cfg.Dir, err)
	}
	b := &Branches{cfg: cfg, r: r, noted: map[string]bool{}}
	if _, err := b.base(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// base imports what conversations begin with, and returns its commit.
func (b *Branches) base(ctx context.Context) (commit string, err error) {
	b.importing.Lock()
	defer b.importing.Unlock()
	got, err := b.r.Import(ctx, b.cfg.From, "", base)
	switch {
	case b.cfg.Ours && (errors.Is(err, worktree.ErrNoRepository) || errors.Is(err, worktree.ErrNoCommit)):
		return b.r.Begin(ctx, base)
	case err != nil:
		return "", fmt.Errorf("the repository that conversations begin with (RUNTIME_MACHINES_REPO), %s: %w", b.cfg.From, err)
	}
	for _, note := range got.Notes() {
		if !b.noted[note] {
			b.noted[note] = true
			b.cfg.Logger.Warn("conversations begin without a part of the repository", "from", b.cfg.From, "what", note)
		}
	}
	return got.Head, nil
}

// Branch is that of a conversation.
func (b *Branches) Branch(conversation string) string { return worktree.BranchOf(conversation) }

// Head is the commit that the branch of a conversation stands at. One that is new begins with what the operator has now.
func (b *Branches) Head(ctx context.Context, conversation string) (string, error) {
	branch := b.Branch(conversation)
	head, err := b.r.Head(ctx, branch)
	if err != nil || head != "" {
		return head, err
	}
	if head, err = b.base(ctx); err != nil {
		return "", err
	}
	return head, b.r.Branch(ctx, branch, head)
}

// Bundle writes the branch, without what the other side has; nothing if that is all of it.
func (b *Branches) Bundle(ctx context.Context, w io.Writer, conversation string, has []string) error {
	err := b.r.Bundle(ctx, w, b.Branch(conversation), has)
	if errors.Is(err, worktree.ErrNothing) {
		return nil
	}
	return err
}

// Absorb takes in what comes from a machine.
func (b *Branches) Absorb(ctx context.Context, bundle io.Reader, conversation string) (string, error) {
	head, err := b.r.Absorb(ctx, bundle, b.Branch(conversation), b.cfg.Most)
	if err == nil {
		b.r.TurnKept(ctx)
	}
	return head, err
}
