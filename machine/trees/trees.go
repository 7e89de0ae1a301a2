// Package trees has the folders of conversations on a machine that are worktrees of git. Each runtime has a repository of
// its own there, so that nothing of one is in what another gets.
package trees

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/places"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/worktree"
)

// A Config says where they lie.
type Config struct {
	Repositories string       // the folder of the repositories, which is made by the user below
	Root         string       // below which the folders lie: of runtime and place
	User         *asuser.User // that commands run as; nil is ours
	Most         int64        // of a bundle
	Logger       *slog.Logger
}

// Trees implements [places.Trees]. Create it with [New].
type Trees struct {
	cfg Config

	mu           sync.Mutex // guards the fields below
	repositories map[string]*worktree.Repository
	branches     map[key]string // of the places that were opened
}

type key struct{ runtime, place string }

// New returns the trees of a machine. Without git there are none.
func New(ctx context.Context, cfg Config) (*Trees, error) {
	t := &Trees{cfg: cfg, repositories: map[string]*worktree.Repository{}, branches: map[key]string{}}
	probe := t.config("-probe")
	if _, err := worktree.Open(ctx, probe); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Trees) config(of string) worktree.Config {
	return worktree.Config{Dir: filepath.Join(t.cfg.Repositories, of+".git"), User: t.cfg.User, Exclude: []string{"/" + wire.Staged + "/"}, Logger: t.cfg.Logger}
}

// repository is that of a runtime.
func (t *Trees) repository(ctx context.Context, of string) (*worktree.Repository, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.repositories[of]; r != nil {
		return r, nil
	}
	r, err := worktree.Open(ctx, t.config(of))
	if err != nil {
		return nil, fmt.Errorf("the repository of this runtime on the machine: %w", err)
	}
	t.repositories[of] = r
	return r, nil
}

func (t *Trees) dir(of key) string { return filepath.Join(t.cfg.Root, of.runtime, of.place) }

// Open has a place be known by its branch. Its folder is there once the branch is.
func (t *Trees) Open(ctx context.Context, runtime, place, branch string) (wire.Place, error) {
	if branch == "" {
		return wire.Place{}, &places.Refused{Code: wire.CodeInvalid, Message: "a place of git needs the name of a branch"}
	}
	r, err := t.repository(ctx, runtime)
	if err != nil {
		return wire.Place{}, err
	}
	at := key{runtime, place}
	t.mu.Lock()
	t.branches[at] = branch
	t.mu.Unlock()
	head, err := r.Head(ctx, branch)
	if err != nil {
		return wire.Place{}, err
	}
	if head == "" {
		has, err := r.Heads(ctx)
		return wire.Place{Dir: t.dir(at), Has: has}, err
	}
	return t.stands(ctx, r, at, branch, head)
}

// stands has the folder of a place be there.
func (t *Trees) stands(ctx context.Context, r *worktree.Repository, at key, branch, head string) (wire.Place, error) {
	if err := t.cfg.User.Do(func() error { return os.MkdirAll(filepath.Dir(t.dir(at)), 0o700) }); err != nil {
		return wire.Place{}, fmt.Errorf("a folder for the places of this runtime: %w", err)
	}
	tree, err := r.Add(ctx, branch, t.dir(at))
	if err != nil {
		return wire.Place{}, err
	}
	has, err := r.Heads(ctx, branch)
	return wire.Place{Dir: tree.Dir(), Head: head, Has: has}, err
}

// of is a place that was opened.
func (t *Trees) of(ctx context.Context, at key) (*worktree.Repository, string, error) {
	t.mu.Lock()
	branch, known := t.branches[at]
	t.mu.Unlock()
	if !known {
		return nil, "", &places.Refused{Code: wire.CodeMissing, Message: "this runtime has no such place on this machine"}
	}
	r, err := t.repository(ctx, at.runtime)
	return r, branch, err
}

// left is the commit of what is in a folder when its branch is moved by the runtime: of a turn that was cut off. It is kept
// below refs/replaced of the repository, and nowhere else.
const left = "what a turn has left that was cut off"

