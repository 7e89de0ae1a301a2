package platform_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

func TestPeers(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		s := newSite(t, era)
		peer := s.p.Add(fakeplatform.Workspace{Name: "peer", Role: "echo", Reply: func(text string) string { return text }})
		peers, err := s.Peers(t.Context())
		if err != nil || len(peers) != 1 || peers[0].Name != "peer" || peers[0].Role != "echo" || peers[0].ParentID != "" || len(peers[0].Card) == 0 {
			t.Errorf("%v: %+v", err, peers)
		}
		found, err := s.Discover(t.Context(), peer.ID())
		if err != nil || found.Name != "peer" {
			t.Errorf("%v: %+v", err, found)
		}
		reply, err := s.Send(t.Context(), peer.ID(), platform.Message{ID: "m1", Text: "hello"})
		if err != nil || reply.Text != "hello" || reply.Queued {
			t.Errorf("%v: %+v", err, reply)
		}
		if err := s.UpdateCard(t.Context(), card()); err != nil || !strings.Contains(string(s.w.Card()), `"us"`) {
			t.Errorf("%v: %s", err, s.w.Card())
		}
		for _, r := range s.p.Requests() {
			if r.Header.Get("X-Workspace-ID") != s.w.ID() || r.Header.Get("X-Molecule-Org-Id") != "org" || r.Header.Get("Origin") != s.p.URL {
				t.Errorf("%s %s: %v", r.Method, r.Path, r.Header)
			}
		}
	})
}

func TestDelegation(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		s := newSite(t, era)
		s.p.RetryPause = time.Millisecond
		peer := s.p.Add(fakeplatform.Workspace{Reply: func(text string) string { return "did " + text }})
		task := platform.Task{Target: peer.ID(), Text: "this", Key: "k"}
		first, err := s.Delegate(t.Context(), task)
		if err != nil || first.ID == "" || first.Repeat {
			t.Fatalf("%v: %+v", err, first)
		}
		again, err := s.Delegate(t.Context(), task)
		if err != nil || again.ID != first.ID || !again.Repeat {
			t.Errorf("the same again: %v: %+v", err, again)
		}
		if _, err := s.Delegate(t.Context(), platform.Task{Target: s.w.ID(), Text: "x"}); platform.ReasonOf(err) != "self-delegation not permitted" {
			t.Errorf("to ourselves: %v", err)
		}
		if err := s.RecordDelegation(t.Context(), "mine", platform.Task{Target: peer.ID(), Text: "x"}); err != nil {
			t.Error(err)
		}
		if err := s.UpdateDelegation(t.Context(), "mine", platform.DelegationEnd{Status: "failed", Error: "no"}); err != nil {
			t.Error(err)
		}
		done := func() bool {
			rows, err := s.Delegations(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			seen := 0
			for _, row := range rows {
				if row.Preview == "did this" && row.DelegationID == first.ID && row.Status == "completed" || row.Error == "no" && row.DelegationID == "" {
					seen++
				}
			}
			return seen == 2
		}
		if err := s.p.Await(t.Context(), done); err != nil {
			t.Error(err)
		}
	})
}

func TestMemoryAndOthers(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	parent := s.p.Add(fakeplatform.Workspace{Shared: []fakeplatform.SharedFile{{Path: "a.md", Content: "A"}}})
	child := s.p.Add(fakeplatform.Workspace{Parent: parent.ID(), Instructions: "be good", Secrets: map[string]string{"K": "v"}})
	c := platform.New(platform.Config{URL: s.p.URL, Workspace: child.ID(), Token: platform.Token{Value: child.Token()}})
	t.Cleanup(func() { _ = c.Close() })
	kept, err := c.CommitMemory(t.Context(), platform.Memory{Content: "the sky is blue", Scope: "LOCAL"})
	if err != nil || kept.ID == "" || kept.Namespace == "" {
		t.Errorf("%v: %+v", err, kept)
	}
	found, _, err := c.RecallMemory(t.Context(), platform.Recall{Query: "sky"})
	if err != nil || len(found) != 1 || found[0].Content != kept.Content {
		t.Errorf("%v: %+v", err, found)
	}
	if _, err = c.CommitMemory(t.Context(), platform.Memory{Content: "x", Scope: "GLOBAL"}); platform.StatusOf(err) != 403 {
		t.Errorf("%v", err)
	}
	shared, err := c.SharedContext(t.Context(), parent.ID())
	if err != nil || len(shared) != 1 || shared[0].Content != "A" {
		t.Errorf("%v: %+v", err, shared)
	}
	if text, err := c.Instructions(t.Context()); err != nil || text != "be good" {
		t.Errorf("%v: %s", err, text)
	}
	if secrets, err := c.Secrets(t.Context()); err != nil || secrets["K"] != "v" {
		t.Errorf("%v: %v", err, secrets)
	}
	info, err := c.Workspace(t.Context())
	if err != nil || info.ID != child.ID() || !json.Valid(info.Raw) {
		t.Errorf("%v: %+v", err, info)
	}
	if n, err := c.Broadcast(t.Context(), "hear"); err != nil || n != 1 {
		t.Errorf("%v: %d", err, n)
	}
	if in, err := c.InstallPlugin(t.Context(), "local://p"); err != nil || in.Plugin != "p" {
		t.Errorf("%v: %+v", err, in)
	}
	asked, err := c.CreateRequest(t.Context(), platform.Ask{Kind: "task", Title: "do"})
	if err != nil || asked.ID == "" || len(child.Asks()) != 1 {
		t.Errorf("%v: %+v", err, asked)
	}
}

