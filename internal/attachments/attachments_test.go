package attachments

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
)

// attached are the files of a runtime in a working directory with a report in it.
func attached(t *testing.T, platform bool, room int64) (a Attachments, reply attach.ReplyText) {
	t.Helper()
	work := t.TempDir()
	path := filepath.Join(work, "report.txt")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	a = Attachments{folder: files.New(files.Config{Work: work}), platform: platform, log: slog.New(slog.DiscardHandler)}
	if room > 0 {
		a.kept = &Kept{shelf: files.NewShelf(filepath.Join(t.TempDir(), "files"), room, time.Hour)}
	}
	return a, attach.ReplyText{Text: "see " + path}
}

// TestWhoGetsWhichFiles: the platform names of copies in its folder, others copies that
// are kept for them, and the one does not go without for the other.
func TestWhoGetsWhichFiles(t *testing.T) {
	for name, c := range map[string]struct {
		platform    bool
		room        int64
		named, kept bool
	}{
		"alone": {false, 1 << 20, true, true}, "workspace": {true, 1 << 20, true, true},
		"workspace-off": {true, 0, true, false}, "workspace-full": {true, 1, true, false}, "alone-full": {false, 1, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, reply := attached(t, c.platform, c.room)
			got := a.Offer(attach.Maker{Task: "task"}, reply)
			if (len(got) == 1) != c.named {
				t.Fatalf("offered %+v", got)
			}
			if c.named && (got[0].Kept != "") != c.kept {
				t.Errorf("kept: %+v", got[0])
			}
			if c.named && strings.Contains(got[0].URI, "/.molecule/chat-uploads/") != c.platform {
				t.Errorf("named: %+v", got[0])
			}
			picture, err := a.Keep(attach.Maker{Task: "task"}, "ig", "image.png", []byte("text"))
			if (err == nil) != c.named || c.named && (picture.Kept != "") != c.kept {
				t.Errorf("a picture: %+v, %v", picture, err)
			}
		})
	}
}

