package channel_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A reader is an engine that reads messages and answers none.
type reader struct{ *clerk }

func (r reader) Follow(_ context.Context, _ string, say func(channel.Answer) error) error {
	return say(channel.Answer{Final: true, Read: true})
}

// TestRead: a message that was read ends without an answer, and is acknowledged; it comes with where it is from, in its
// place among all.
func TestRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, c := &desk{}, &clerk{}
		d.put("", "hello")
		d.put("peer-1", "hi", func(r *platform.Row) {
			r.PeerName, r.PeerRole, r.CardURL = "Bob", "writes\nlines", "https://p.example/card"
		})
		d.put("peer-1", "hi", func(r *platform.Row) { r.CardURL = strings.Repeat("x", 4096) })
		r := open(t, t.TempDir(), d, c, func(cfg *channel.Config) { cfg.Engine = reader{c} })
		defer r.stop()
		time.Sleep(time.Minute)
		if told, acks := d.told(), d.acks(); len(told) != 0 || len(acks) == 0 || acks[len(acks)-1] != 3 {
			t.Errorf("told %q, acknowledged %v", told, acks)
		}
		if len(c.given) != 3 {
			t.Fatalf("given: %+v", c.given)
		}
		for _, m := range c.given {
			switch {
			case m.N == 1 && (m.Kind != "canvas" || m.PeerName != "" || m.Method != "message/send" || m.At.IsZero()):
				t.Errorf("%+v", m)
			case m.N == 2 && (m.Kind != "peer" || m.PeerName != "Bob" || m.PeerRole != "writes lines" || m.CardURL != "https://p.example/card"):
				t.Errorf("%+v", m)
			case m.N == 3 && m.CardURL != "":
				t.Errorf("a card of %d bytes", len(m.CardURL))
			}
		}
	})
}

// TestOthersWords: a sender to another agent is told nothing of codex.
func TestOthersWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, c := &desk{}, &clerk{}
		d.put("", strings.Repeat("x", 1<<20+1))
		r := open(t, t.TempDir(), d, c, func(cfg *channel.Config) { cfg.Agent = "agent" })
		defer r.stop()
		time.Sleep(time.Minute)
		if told := d.told(); len(told) != 1 || strings.Contains(told[0], "codex") || !strings.Contains(told[0], "[agent error] the message has 1048577 characters, and the agent takes at most") {
			t.Errorf("told %q", told)
		}
	})
}
