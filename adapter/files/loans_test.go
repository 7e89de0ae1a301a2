package files_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
)

// TestLoans are there until they are given back; what was left is gone at the next start,
// and what is not fit is not there at all.
func TestLoans(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lent")
	d := &disk{left: 1 << 40}
	open := func() *files.Loans {
		l, err := files.NewLoans(dir, nil, d.room)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	has := func(want int) {
		t.Helper()
		if entries, _ := os.ReadDir(dir); len(entries) != want {
			t.Errorf("there are %v, want %d", entries, want)
		}
	}
	fit := func(r io.ReaderAt, digest string) error {
		b, err := io.ReadAll(io.NewSectionReader(r, 0, 10))
		if string(b) != "content" || digest != "" && digest != "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73" {
			t.Errorf("%q, %v, %s", b, err, digest)
		}
		return nil
	}
	l := open()
	lend := func(l *files.Loans, source files.Source, name string, fit func(io.ReaderAt, string) error) (string, error) {
		path, _, err := l.Lend(t.Context(), source, name, files.MaxBytes, fit)
		return path, err
	}
	path, size, err := l.Lend(t.Context(), strings.NewReader("content"), "a b\n.png", 7, fit)
	if err != nil || size != 7 {
		t.Fatal(size, err)
	}
	if b, err := os.ReadFile(path); string(b) != "content" || !strings.HasSuffix(path, ".png") || strings.Contains(path, "a_b") {
		t.Errorf("%s: %q, %v", path, b, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	unfit := errors.New("it is not fit")
	if _, err := lend(l, strings.NewReader("x"), "x", func(io.ReaderAt, string) error { return unfit }); !errors.Is(err, unfit) {
		t.Error(err)
	}
	none := func(io.ReaderAt, string) error { return nil }
	if _, err := lend(l, bytes.NewReader(zeros(files.MaxBytes+1)), "x", none); !errors.Is(err, files.ErrTooLarge) {
		t.Error(err)
	}
	d.left = 1
	if _, err := lend(l, strings.NewReader("more"), "x", none); !errors.Is(err, errFull) {
		t.Error(err)
	}
	d.left = 1 << 40
	has(1)
	l.GiveBack(path)
	has(0)
	if _, err := lend(l, strings.NewReader("content"), "left", fit); err != nil {
		t.Error(err)
	}
	l = open()
	has(0)
	if _, err := lend(l, strings.NewReader("content"), "again", fit); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestLoansThatAreNotMade: what is not fit is not copied at all, nor is more than was asked
// for, and a copy ends with its context. Nothing is left of them.
func TestLoansThatAreNotMade(t *testing.T) {
	unfit, gone := errors.New("it is not fit"), errors.New("the turn is canceled")
	var cancel context.CancelCauseFunc
	for name, c := range map[string]struct {
		unfit, unfitCopy error
		most             int64
		then             func() // when the first of four pieces is read
		want             error
		read             int // pieces
	}{
		"unfit":        {unfit: unfit, most: 4, want: unfit},
		"unfit-copied": {unfitCopy: unfit, most: 4, want: unfit, read: 4},
		"large":        {most: 3, want: files.ErrTooLarge, read: 4},
		"canceled":     {most: 4, then: func() { cancel(gone) }, want: gone, read: 1},
	} {
		dir := filepath.Join(t.TempDir(), "lent")
		l, err := files.NewLoans(dir, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancelThis := context.WithCancelCause(t.Context())
		cancel = cancelThis
		s := &pieces{left: 4, then: c.then}
		_, _, err = l.Lend(ctx, s, "x", c.most, func(_ io.ReaderAt, digest string) error {
			if digest == "" {
				return c.unfit
			}
			return c.unfitCopy
		})
		cancel(nil)
		if !errors.Is(err, c.want) || 4-s.left != c.read {
			t.Errorf("%s: %v after %d pieces", name, err, 4-s.left)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%s: %v is left", name, left)
		}
	}
}

// pieces are bytes that are read one by one.
type pieces struct {
	left int
	then func() // called with the first; may be nil
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	if p.left--; p.then != nil {
		p.then()
	}
	b[0] = 'x'
	return 1, nil
}

func (p *pieces) ReadAt([]byte, int64) (int, error) { return 0, io.EOF }

// TestStagedAgain: the digest of a file is that of what was sent, also where something else
// of that size stands in its place when it is sent again.
func TestStagedAgain(t *testing.T) {
	f, _ := folder(t)
	in := files.Incoming{Key: "k", Name: "x.png", Content: []byte("content")}
	first, err := f.Stage(t.Context(), in)
	if err != nil || len(first.Digest) != 64 {
		t.Fatalf("%+v, %v", first, err)
	}
	if err := os.WriteFile(first.Path, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := f.Stage(t.Context(), in)
	if err != nil || again != first {
		t.Errorf("%+v, %v", again, err)
	}
	if b, err := os.ReadFile(first.Path); string(b) != "content" {
		t.Errorf("%q, %v", b, err)
	}
}
