package files_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
)

const month = 30 * 24 * time.Hour

// keep puts a text onto a shelf and returns the task and the token that it is had by.
func keep(t *testing.T, s *files.Shelf, task, name, text string) (kept files.Kept, token string) {
	t.Helper()
	kept, err := s.Keep(files.Owner{Task: task}, name, int64(len(text)), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(kept.Ref, "/")
	if len(parts) != 3 || parts[0] != task {
		t.Fatalf("the reference is %q", kept.Ref)
	}
	return kept, parts[1]
}

// read returns what is kept, or "" if nothing is.
func read(t *testing.T, s *files.Shelf, task, token string) string {
	t.Helper()
	file, _, err := s.Open(task, token)
	if err != nil {
		if !errors.Is(err, files.ErrNotHere) {
			t.Error(err)
		}
		return ""
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

func TestShelf(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "files")
	s := files.NewShelf(dir, 1<<20, month)
	one, token := keep(t, s, "task-1", "größe 1.md", "one")
	_, other := keep(t, s, "task-1", "größe 1.md", "two")
	if one.Size != 3 || time.Until(one.Expires) > month || time.Until(one.Expires) < month-time.Minute || !strings.HasSuffix(one.Ref, "/gr__e_1.md") {
		t.Errorf("kept %+v", one)
	}
	again := files.NewShelf(dir, 1<<20, month) // as after a restart
	if got := read(t, again, "task-1", token); got != "one" || read(t, again, "task-1", other) != "two" {
		t.Errorf("%q", got)
	}
	for _, wrong := range [][2]string{
		{"task-2", token}, {"task-1", strings.Repeat("A", 43)}, {"task-1", token[:42]}, {"task-1", ""}, {"", token},
		{"../files/task-1", token}, {".", token}, {"task-1/", token}, {"task-1", "../" + token[3:]},
	} {
		if got := read(t, s, wrong[0], wrong[1]); got != "" {
			t.Errorf("%q shows %q", wrong, got)
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "task-1"))
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v, %v", entries, err)
	}
	for _, entry := range entries {
		if strings.Contains(entry.Name(), token) || strings.Contains(entry.Name(), other) {
			t.Errorf("the disk says how it is asked for: %s", entry.Name())
		}
	}
	file, info, err := s.Open("task-1", token)
	if err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
	if name, media := files.ShelvedName(info); name != "gr__e_1.md" || media != "text/markdown" || info.Mode().Perm() != 0o600 {
		t.Errorf("%s %s %v", name, media, info.Mode())
	}
	if _, err := s.Keep(files.Owner{Task: "../task"}, "x", 1, strings.NewReader("x")); err == nil {
		t.Error("a task outside of the shelf")
	}
}

// TestShelfMakesRoom: the oldest go, never those of the task that asks, and what is
// larger than all of it is refused.
func TestShelfMakesRoom(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "files")
	s := files.NewShelf(dir, 10, month)
	tokens := map[string]string{}
	for i, task := range []string{"first", "second", "third"} {
		_, tokens[task] = keep(t, s, task, "x", "abc")
		past := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, task), past, past); err != nil {
			t.Fatal(err)
		}
	}
	_, tokens["fourth"] = keep(t, s, "fourth", "x", "abcd")
	for task, want := range map[string]string{"first": "", "second": "abc", "third": "abc", "fourth": "abcd"} {
		if got := read(t, s, task, tokens[task]); got != want {
			t.Errorf("%s has %q, want %q", task, got, want)
		}
	}
	if _, err := s.Keep(files.Owner{Task: "fourth"}, "x", 7, strings.NewReader("seven..")); !errors.Is(err, files.ErrTooLarge) {
		t.Errorf("its own were let go: %v", err)
	}
	if read(t, s, "fourth", tokens["fourth"]) == "" {
		t.Error("the task's own file is gone")
	}
	if _, err := s.Keep(files.Owner{Task: "fifth"}, "x", 1, strings.NewReader(strings.Repeat("x", 11))); !errors.Is(err, files.ErrTooLarge) { // it grew
		t.Errorf("larger than the shelf: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "fifth", "*")); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

// TestShelfOfOtherAgents: they have a quarter of the shelf. Beyond it the oldest of theirs go, and of
// the user's no more than it takes for that quarter.
func TestShelfOfOtherAgents(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "files")
	s := files.NewShelf(dir, 40, month)
	tokens, tasks := map[string]string{}, 0
	put := func(task string, peer bool, n int) {
		t.Helper()
		kept, err := s.Keep(files.Owner{Task: task, Peer: peer}, "x", int64(n), strings.NewReader(strings.Repeat("x", n)))
		if err != nil {
			t.Fatal(task, err)
		}
		tokens[task] = strings.Split(kept.Ref, "/")[1]
		past := time.Now().Add(time.Duration(tasks-100) * time.Hour)
		if tasks++; os.Chtimes(filepath.Join(dir, task), past, past) != nil {
			t.Fatal(task)
		}
	}
	wantKept := func(want ...string) {
		t.Helper()
		var kept []string
		for task, token := range tokens {
			if read(t, s, task, token) != "" {
				kept = append(kept, task)
			}
		}
		if slices.Sort(kept); !slices.Equal(kept, want) {
			t.Errorf("kept are those of %q, want %q", kept, want)
		}
	}
	put("a", false, 10)
	put("b", false, 20)
	put("p", true, 6)
	put("q", true, 4)
	wantKept("a", "b", "p", "q")
	put("r", true, 5) // of theirs only, though it is the user's that are the oldest
	wantKept("a", "b", "q", "r")
	put("c", false, 10) // what is the oldest
	wantKept("b", "c", "q", "r")
	put("d", false, 10) // they lend what they have not
	put("r", true, 1)
	wantKept("c", "d", "q", "r")
	for _, refused := range []struct {
		by   files.Owner
		size int64
	}{{files.Owner{Task: "s", Peer: true}, 11}, {files.Owner{Task: "r", Peer: true}, 5}, {files.Owner{Task: "s"}, 41}, {files.Owner{Task: "d"}, 31}} {
		if _, err := s.Keep(refused.by, "x", refused.size, strings.NewReader("")); !errors.Is(err, files.ErrTooLarge) {
			t.Errorf("%+v: %v", refused, err)
		}
	}
	wantKept("c", "d", "q", "r") // nothing goes for what is refused
	if _, err := s.Keep(files.Owner{Task: "s", Peer: true}, "x", 1, strings.NewReader(strings.Repeat("x", 11))); !errors.Is(err, files.ErrTooLarge) {
		t.Errorf("it grew beyond their share: %v", err)
	}
}

func TestShelfSweep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "files")
	s := files.NewShelf(dir, 1<<20, month)
	everything := func(string) (bool, error) { return true, nil }
	if err := s.Sweep(everything); err != nil {
		t.Fatal(err)
	}
	_, known := keep(t, s, "known", "x", "a")
	_, forgotten := keep(t, s, "forgotten", "x", "a")
	_, old := keep(t, s, "old", "x", "a")
	past := time.Now().Add(-month - time.Minute)
	for _, path := range append([]string{filepath.Join(dir, "old")}, must(filepath.Glob(filepath.Join(dir, "old", "*")))...) {
		if err := os.Chtimes(path, past, past); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, s, "old", old) != "" {
		t.Error("it is had after its time")
	}
	behind := files.NewShelf(dir, 1<<20, month)
	behind.Aged = func() time.Time { return time.Now().Add(-60 * 24 * time.Hour) }
	if err := behind.Sweep(everything); err != nil || read(t, behind, "old", old) != "" || len(must(filepath.Glob(filepath.Join(dir, "*")))) != 3 {
		t.Errorf("while it has not grown old by the time that passes: %v, or it is had, or gone", err)
	}
	broken := errors.New("the database is gone")
	if err := s.Sweep(func(string) (bool, error) { return false, broken }); !errors.Is(err, broken) || read(t, s, "known", known) == "" {
		t.Errorf("with the database gone: %v", err)
	}
	if err := s.Sweep(func(task string) (bool, error) { return task != "forgotten", nil }); err != nil {
		t.Fatal(err)
	}
	if read(t, s, "known", known) != "a" || read(t, s, "forgotten", forgotten) != "" {
		t.Error("the wrong ones are gone")
	}
	if left := must(filepath.Glob(filepath.Join(dir, "*"))); len(left) != 1 {
		t.Errorf("left are %v", left)
	}
}

// TestShelfKeepsWhileItIsSwept: it is asked what is known without holding up what is kept
// meanwhile, and that stays.
func TestShelfKeepsWhileItIsSwept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "files")
	s := files.NewShelf(dir, 1<<20, month)
	keep(t, s, "old", "x", "a")
	past := time.Now().Add(-month - time.Minute)
	if err := os.Chtimes(filepath.Join(dir, "old"), past, past); err != nil {
		t.Fatal(err)
	}
	fresh := ""
	if err := s.Sweep(func(task string) (bool, error) {
		_, fresh = keep(t, s, task, "y", "b")
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	if read(t, s, "old", fresh) != "b" {
		t.Error("what was kept meanwhile is gone")
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
