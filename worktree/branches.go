package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Head returns the commit that a branch stands at; nothing if there is no such branch.
func (r *Repository) Head(ctx context.Context, branch string) (commit string, err error) {
	if err := checkBranch(branch); err != nil {
		return "", err
	}
	return r.head(ctx, branch)
}

func (g *git) head(ctx context.Context, branch string) (string, error) {
	ref := heads + "/" + branch
	said, err := g.text(ctx, call{args: []string{"for-each-ref", "--format=%(refname) %(objectname) %(objecttype)", ref}})
	if err != nil {
		return "", fmt.Errorf("the branch %s: %w", branch, err)
	}
	for line := range strings.Lines(said) {
		if commit, ok := strings.CutPrefix(strings.TrimSpace(line), ref+" "); ok {
			commit, ok = strings.CutSuffix(commit, " commit")
			if !ok {
				return "", fmt.Errorf("the branch %s: %w (it is at something that is no commit)", branch, ErrDamaged)
			}
			return commit, nil
		}
	}
	return "", nil
}

// mostHeads is how many commits are told to another side.
const mostHeads = 64

// Heads returns commits that the repository has, with which another side can make a bundle for it smaller: those of
// the branches that are named, and what they have replaced, then those of the others, newest first; 64 at most.
func (r *Repository) Heads(ctx context.Context, branches ...string) ([]string, error) {
	asked := make([][]string, 0, len(branches)+1)
	for _, branch := range branches {
		if err := checkBranch(branch); err != nil {
			return nil, err
		}
		asked = append(asked, []string{heads + "/" + branch, replaced + "/" + branch + "/"})
	}
	var all []string
	seen := map[string]bool{}
	for _, refs := range append(asked, []string{heads + "/"}) {
		args := append([]string{"for-each-ref", fmt.Sprintf("--count=%d", mostHeads), "--sort=-committerdate", "--format=%(objectname)"}, refs...)
		said, err := r.text(ctx, call{args: args})
		if err != nil {
			return nil, err
		}
		for commit := range strings.FieldsSeq(said) {
			if !seen[commit] && len(all) < mostHeads {
				seen[commit] = true
				all = append(all, commit)
			}
		}
	}
	return all, nil
}

// Branch has a branch stand at a commit that the repository has. A branch that is there is moved, and what is in it and
// not in that commit is kept below refs/replaced.
func (r *Repository) Branch(ctx context.Context, branch, commit string) error {
	if err := errors.Join(checkBranch(branch), checkCommit(commit)); err != nil {
		return err
	}
	held, err := r.hold(ctx, branch)
	if err != nil {
		return err
	}
	defer held.free()
	if known, err := r.known(ctx, commit); err != nil || !known {
		return errors.Join(err, fmt.Errorf("the commit %s is not here: %w", commit, ErrMissing))
	}
	return r.leaveBehind(ctx, held, commit)
}

// Begin makes a branch with a first commit in which there are no files. That commit is the same wherever it is made.
func (r *Repository) Begin(ctx context.Context, branch string) (head string, err error) {
	if err := checkBranch(branch); err != nil {
		return "", err
	}
	held, err := r.hold(ctx, branch)
	if err != nil {
		return "", err
	}
	defer held.free()
	if head, err := r.head(ctx, branch); err != nil || head != "" {
		return "", errors.Join(err, fmt.Errorf("there is a branch %s already, at %s", branch, head))
	}
	tree, err := r.text(ctx, call{args: []string{"hash-object", "-t", "tree", "-w", "--stdin"}, input: []byte{}})
	if err != nil {
		return "", err
	}
	commit, err := r.commitTree(ctx, held, tree, nil, "Begin", "runtime <runtime@localhost>", "@0 +0000")
	if err != nil {
		return "", err
	}
	return commit, r.move(ctx, held, "", commit)
}

// Drop forgets a branch, and what it has replaced. Its tree has to be removed before.
func (r *Repository) Drop(ctx context.Context, branch string) error {
	if err := checkBranch(branch); err != nil {
		return err
	}
	held, err := r.hold(ctx, branch)
	if err != nil {
		return err
	}
	defer held.free()
	if info, err := r.lstat(adminDir(r.dir, branch)); err != nil || info != nil {
		return errors.Join(err, fmt.Errorf("the branch %s has a tree: remove that first", branch))
	}
	shared, err := r.hold(ctx, "") // to remove a ref takes a lock on all
	if err != nil {
		return err
	}
	defer shared.free()
	refs, err := r.text(ctx, call{args: []string{"for-each-ref", "--format=delete %(refname)", heads + "/" + branch, replaced + "/" + branch + "/"}})
	if err != nil || refs == "" {
		return err
	}
	if _, err := r.text(ctx, call{args: []string{"update-ref", "--stdin"}, input: []byte(refs + "\n"), held: shared}); err != nil {
		return err
	}
	return r.removeFile(r.holdFile(branch))
}

