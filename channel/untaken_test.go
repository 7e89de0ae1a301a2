package channel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// failing has a desk fail some calls as a platform that cannot hand a message on.
func failing(ops ...string) func(op string) error {
	return func(op string) error {
		if slices.Contains(ops, op) {
			return &platform.Error{Op: op, Status: 502}
		}
		return nil
	}
}

// TestUntakenReplies: those that another agent does not take are given up after a day, and
// can be sent again. Those to the user are tried on.
func TestUntakenReplies(t *testing.T) {
	longtest.Mark(t)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d, counts := &desk{fail: failing("send", "notify")}, &tally{}
		r := open(t, dir, d, &clerk{}, func(c *channel.Config) { c.Interval, c.Logger, c.Metrics = 10*time.Minute, nil, counts })
		defer r.stop()
		d.put("", "hello")
		for n := range 3 {
			d.put("p1", fmt.Sprint("x", n))
		}
		time.Sleep(23*time.Hour + 50*time.Minute)
		if dead, err := channel.Letters(t.Context(), r.store); len(dead) != 0 || err != nil {
			t.Errorf("within a day these were given up: %+v, %v", dead, err)
		}
		time.Sleep(30 * time.Minute)
		dead, err := channel.Letters(t.Context(), r.store)
		if len(dead) != 3 || err != nil || dead[2].Text != "re: x2" || !strings.Contains(dead[2].Why, "502") {
			t.Fatalf("given up: %+v, %v", dead, err)
		}
		if n := counts.get("replied " + ours + " false"); n != 3 {
			t.Errorf("%d are counted", n)
		}
		d.set(func() { d.fail = nil })
		time.Sleep(20 * time.Minute)
		if told, letters := d.told(), d.letters(); !slices.Equal(told, []string{"re: hello"}) || len(letters) != 0 {
			t.Errorf("the user was told %q, the agent %v", told, letters)
		}
		if err := r.store.RetryReply(t.Context(), dead[1].ID); err != nil {
			t.Fatal(err)
		}
		d.put("p1", "more")
		time.Sleep(20 * time.Minute)
		if letters := d.letters(); len(letters) != 2 || letters[0].Text != "re: x1" || letters[1].Text != "re: more" {
			t.Errorf("the agent was told %+v", letters)
		}
	})
}

// TestUntakenInAnOutage: a reply to another agent that has waited for days, because nothing
// could be sent, is tried for some minutes before it is given up.
func TestUntakenInAnOutage(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{fail: failing("send")}
		d.put("p1", "x")
		r := open(t, dir, d, &clerk{}, func(c *channel.Config) { c.Logger = nil })
		time.Sleep(500 * time.Millisecond)
		r.stop()
		time.Sleep(72 * time.Hour)
		r = open(t, dir, d, &clerk{}, func(c *channel.Config) { c.Logger = nil })
		defer r.stop()
		time.Sleep(2 * time.Minute)
		if dead, err := channel.Letters(t.Context(), r.store); len(dead) != 0 || err != nil {
			t.Errorf("given up: %+v, %v", dead, err)
		}
		d.set(func() { d.fail = nil })
		time.Sleep(2 * time.Minute)
		if letters := d.letters(); len(letters) != 1 {
			t.Errorf("the agent was told %+v", letters)
		}
	})
}

// TestUntakenRepliesCrowdNobodyOut: rows of other agents that are answered do not keep the
// user's out, however many of their replies are not taken.
func TestUntakenRepliesCrowdNobodyOut(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, dir)
		page := store.InboxPage{Workspace: ours}
		for n := range 5000 {
			page.Rows = append(page.Rows, store.InboxRow{Activity: fmt.Sprint(n), Kind: "peer", Chat: "peer:p", Peer: "p", State: store.InboxAnswered})
		}
		if _, err := s.AcceptInbox(t.Context(), page); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		d := &desk{}
		r := open(t, dir, d, &clerk{})
		defer r.stop()
		d.put("", "hello")
		time.Sleep(20 * time.Second)
		if told := d.told(); !slices.Equal(told, []string{"re: hello"}) {
			t.Errorf("the user was told %q", told)
		}
	})
}
