package worktree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// Absorb takes a bundle in, of which it reads limit bytes at most (the reader has to end with the context), and has the branch stand where the bundle's branch of
// that name does. What the branch had and the bundle does not is kept below refs/replaced/<branch>. Other branches of the
// bundle are not taken. Its objects come into the repository after all of them were checked: a bundle that is cut
// ([ErrInvalid]), larger ([ErrTooLarge]), that breaks the rules of git fsck, or builds on what is not here
// ([ErrMissing]), leaves nothing.
//
// A tree of the branch keeps its files: see [Tree.Reset].
func (r *Repository) Absorb(ctx context.Context, bundle io.Reader, branch string, limit int64) (head string, err error) {
	if err := checkBranch(branch); err != nil {
		return "", err
	}
	q, err := r.quarantine()
	if err != nil {
		return "", err
	}
	defer q.discard()
	pack, header, err := q.spool(ctx, bundle, branch, limit)
	if err != nil {
		return "", fmt.Errorf("a bundle of %s: %w", branch, err)
	}
	defer pack.Close()
	if err := r.checkPrerequisites(ctx, header.needs); err != nil {
		return "", fmt.Errorf("a bundle of %s: %w", branch, err)
	}
	if err := q.take(ctx, pack, header.head, limit); err != nil {
		return "", fmt.Errorf("a bundle of %s: %w", branch, err)
	}
	held, err := r.hold(ctx, branch)
	if err != nil {
		return "", err
	}
	defer held.free()
	if err := q.accept(); err != nil {
		return "", fmt.Errorf("a bundle of %s: %w", branch, err)
	}
	return header.head, r.leaveBehind(ctx, held, header.head)
}

// A bundleHeader is what stands in front of the pack.
type bundleHeader struct {
	head  string   // of the branch that is wanted
	needs []string // commits that it builds on
}

const (
	// mostRefs is how many lines a header has at most.
	mostRefs = 10000
)

// readHeader reads what git has documented as the formats 2 and 3 of bundles.
func readHeader(r *bufio.Reader, branch string) (h bundleHeader, err error) {
	first, err := headerLine(r)
	if err != nil {
		return h, err
	}
	if first != "# v2 git bundle" && first != "# v3 git bundle" {
		return h, fmt.Errorf("%w (it does not begin as one)", ErrInvalid)
	}
	for range mostRefs {
		line, err := headerLine(r)
		if err != nil {
			return h, err
		}
		switch {
		case line == "" && h.head == "":
			return h, fmt.Errorf("%w (that branch is not in it)", ErrInvalid)
		case line == "":
			return h, nil
		case line == "@object-format=sha1":
		case line[0] == '@':
			return h, fmt.Errorf("%w (it asks for %.100q)", ErrInvalid, line)
		case line[0] == '-':
			need, _, _ := strings.Cut(line[1:], " ")
			if checkCommit(need) != nil {
				return h, fmt.Errorf("%w (a line of its header is %.100q)", ErrInvalid, line)
			}
			h.needs = append(h.needs, need)
		default:
			commit, ref, _ := strings.Cut(line, " ")
			if checkCommit(commit) != nil {
				return h, fmt.Errorf("%w (a line of its header is %.100q)", ErrInvalid, line)
			}
			if ref == heads+"/"+branch {
				h.head = commit
			}
		}
	}
	return h, fmt.Errorf("%w (its header does not end)", ErrInvalid)
}

func headerLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", fmt.Errorf("%w (a line of its header is too long)", ErrInvalid)
	case errors.Is(err, io.EOF):
		return "", fmt.Errorf("%w (its header is cut)", ErrInvalid)
	case err != nil:
		return "", err
	}
	return string(line[:len(line)-1]), nil
}

// spool reads a bundle: its header, and its pack into a file of the quarantine.
func (q *quarantine) spool(ctx context.Context, bundle io.Reader, branch string, limit int64) (*os.File, bundleHeader, error) {
	limited := &io.LimitedReader{R: bundle, N: limit + 1}
	buffered := bufio.NewReaderSize(limited, 64<<10)
	header, err := readHeader(buffered, branch)
	if err != nil {
		return nil, header, err
	}
	pack, err := asuser.Value(q.git.user, func() (*os.File, error) {
		return os.OpenFile(q.path("pack"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	})
	if err != nil {
		return nil, header, err
	}
	_, err = io.Copy(pack, readerOf{ctx, buffered})
	switch {
	case err == nil && limited.N <= 0:
		err = fmt.Errorf("%w (%d bytes)", ErrTooLarge, limit)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		err = fmt.Errorf("%w (%w)", ErrFull, err)
	}
	if err != nil {
		_ = pack.Close()
		return nil, header, err
	}
	return pack, header, nil
}

// readerOf reads until a context ends.
type readerOf struct {
	ctx context.Context
	r   io.Reader
}

func (r readerOf) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}

func (r *Repository) checkPrerequisites(ctx context.Context, needs []string) error {
	if len(needs) == 0 {
		return nil
	}
	kinds, err := r.kinds(ctx, needs, nil)
	if err != nil {
		return err
	}
	for i, kind := range kinds {
		if kind != "commit" {
			return fmt.Errorf("%w (%s, for one)", ErrMissing, needs[i])
		}
	}
	return nil
}

// take indexes a pack in the quarantine, with all checks, and sees that nothing is missing that a commit leads to.
func (q *quarantine) take(ctx context.Context, pack *os.File, head string, limit int64) error {
	args := []string{"index-pack", "--stdin", "--fix-thin", "--strict=" + strictness, fmt.Sprintf("--max-input-size=%d", limit)}
	if _, err := q.git.text(ctx, call{args: args, file: pack, env: q.env(), held: q.hold()}); err != nil {
		return invalid(err)
	}
	kinds, err := q.git.kinds(ctx, []string{head}, q.env())
	if err != nil {
		return err
	}
	if kinds[0] != "commit" {
		return fmt.Errorf("%w (its branch is at something that is no commit)", ErrInvalid)
	}
	args = []string{"rev-list", "--objects", "--quiet", head, "--not", "--all"}
	_, err = q.git.text(ctx, call{args: args, env: q.env(), held: q.hold()})
	return invalid(err)
}

// invalid is a failure of git's over what another side has sent.
func invalid(err error) error {
	if e, ok := errors.AsType[*GitError](err); ok && e.cause == nil && e.Code > 0 {
		return fmt.Errorf("%w (%w)", ErrInvalid, err)
	}
	return err
}