// commitTree makes a commit. Without a date it is made now.
func (g *git) commitTree(ctx context.Context, held *hold, tree string, parents []string, message, author, date string) (string, error) {
	env, err := signed(author)
	if err != nil {
		return "", err
	}
	if date != "" {
		env = append(env, "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	}
	args := []string{"commit-tree", "--no-gpg-sign", "-F", "-"}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	message = strings.TrimSpace(strings.ReplaceAll(message, "\x00", "")) + "\n"
	return g.text(ctx, call{args: append(args, tree), env: env, input: []byte(message), held: held})
}

// known reports whether a commit is here.
func (g *git) known(ctx context.Context, commit string) (bool, error) {
	kinds, err := g.kinds(ctx, []string{commit}, nil)
	return err == nil && kinds[0] == "commit", err
}

// kinds returns what objects are, and nothing for those that are not here.
func (g *git) kinds(ctx context.Context, names, env []string) ([]string, error) {
	c := call{args: []string{"cat-file", "--batch-check=%(objecttype)"}, input: []byte(strings.Join(names, "\n") + "\n"), env: env}
	said, err := g.text(ctx, c)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(said, "\n")
	if len(lines) != len(names) {
		return nil, fmt.Errorf("git cat-file has %d answers to %d questions", len(lines), len(names))
	}
	for i, line := range lines {
		if strings.Contains(line, " ") { // "… missing"
			lines[i] = ""
		}
	}
	return lines, nil
}

// contains reports whether a commit is another one, or one of those that it builds on.
func (g *git) contains(ctx context.Context, commit, older string) (bool, error) {
	if commit == older {
		return true, nil
	}
	_, err := g.text(ctx, call{args: []string{"merge-base", "--is-ancestor", older, commit}})
	if codeOf(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// shortName is how much of a commit's name stands in that of a ref that keeps it.
const shortName = 12

// move has the branch of a hold stand at a commit, if it stands where it is said to (nothing: there is none). What would
// be lost by that is kept by a ref of its own, in the same transaction.
func (g *git) move(ctx context.Context, held *hold, from, to string) error {
	if from == to {
		return nil
	}
	var orders strings.Builder
	if from != "" {
		kept, err := g.contains(ctx, to, from)
		if err != nil {
			return err
		}
		if !kept {
			fmt.Fprintf(&orders, "update %s/%s/%s\x00%s\x00\x00", replaced, held.name, from[:shortName], from)
		}
	}
	old := from
	if old == "" {
		old = strings.Repeat("0", len(to))
	}
	fmt.Fprintf(&orders, "update %s/%s\x00%s\x00%s\x00", heads, held.name, to, old)
	_, err := g.text(ctx, call{args: []string{"update-ref", "-z", "--stdin"}, input: []byte(orders.String()), held: held})
	return err
}

// behindFile is in the folder that git has for a tree, and says that the branch was moved and the files were not: it has
// the commit that they belong to. resettingFile says that they are on their way to another one.
const (
	behindFile    = "runtime-behind"
	resettingFile = "runtime-resetting"
)

// leaveBehind is move for a branch that may have a tree, whose files stay as they are.
func (g *git) leaveBehind(ctx context.Context, held *hold, to string) error {
	from, err := g.head(ctx, held.name)
	if err != nil || from == to {
		return err
	}
	if err := g.noteBehind(held.name, from); err != nil {
		return err
	}
	return g.move(ctx, held, from, to)
}

// noteBehind notes what the files of a branch's tree belong to, before the branch is moved.
func (g *git) noteBehind(branch, files string) error {
	admin := adminDir(g.dir, branch)
	info, err := g.lstat(admin)
	if err != nil || info == nil {
		return err
	}
	path := filepath.Join(admin, behindFile)
	if noted, err := g.read(path); err != nil || noted != "" {
		return err
	}
	return g.write(path, files+"\n")
}