// TestOlderPlatform remembers what the platform does not have.
func TestOlderPlatform(t *testing.T) {
	s := newSite(t, fakeplatform.APR)
	for range 3 {
		if err := s.AckActivity(t.Context(), 1); !errors.Is(err, platform.ErrUnsupported) {
			t.Errorf("%v", err)
		}
		if _, err := s.CreateRequest(t.Context(), platform.Ask{Kind: "task", Title: "x"}); !errors.Is(err, platform.ErrUnsupported) {
			t.Errorf("%v", err)
		}
	}
	if n := len(s.p.Requests("*/ack", "*/requests")); n != 2 {
		t.Errorf("%d requests, want one of each", n)
	}
	// What stands in between is no older platform.
	s = newSite(t, fakeplatform.AUG)
	s.p.Behave("*/ack", fakeplatform.HTML404().Times(1))
	if err := s.AckActivity(t.Context(), 1); err == nil || errors.Is(err, platform.ErrUnsupported) {
		t.Errorf("%v", err)
	}
	if err := s.AckActivity(t.Context(), 1); err != nil || s.w.Acked() != 1 {
		t.Errorf("%v: %d", err, s.w.Acked())
	}
	s.p.Behave("*/ack", fakeplatform.Refuse(200, `{"last_acked_seq":"1"}`).Times(1))
	if _, err := s.Acknowledged(t.Context()); !errors.Is(err, platform.ErrNotUnderstood) {
		t.Errorf("%v", err)
	}
	if last, err := s.Acknowledged(t.Context()); err != nil || last != 1 {
		t.Errorf("%v: %d was acknowledged", err, last)
	}
}

func TestPermanent(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	for _, c := range []struct {
		how  fakeplatform.Rudeness
		want bool
	}{
		{fakeplatform.HTML404(), false}, {fakeplatform.Refuse(404), true}, {fakeplatform.Refuse(404, "404 page not found"), false}, {fakeplatform.Refuse(413, "Request Entity Too Large"), true}, {fakeplatform.Refuse(413, "<html>413</html>"), true}, {fakeplatform.Refuse(403, "denied"), true}, {fakeplatform.Refuse(403, `{"error":"talk_to_user_disabled"}`), true},
		{fakeplatform.Refuse(401), false}, {fakeplatform.Refuse(500), false}, {fakeplatform.TooMany(time.Hour), false},
	} {
		s.p.Behave("*/notify", c.how.Times(1))
		refused, ok := errors.AsType[*platform.Error](s.Notify(t.Context(), "hi"))
		if !ok || refused.Permanent() != c.want {
			t.Errorf("%v: permanent is not %t", refused, c.want)
		}
	}
}

// TestAnswersThatAreCutOff are no answers.
func TestAnswersThatAreCutOff(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	peer := s.p.Add(fakeplatform.Workspace{Name: "peer"})
	s.p.Behave("*/peers", fakeplatform.Cut(5).Times(1))
	if peers, err := s.Peers(t.Context()); err != nil || len(peers) != 1 || peers[0].ID != peer.ID() {
		t.Errorf("%v: %+v", err, peers)
	}
	s.p.Behave("*/memories", fakeplatform.Cut(5))
	_, err := s.CommitMemory(t.Context(), platform.Memory{Content: "x", Scope: "LOCAL"})
	if err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("%v", err)
	}
	if n := len(s.p.Requests("POST */memories")); n != 1 {
		t.Errorf("it was committed %d times", n)
	}
}

func TestActivity(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		s := newSite(t, era)
		long := strings.Repeat("ü", 300)
		for _, method := range []string{"a", "b", "c", "d"} {
			err := s.Activity(t.Context(), platform.Event{Type: "agent_log", Method: method, Status: "ok", Summary: long, Source: s.w.ID()})
			if err != nil {
				t.Fatal(err)
			}
		}
		methods := func(rows []platform.Row) (out string) {
			for _, row := range rows {
				out += row.Method
			}
			return out
		}
		rows, err := s.ActivityRows(t.Context(), platform.RowQuery{Type: "agent_log", Since: time.Minute})
		if err != nil || methods(rows) != "abcd" || len([]rune(rows[0].Summary)) != 256 || rows[0].FromPeer() != s.w.ID() {
			t.Fatalf("%v: %s", err, methods(rows))
		}
		after, err := s.ActivityRows(t.Context(), platform.RowQuery{After: rows[1].ID})
		if era == fakeplatform.APR {
			if !errors.Is(err, platform.ErrCursorIgnored) {
				t.Errorf("%v: %s", err, methods(after))
			}
			return
		}
		if err != nil || methods(after) != "cd" {
			t.Errorf("%v: %s", err, methods(after))
		}
		if _, err = s.ActivityRows(t.Context(), platform.RowQuery{After: "unknown"}); !errors.Is(err, platform.ErrCursorGone) {
			t.Errorf("%v", err)
		}
		if before, err := s.ActivityRows(t.Context(), platform.RowQuery{Before: rows[2].CreatedAt, Limit: 1, PeerInfo: true}); err != nil || methods(before) != "b" {
			t.Errorf("%v: %s", err, methods(before))
		}
	})
}
