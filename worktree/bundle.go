package worktree

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// Bundle writes a git bundle of a branch, without what is reachable from those of the commits in have that are here: the
// other side has them. [ErrNothing] says that it has all of the branch.
func (r *Repository) Bundle(ctx context.Context, w io.Writer, branch string, have []string) error {
	head, err := r.Head(ctx, branch)
	if err != nil {
		return err
	}
	if head == "" {
		return fmt.Errorf("%s: %w", branch, ErrNoBranch)
	}
	without, err := r.among(ctx, have)
	if err != nil {
		return err
	}
	revisions := []byte(heads + "/" + branch + "\n")
	for _, commit := range without {
		revisions = append(revisions, "^"+commit+"\n"...)
	}
	first, err := r.text(ctx, call{args: []string{"rev-list", "--max-count=1", "--stdin"}, input: revisions})
	if err != nil {
		return err
	}
	if first == "" {
		return fmt.Errorf("%s: %w", branch, ErrNothing)
	}
	return r.run(ctx, call{args: []string{"bundle", "create", "--quiet", "--version=2", "-", "--stdin"}, input: revisions, output: w})
}

// mostHave is how many commits of another side are looked at.
const mostHave = 1000

// among returns those of the commits that are here. What is no commit's name is passed over: another side has sent it.
func (r *Repository) among(ctx context.Context, commits []string) ([]string, error) {
	var asked, here []string
	for _, commit := range commits[:min(len(commits), mostHave)] {
		if commitName.MatchString(commit) {
			asked = append(asked, commit)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	kinds, err := r.kinds(ctx, asked, nil)
	if err != nil {
		return nil, err
	}
	for i, kind := range kinds {
		if kind == "commit" {
			here = append(here, strings.TrimSpace(asked[i]))
		}
	}
	return here, nil
}