// Absorb takes a bundle in. What is in the folder and in no commit is committed before.
func (t *Trees) Absorb(ctx context.Context, runtime, place, head string, bundle io.Reader) (wire.Place, error) {
	at := key{runtime, place}
	r, branch, err := t.of(ctx, at)
	if err != nil {
		return wire.Place{}, err
	}
	before, err := r.Head(ctx, branch)
	if err == nil && before != "" {
		var tree *worktree.Tree
		if tree, err = r.Add(ctx, branch, t.dir(at)); err == nil {
			_, err = tree.Commit(ctx, worktree.Change{Message: left, Author: author, Partly: true})
		}
	}
	if err != nil {
		return wire.Place{}, err
	}
	now, err := t.take(ctx, r, branch, head, bundle)
	switch {
	case err != nil:
		return wire.Place{}, refused(err)
	case head != "" && head != now:
		return wire.Place{}, &places.Refused{Code: wire.CodeInvalid, Message: fmt.Sprintf("the bundle's branch stands at %s, and not at %s", now, head)}
	}
	found, err := t.stands(ctx, r, at, branch, now)
	if err != nil {
		return wire.Place{}, err
	}
	tree, err := r.Add(ctx, branch, t.dir(at))
	if err == nil {
		err = tree.Reset(ctx, now, true)
	}
	return found, err
}

// take has a branch stand where the bundle has it. An empty one says that it stands at a commit that is here.
func (t *Trees) take(ctx context.Context, r *worktree.Repository, branch, head string, bundle io.Reader) (string, error) {
	ahead := bufio.NewReader(bundle)
	if _, err := ahead.Peek(1); errors.Is(err, io.EOF) && head != "" {
		return head, r.Branch(ctx, branch, head)
	}
	return r.Absorb(ctx, ahead, branch, t.cfg.Most)
}

const author = "codex <codex@localhost>"

// Commit commits what has changed, and returns a bundle of what the runtime does not have.
func (t *Trees) Commit(ctx context.Context, runtime, place string, what wire.Commit) (bundle io.ReadCloser, now wire.Committed, err error) {
	at := key{runtime, place}
	r, branch, err := t.of(ctx, at)
	if err != nil {
		return nil, now, err
	}
	tree, err := r.Add(ctx, branch, t.dir(at))
	if err != nil {
		return nil, now, refused(err)
	}
	done, err := tree.Commit(ctx, worktree.Change{Message: what.Message, Author: what.Author, Partly: true})
	if err != nil {
		tree.Failed(err)
		return nil, now, err
	}
	now = wire.Committed{Head: done.Head, Left: leftOf(done)}
	if len(done.Left) > 0 {
		t.cfg.Logger.Warn("files of a conversation are in no commit", "runtime_id", runtime, "place", place, "files", len(done.Left), "first", done.Left[0].Path, "why", done.Left[0].Why)
	}
	if done.Head == what.Since {
		return nil, now, nil
	}
	r.TurnKept(ctx)
	return t.bundle(ctx, r, branch, what.Since), now, nil
}

// leftOf is what a commit has left out, as the runtime is told.
func leftOf(done worktree.Committed) wire.Left {
	all := wire.Left{Count: len(done.Left)}
	for _, left := range done.Left[:min(len(done.Left), wire.MostLeft)] {
		all.Paths = append(all.Paths, brief.Line(left.Path, wire.MostLeftPath))
	}
	return all
}

// bundle is one that is written while it is read.
func (t *Trees) bundle(ctx context.Context, r *worktree.Repository, branch, since string) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	read, write := io.Pipe()
	over := make(chan struct{})
	go func() {
		defer close(over)
		write.CloseWithError(r.Bundle(ctx, write, branch, []string{since}))
	}()
	return &bundle{read, cancel, over}
}

type bundle struct {
	*io.PipeReader
	cancel context.CancelFunc
	over   <-chan struct{}
}

// Close ends the bundle, and waits for its end.
func (b *bundle) Close() error {
	b.cancel()
	err := b.PipeReader.Close()
	<-b.over
	return err
}

// Remove takes a place away, with its branch.
func (t *Trees) Remove(ctx context.Context, runtime, place string) error {
	at := key{runtime, place}
	r, branch, err := t.of(ctx, at)
	if _, unknown := errors.AsType[*places.Refused](err); unknown {
		return nil
	}
	if err != nil {
		return err
	}
	tree, err := r.Add(ctx, branch, t.dir(at))
	if errors.Is(err, worktree.ErrNoBranch) {
		return nil
	}
	if err == nil {
		err = tree.Remove(ctx)
	}
	if err == nil {
		err = r.Drop(ctx, branch)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.branches, at)
	return err
}

// refused says which errors are the runtime's to mend.
func refused(err error) error {
	switch {
	case errors.Is(err, worktree.ErrTooLarge):
		return &places.Refused{Code: wire.CodeTooLarge, Message: err.Error()}
	case errors.Is(err, worktree.ErrInvalid), errors.Is(err, worktree.ErrMissing):
		return &places.Refused{Code: wire.CodeInvalid, Message: err.Error()}
	case errors.Is(err, worktree.ErrNoBranch):
		return &places.Refused{Code: wire.CodeMissing, Message: "nothing has been brought to this place yet"}
	}
	return err
}
