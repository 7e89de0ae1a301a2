package outside

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/channel/desk"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// agentOf is an agent of workspaces, that does nothing.
func agentOf(t *testing.T, ids ...string) *Agent {
	t.Helper()
	s := settings.Settings{StateDir: t.TempDir()}
	for _, id := range ids {
		s.Spaces = append(s.Spaces, settings.Space{ID: id, URL: "http://127.0.0.1:1", Token: settings.NewSecret("t")})
	}
	a := New(Options{Options: host.Options{Settings: s, Redact: logging.NewRedactor(), Logger: slog.New(slog.DiscardHandler)}})
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// TestLetter: a message has the members that the platform's own tools give it, and those that are not there are left out.
func TestLetter(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		m    channel.Message
		want string
	}{
		"user": {
			channel.Message{ID: "m", Workspace: "w", Text: "<hi>", Kind: "canvas", Origin: channel.Origin{Method: "message/send", At: at}},
			`{"activity_id":"m","text":"<hi>","peer_id":"","kind":"canvas_user","method":"message/send","created_at":"2026-11-30T12:00:00Z"}`,
		},
		"end of a delegation": {
			channel.Message{ID: "m", Kind: "delegation", Written: at, Own: true},
			`{"activity_id":"m","text":"","peer_id":"","kind":"delegation_result","method":"message/send","created_at":"2026-11-30T12:00:00Z"}`,
		},
		"files": {
			channel.Message{ID: "m", Files: []channel.File{{URI: "workspace:/w/a.png", Name: "a.png", MediaType: "image/png"}, {URI: strings.Repeat("x", 600), Name: "b"}}},
			`{"activity_id":"m","text":"","peer_id":"","kind":"canvas_user","method":"message/send","created_at":"","attachments":[` +
				`{"kind":"image","uri":"workspace:/w/a.png","mime_type":"image/png","name":"a.png","path":"/w/a.png"},{"kind":"file","uri":"","name":"b"}]}`,
		},
		"muted": {
			channel.Message{ID: "m", Mute: "it is a reply", Note: "You sent it."},
			`{"activity_id":"m","text":"","peer_id":"","kind":"canvas_user","method":"message/send","created_at":"","note":"You sent it. No answer is sent to this message: it is a reply. Read it, and take it off with inbox_pop."}`,
		},
	} {
		got, err := json.Marshal(agentOf(t, "w").letter(desk.Seen{Message: c.m}, mostText, 0))
		got = []byte(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(got)))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v\nwant %s", name, got, err, c.want)
		}
	}
	peer := channel.Message{ID: "m", Workspace: "w2", Peer: "p", Text: "obey", Kind: "peer", Origin: channel.Origin{PeerName: "Bob\x1b[31m"}}
	l := agentOf(t, "w1", "w2").letter(desk.Seen{Message: peer, Behind: 2, More: true}, mostText, 0)
	if l.Kind != "peer_agent" || l.Arrival != "w2" || l.Behind != 2 || strings.Contains(l.PeerName, "\x1b") || !strings.Contains(l.Text, "A2A_MESSAGE_FROM_PEER") || !strings.Contains(l.Note, "More messages wait") {
		t.Errorf("%+v", l)
	}
}

// TestLetterBounds: whatever a message holds, what is shown of it is whole JSON that a tool may return.
func TestLetterBounds(t *testing.T) {
	a := agentOf(t, "w")
	var files []channel.File
	for n := range 1000 {
		files = append(files, channel.File{URI: fmt.Sprintf("workspace:/%d/%s", n, strings.Repeat("\x01", 500)), Name: strings.Repeat("\x02", 4096), MediaType: strings.Repeat("\x03", 4096)})
	}
	for name, text := range map[string]string{"plain": strings.Repeat("a", 1<<20), "escaped": strings.Repeat("\x01", 1<<20), "wide": strings.Repeat("漢", 1<<20)} {
		m := channel.Message{ID: "m", Text: text, Files: files, Note: "n"}
		for from := 0; from < 300_000; from += 100_000 {
			shown, err := a.show(desk.Seen{Message: m}, from)
			var l letter
			if err != nil || len(shown) > mostBytes || json.Unmarshal([]byte(shown), &l) != nil || utf8.RuneCountInString(l.Text) == 0 || len(l.Attachments) != mostFiles {
				t.Errorf("%s from %d: %d bytes, %d characters, %v", name, from, len(shown), utf8.RuneCountInString(l.Text), err)
			}
		}
	}
	if text, note := part("m", "abc", 2, 9); text != "" || !strings.Contains(note, "from 3 to 3") || strings.Contains(note, "inbox_peek") {
		t.Errorf("behind the end: %q, %s", text, note)
	}
}

// TestWhyNot: what is said of an inbox that is not kept here names who keeps it, and only of a workspace that is theirs.
func TestWhyNot(t *testing.T) {
	a := agentOf(t, "w1")
	for _, c := range []struct {
		holder store.LockedError
		want   string
	}{
		{store.LockedError{PID: 7, Host: "h", What: "channel", Holds: []string{"w1", "w2"}}, "runtime channel, (process 7 on h"},
		{store.LockedError{PID: 7, Host: "h", What: "mcp", Holds: []string{"w2"}}, "for other workspaces (w2)"},
		{store.LockedError{Dir: "/state"}, "uses /state, where the inbox would be kept"},
	} {
		got := a.words(fmt.Errorf("open the store: %w", &c.holder))
		if !strings.Contains(got, c.want) || strings.Contains(got, "keeps the inbox of this workspace") != (len(c.holder.Holds) == 2) {
			t.Errorf("%+v: %s", c.holder, got)
		}
	}
	if got := a.words(store.ErrCorrupt); !strings.Contains(got, store.ErrCorrupt.Error()) {
		t.Errorf("%s", got)
	}
}
