package takeover_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel/takeover"
)

// A scene is an old bridge's folder and a runtime that takes it over.
type scene struct {
	t        *testing.T
	dir      string
	log      strings.Builder
	adopted  map[string]string
	calls    int
	refusing error  // what Adopt says
	cut      func() // called when it has adopted
}

func newScene(t *testing.T, sessions string) *scene {
	t.Helper()
	s := &scene{t: t, dir: t.TempDir(), adopted: map[string]string{}}
	s.write(sessions)
	return s
}

func (s *scene) write(sessions string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "sessions.json"), []byte(sessions), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) run() error {
	return takeover.Run(s.t.Context(), takeover.Config{
		Sessions: filepath.Join(s.dir, "sessions.json"), Marker: filepath.Join(s.dir, "marker"),
		Conversation: func(chat string) string {
			if strings.HasPrefix(chat, "unknown:") {
				return ""
			}
			return chat
		},
		Resumable: func(session string) (bool, error) { return strings.HasPrefix(session, "s-"), nil },
		Adopt: func(_ context.Context, sessions map[string]string) (int, error) {
			s.calls++
			if s.refusing != nil {
				return 0, s.refusing
			}
			maps.Copy(s.adopted, sessions)
			if s.cut != nil {
				s.cut()
			}
			return len(sessions), nil
		},
		Logger: slog.New(slog.NewTextHandler(&s.log, nil)),
	})
}

const threeSessions = `{"canvas:w":"s-1","peer:p":"s-2","unknown:a":"s-3","peer:gone":"x","peer:odd":7,"peer:none":""}`

func TestSessionsAreTakenOverOnce(t *testing.T) {
	s := newScene(t, threeSessions)
	for range 2 {
		if err := s.run(); err != nil {
			t.Fatal(err)
		}
	}
	if want := map[string]string{"canvas:w": "s-1", "peer:p": "s-2"}; s.calls != 1 || !maps.Equal(s.adopted, want) {
		t.Errorf("%d times, %v, want once %v", s.calls, s.adopted, want)
	}
	if log := s.log.String(); !strings.Contains(log, "taken=2 left=2") || !strings.Contains(log, "chat=peer:gone") {
		t.Errorf("the log says %s", log)
	}
}

// TestCorruptSessionsAreWarnedAbout starts empty, and takes the file over when it is
// repaired.
func TestCorruptSessionsAreWarnedAbout(t *testing.T) {
	s := newScene(t, "")
	for _, text := range []string{"", "{", `["canvas:w"]`, "null", "\x00\xff", `{"canvas:w":"s-1"} trailing`} {
		s.write(text)
		s.log.Reset()
		if err := s.run(); err != nil || s.calls != 0 {
			t.Errorf("%q: %v, %d calls", text, err, s.calls)
		}
		if log := s.log.String(); !strings.Contains(log, "level=WARN") || !strings.Contains(log, "sessions.json") {
			t.Errorf("%q: the log says %s", text, log)
		}
		if left, err := os.ReadFile(filepath.Join(s.dir, "sessions.json")); err != nil || string(left) != text {
			t.Errorf("the file was changed to %q, %v", left, err)
		}
	}
	s.write(threeSessions)
	if err := s.run(); err != nil || len(s.adopted) != 2 {
		t.Errorf("repaired: %v, %v", err, s.adopted)
	}
}

// TestNoSessions leaves nothing behind: whoever runs the old bridge once more is taken
// over at the next start.
func TestNoSessions(t *testing.T) {
	s := newScene(t, "")
	if err := os.Remove(filepath.Join(s.dir, "sessions.json")); err != nil {
		t.Fatal(err)
	}
	if err := s.run(); err != nil || s.log.Len() > 0 {
		t.Errorf("%v, %s", err, &s.log)
	}
	s.write(threeSessions)
	if err := s.run(); err != nil || len(s.adopted) != 2 {
		t.Errorf("%v, %v", err, s.adopted)
	}
}

// TestCutOff is cut off between what it does and the note of it, and does it again.
func TestCutOff(t *testing.T) {
	s := newScene(t, threeSessions)
	marker := filepath.Join(s.dir, "marker")
	if err := os.Symlink(filepath.Join(s.dir, "missing", "marker"), marker); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(marker, marker+".later"); err != nil {
		t.Fatal(err)
	}
	s.cut = func() {
		s.cut = nil
		if err := os.Rename(marker+".later", marker); err != nil { // it cannot be written through
			t.Error(err)
		}
	}
	if err := s.run(); err == nil || s.calls != 1 {
		t.Fatalf("%v, %d calls", err, s.calls)
	}
	if err := os.Remove(marker); err != nil {
		t.Fatal(err)
	}
	if err := s.run(); err != nil || s.calls != 2 || len(s.adopted) != 2 {
		t.Errorf("%v, %d calls, %v", err, s.calls, s.adopted)
	}
}

// TestFullDisk comes back to it.
func TestFullDisk(t *testing.T) {
	s := newScene(t, threeSessions)
	s.refusing = errors.New("no space left on device")
	if err := s.run(); !errors.Is(err, s.refusing) {
		t.Fatalf("%v", err)
	}
	s.refusing = nil
	if err := s.run(); err != nil || len(s.adopted) != 2 {
		t.Errorf("%v, %v", err, s.adopted)
	}
}

// TestSessionsThatAreNoFile are not waited for.
func TestSessionsThatAreNoFile(t *testing.T) {
	s := newScene(t, "")
	name := filepath.Join(s.dir, "sessions.json")
	if err := errors.Join(os.Remove(name), syscall.Mkfifo(name, 0o600)); err != nil {
		t.Fatal(err)
	}
	done := time.AfterFunc(time.Minute, func() { panic("it waits for the other end of the pipe") })
	defer done.Stop()
	if err := s.run(); err != nil || s.log.Len() == 0 {
		t.Errorf("%v, %s", err, &s.log)
	}
}
