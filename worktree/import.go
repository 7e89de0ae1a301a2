package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// An Imported is what has come of an import.
type Imported struct {
	Head string
	// Shallow says that the source has no whole history: the branch begins with one commit that has the files of the
	// source's, and nothing of what was before.
	Shallow bool
	// Uncommitted are files of a local source that have changes which are in no commit, 20 at most. They are not taken.
	Uncommitted []string
	// Submodules are the folders of submodules, 20 at most. They are empty in a tree, and stay what they are.
	Submodules []string
	// LFS says that there are files which the source keeps by Git LFS. They are pointers in a tree, and stay that.
	LFS bool
}

// Notes says for people what an import has not taken.
func (i Imported) Notes() []string {
	var notes []string
	if i.Shallow {
		notes = append(notes, "the repository is a shallow clone: its files were taken without their history (git fetch --unshallow gives it the rest)")
	}
	if len(i.Uncommitted) > 0 {
		notes = append(notes, "what is in no commit was not taken: "+strings.Join(i.Uncommitted, ", "))
	}
	if len(i.Submodules) > 0 {
		notes = append(notes, "submodules are empty folders: "+strings.Join(i.Submodules, ", "))
	}
	if i.LFS {
		notes = append(notes, "files of Git LFS are there as pointers, without their content")
	}
	return notes
}

// mostNamed is how many paths are named.
const mostNamed = 20

// Import fetches a branch of another repository into the branch as: by its name, or the one that is checked out there
// where ref is empty. The other one is named by a path, with a working copy or without, or by a URL (https, http, ssh,
// git); a path is read as the user of the repository. Nothing of what stands in it is run. A path at which there is no repository is [ErrNoRepository], one without a
// commit [ErrNoCommit]: see [Repository.Begin]. What the branch had before is kept as by [Repository.Absorb].
func (r *Repository) Import(ctx context.Context, from, ref, as string) (Imported, error) {
	if err := checkBranch(as); err != nil {
		return Imported{}, err
	}
	if ref != "" && ref != "HEAD" {
		if err := checkBranch(ref); err != nil {
			return Imported{}, err
		}
	}
	src, err := r.source(ctx, from)
	if err != nil {
		return Imported{}, fmt.Errorf("%s: %w", plainURL(from), err)
	}
	done, err := r.importFrom(ctx, src, ref, as)
	if err != nil {
		return Imported{}, fmt.Errorf("%s: %w", plainURL(from), err)
	}
	return done, nil
}

func (r *Repository) importFrom(ctx context.Context, src source, ref, as string) (done Imported, err error) {
	q, err := r.quarantine()
	if err != nil {
		return done, err
	}
	defer q.discard()
	fetched, err := r.fetch(ctx, q, src, ref)
	if err != nil {
		return done, err
	}
	if src.work != "" && (ref == "" || ref == "HEAD") {
		if done.Uncommitted, err = r.uncommitted(ctx, q, src, fetched); err != nil {
			r.log.Warn("whether a repository has changes that are in no commit is not known", "path", src.work, "err", err)
		}
	}
	shallow, err := r.read(q.path("repo/shallow"))
	if err != nil {
		return done, err
	}
	held, err := r.hold(ctx, as)
	if err != nil {
		return done, err
	}
	defer held.free()
	done.Head, done.Shallow = fetched, shallow != ""
	switch {
	case done.Shallow:
		done.Head, err = r.withoutHistory(ctx, q, held, fetched)
	case src.remote: // a server that only has files is read object by object, without any check
		err = r.repack(ctx, q, fetched)
	default:
		err = q.accept()
	}
	if err != nil {
		return done, err
	}
	if done.Submodules, err = r.submodules(ctx, done.Head); err != nil {
		return done, err
	}
	if done.LFS, err = r.hasLFS(ctx, done.Head); err != nil {
		return done, err
	}
	return done, r.leaveBehind(ctx, held, done.Head)
}

// fetch brings a commit into a repository of the quarantine's own, and returns its name.
func (r *Repository) fetch(ctx context.Context, q *quarantine, src source, ref string) (string, error) {
	repo := q.path("repo")
	if _, err := r.text(ctx, call{args: []string{"init", "--quiet", "--bare", "--template=", repo}, repo: repo}); err != nil {
		return "", err
	}
	if err := r.write(filepath.Join(repo, "info/attributes"), attributesText); err != nil {
		return "", err
	}
	if ref == "" {
		ref = "HEAD"
	}
	c := call{repo: repo, env: append(q.env(), "GIT_ALLOW_PROTOCOL="+src.protocol), held: q.hold()}
	c.args = []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance", "--update-shallow"}
	if src.remote {
		c.env = append(c.env, r.remote...)
	} else { // it may be another user's, which git would have to be told in a file
		c.args = append(c.args, "--upload-pack=git -c 'safe.directory=*' upload-pack")
	}
	c.args = append(c.args, "--", src.name, "+"+ref+":refs/heads/in")
	_, err := r.text(ctx, c)
	switch {
	case strings.Contains(saidIn(err), "couldn't find remote ref") && ref == "HEAD":
		return "", ErrNoCommit
	case strings.Contains(saidIn(err), "couldn't find remote ref"):
		return "", fmt.Errorf("%w as %s", ErrNoBranch, ref)
	case err != nil:
		return "", err
	}
	return r.text(ctx, call{args: []string{"rev-parse", "--verify", "--quiet", "refs/heads/in^{commit}"}, repo: repo, env: q.env()})
}

// withoutHistory makes a commit that has the files of one whose parents are not there, and nothing before it. It is the
// same wherever it is made.
func (r *Repository) withoutHistory(ctx context.Context, q *quarantine, held *hold, commit string) (string, error) {
	inside := func(args ...string) call {
		return call{args: args, repo: q.path("repo"), env: q.env(), held: q.hold()}
	}
	tree, err := r.text(ctx, inside("rev-parse", "--verify", commit+"^{tree}"))
	if err != nil {
		return "", err
	}
	when, err := r.text(ctx, inside("log", "-1", "--format=@%ct +0000", commit))
	if err != nil {
		return "", err
	}
	if err := r.repack(ctx, q, tree); err != nil {
		return "", err
	}
	return r.commitTree(ctx, held, tree, nil, "The files of "+commit+", without their history", "runtime <runtime@localhost>", when)
}

// repack takes an object into the repository with all that it leads to, with all checks.
func (r *Repository) repack(ctx context.Context, q *quarantine, object string) error {
	files, err := r.quarantine()
	if err != nil {
		return err
	}
	defer files.discard()
	pack, err := create(r.user, files.path("pack"))
	if err != nil {
		return err
	}
	defer pack.Close()
	c := call{
		args: []string{"pack-objects", "--quiet", "--local", "--revs", "--stdout"}, input: []byte(object + "\n"), output: pack,
		repo: q.path("repo"), env: q.env(), held: q.hold(),
	}
	if err := r.run(ctx, c); err != nil {
		return err
	}
	c = call{args: []string{"index-pack", "--stdin", "--strict=" + strictness}, file: pack, env: files.env(), held: files.hold()}
	if _, err := r.text(ctx, c); err != nil {
		return err
	}
	return files.accept()
}
