package files_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
)

// TestPipeIsNoFile: opening one would wait for whoever writes to it.
func TestPipeIsNoFile(t *testing.T) {
	f, work := folder(t)
	pipe := filepath.Join(work, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, _, err := f.Open(pipe)
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, files.ErrNotHere) {
			t.Errorf("opened: %v", err)
		}
	case <-time.After(time.Minute):
		writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // lets it go
		if err == nil {
			_ = writer.Close()
		}
		t.Errorf("it waits: %v", err)
	}
}

// TestOfferIsBounded by number and by size, as the platform is.
func TestOfferIsBounded(t *testing.T) {
	f, work := folder(t)
	var text strings.Builder
	for i := range 12 {
		fmt.Fprintln(&text, put(t, filepath.Join(work, fmt.Sprintf("%d.txt", i)), "x"))
	}
	if got := f.Named(files.Reply{Text: text.String()}); len(got) != 10 {
		t.Errorf("%d files of 12", len(got))
	}
	large := func(name string, size int64) string {
		path := put(t, filepath.Join(work, name), "")
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		return path
	}
	names := []string{large("too-large", 26<<20), large("a", 24<<20), large("b", 24<<20), large("no-room", 24<<20), large("small", 1<<20)}
	var got []string
	for _, file := range f.Named(files.Reply{Text: strings.Join(names, "\n")}) {
		got = append(got, file.Name)
	}
	if strings.Join(got, " ") != "a b small" {
		t.Errorf("offered %q", got)
	}
}
