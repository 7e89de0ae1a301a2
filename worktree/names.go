package worktree

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

const (
	// conversations is where the branches of conversations stand.
	conversations = "conversations/"
	// mostName is how long a branch's name may be: it is a file's name, with a suffix.
	mostName = 200
	mostID   = 64
)

var (
	readable   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`)
	commitName = regexp.MustCompile(`^[0-9a-f]{40}$`)
	identity   = regexp.MustCompile(`^([^<>\x00-\x1f\x7f]*[^<>\x00-\x20\x7f]) <([^<>\x00-\x20\x7f]+)>$`)
)

// BranchOf is the branch of a conversation. An id that can be a part of a name is kept; of another one it is a hash,
// behind a character that no kept id begins with.
func BranchOf(conversation string) string {
	if len(conversation) <= mostID && readable.MatchString(conversation) && !strings.HasSuffix(conversation, ".lock") {
		return conversations + conversation
	}
	return conversations + "+" + idOf(conversation)
}

// idOf is a name for a file that stands for any text.
func idOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:20])
}

// checkBranch holds a branch's name to the rules of git check-ref-format, and to a length.
func checkBranch(name string) error {
	if err := badBranch(name); err != "" {
		return fmt.Errorf("a branch cannot be named %q: %s", name, err)
	}
	return nil
}

func badBranch(name string) string {
	switch {
	case name == "", len(name) > mostName:
		return fmt.Sprintf("it needs 1 to %d bytes", mostName)
	case name[0] == '-', name == "HEAD", name == "@":
		return "git would read it as something else"
	case strings.Contains(name, ".."), strings.Contains(name, "@{"), strings.HasSuffix(name, "."):
		return `it has "..", "@{", or a dot at its end`
	}
	for _, r := range []byte(name) {
		if r <= ' ' || r == 0x7f || strings.IndexByte(`~^:?*[\`, r) >= 0 {
			return fmt.Sprintf("it has %q", r)
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return "a part of it is empty, begins with a dot, or ends in .lock"
		}
	}
	return ""
}

func checkCommit(commit string) error {
	if !commitName.MatchString(commit) {
		return fmt.Errorf("%q is no commit: give all 40 digits", commit)
	}
	return nil
}

// signed returns the variables by which git knows who makes a commit.
func signed(author string) ([]string, error) {
	parts := identity.FindStringSubmatch(author)
	if parts == nil {
		return nil, fmt.Errorf("%q is no author: give a name and an address, as Ada <ada@example.org>", author)
	}
	return []string{
		"GIT_AUTHOR_NAME=" + parts[1], "GIT_AUTHOR_EMAIL=" + parts[2],
		"GIT_COMMITTER_NAME=" + parts[1], "GIT_COMMITTER_EMAIL=" + parts[2],
	}, nil
}