// TestKeptFilesLeaveTheReserve: a copy takes nothing of the disk that is kept for turns
// that run, and where it would, the others stay.
func TestKeptFilesLeaveTheReserve(t *testing.T) {
	var free atomic.Int64 // the store's writer asks, too
	free.Store(16<<20 + 4)
	journal, err := store.Open(t.Context(), store.Config{
		Dir: t.TempDir(), Space: func(string) (int64, int64, error) { return free.Load(), 1 << 30, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	a, reply := attached(t, false, 1<<20)
	a.kept.shelf.Room = journal.RoomFor
	got := a.Offer(attach.Maker{Task: "one"}, reply)
	if len(got) != 1 {
		t.Fatalf("with room for it: %+v", got)
	}
	free.Add(-1)
	if more := a.Offer(attach.Maker{Task: "two"}, reply); len(more) != 0 {
		t.Errorf("out of the reserve: %+v", more)
	}
	parts := strings.Split(got[0].Kept, "/")
	file, _, err := a.kept.shelf.Open(parts[0], parts[1])
	if err != nil {
		t.Fatalf("the first one is gone: %v", err)
	}
	_ = file.Close()
}

// TestStagedFiles are bounded by what their message leaves for them and by their share, are
// noted, and are dropped with their message.
func TestStagedFiles(t *testing.T) {
	journal, err := store.Open(t.Context(), store.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	log := slog.New(slog.DiscardHandler)
	s := settings.Settings{WorkDir: t.TempDir(), UploadsMiB: 1}
	a := Attachments{folder: files.New(files.Config{Work: s.WorkDir, Quota: quota(s, journal, log)}), log: log}
	part := a2a.NewRawPart([]byte("text"))
	if _, err := a.Stage(t.Context(), "k", part, 3, false); !errors.Is(err, attach.ErrTooLarge) || !errors.Is(err, attach.ErrNoFile) {
		t.Errorf("too large: %v", err)
	}
	if _, err := a.Stage(t.Context(), "k", part, 0, false); !errors.Is(err, attach.ErrTooLarge) {
		t.Errorf("with nothing left: %v", err)
	}
	file, err := a.Stage(t.Context(), "k", part, 4, false)
	if err != nil || !file.Staged || !file.Own || file.Size != 4 {
		t.Fatalf("%+v, %v", file, err)
	}
	a.Drop([]string{file.URI}) // which is held
	if known, err := journal.FileRecord(t.Context(), file.Stored); err != nil || !known.Own || known.Peer || known.Named {
		t.Errorf("known is %+v, %v", known, err)
	}
	if _, err := a.Path(file.URI); err != nil {
		t.Errorf("while it is held: %v", err)
	}
	a.Release([]attach.File{file})
	a.Drop([]string{file.URI})
	if _, err := a.Path(file.URI); !errors.Is(err, files.ErrNotHere) {
		t.Errorf("it is still there: %v", err)
	}
	part = a2a.NewRawPart(make([]byte, 1<<18))
	if _, err := a.Stage(t.Context(), "share", part, a.Most(true), true); err != nil {
		t.Errorf("a quarter, of another agent: %v", err)
	}
	if _, err := a.Stage(t.Context(), "more", part, 1<<20, true); !errors.Is(err, attach.ErrNoRoom) || errors.Is(err, attach.ErrNoFile) {
		t.Errorf("beside that: %v", err)
	}
}

// TestFilesLeaveTheReserve: the disk of the working directory is asked for room, and for files
// of messages that of the state.
func TestFilesLeaveTheReserve(t *testing.T) {
	work, state := t.TempDir(), t.TempDir()
	for name, room := range map[string]func(int64) error{"copies": roomIn(work), "messages": roomForFiles(settings.Settings{WorkDir: work, StateDir: state})} {
		if err := room(1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := room(1 << 60); !errors.Is(err, store.ErrFull) || !strings.HasPrefix(err.Error(), work+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := roomForFiles(settings.Settings{WorkDir: work, StateDir: state + "/none"})(1); err == nil || !strings.Contains(err.Error(), state) {
		t.Errorf("without a state: %v", err)
	}
}

// TestKeptFilesGoWithTheirTask, at once, and from the disk when it is tidied up.
func TestKeptFilesGoWithTheirTask(t *testing.T) {
	a, reply := attached(t, false, 1<<20)
	journal, err := store.Open(t.Context(), store.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	m := store.Message{Key: store.Key{Context: "c", Message: "m"}, TaskID: "known", Job: "known.1", Conversation: "c", Body: []byte("{}")}
	if err := journal.Accept(t.Context(), m, store.Head{ID: "known", Context: "c", State: "submitted", At: time.Now(), Body: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	a.kept.journal = journal
	kept := a.kept
	known, forgotten := a.Offer(attach.Maker{Task: "known"}, reply)[0], a.Offer(attach.Maker{Task: "forgotten"}, reply)[0]
	open := func(ref string) (string, error) {
		parts := strings.Split(ref, "/")
		file, _, err := kept.Open(t.Context(), parts[0], parts[1])
		if err != nil {
			return "", err
		}
		defer file.Close()
		text, err := io.ReadAll(file)
		return string(text), err
	}
	if text, err := open(known.Kept); err != nil || text != "text" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := open(forgotten.Kept); !errors.Is(err, files.ErrNotHere) {
		t.Errorf("of a task that is forgotten: %v", err)
	}
	if err := a.Sweep(time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := open(known.Kept); err != nil {
		t.Errorf("of a task that is known: %v", err)
	}
	parts := strings.Split(forgotten.Kept, "/")
	if _, _, err := a.kept.shelf.Open(parts[0], parts[1]); !errors.Is(err, files.ErrNotHere) {
		t.Errorf("still on the disk: %v", err)
	}
}
