package channel_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// within runs a test with a channel of its own, on a clock of its own.
func within(t *testing.T, d *desk, c *clerk, test func(t *testing.T, r *room)) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := open(t, dir, d, c)
		defer func() { r.stop() }()
		test(t, r)
	})
}

// TestTakenOnce: a busy engine is waited for, and what it refuses is said.
func TestTakenOnce(t *testing.T) {
	c := &clerk{busy: 3}
	within(t, &desk{}, c, func(t *testing.T, r *room) {
		r.desk.put("", "one")
		r.desk.put("", "refuse this")
		r.desk.put("", "two")
		time.Sleep(time.Minute)
		if given := c.texts(); !slices.Equal(given, []string{"one", "two"}) {
			t.Errorf("given: %q", given)
		}
		if told := r.desk.told(); !slices.Equal(told, []string{"re: one", "[codex error] no", "re: two"}) {
			t.Errorf("the user was told %q", told)
		}
		if acked := r.desk.acks(); len(acked) == 0 || acked[len(acked)-1] != 6 {
			t.Errorf("acknowledged: %v", acked)
		}
	})
}

// TestOrder: tasks of a chat that end at the same time are answered in their order.
func TestOrder(t *testing.T) {
	within(t, &desk{}, &clerk{}, func(t *testing.T, r *room) {
		var want []string
		for n := range 60 {
			text := fmt.Sprint("message ", n)
			r.desk.put("", text)
			want = append(want, "re: "+text)
		}
		time.Sleep(time.Minute)
		if told := r.desk.told(); !slices.Equal(told, want) {
			t.Errorf("the user was told %q", told)
		}
	})
}

// TestLostAnswer: a note that was shown is not sent again, whatever its answer was.
func TestLostAnswer(t *testing.T) {
	within(t, &desk{lose: 1}, &clerk{}, func(t *testing.T, r *room) {
		r.desk.put("", "one")
		time.Sleep(time.Minute)
		r.desk.put("", "one")
		time.Sleep(time.Minute)
		if told := r.desk.told(); !slices.Equal(told, []string{"re: one", "re: one"}) {
			t.Errorf("the user was told %q", told)
		}
	})
}

// TestPrefix: what is not answered yet is not acknowledged, and nothing behind it.
func TestPrefix(t *testing.T) {
	d := &desk{}
	d.fail = func(op string) error {
		if op == "send" {
			return &platform.Error{Status: 429}
		}
		return nil
	}
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d.put("", "one") // all are there before anything is answered: answers are rows, too
		d.put("p1", "two")
		d.put("", "three")
		r := open(t, dir, d, &clerk{})
		defer r.stop()
		time.Sleep(time.Minute)
		if acked := d.acks(); !slices.Equal(acked, []int64{1}) {
			t.Errorf("acknowledged: %v", acked)
		}
		d.set(func() { d.fail = nil })
		time.Sleep(2 * time.Minute)
		if acked := d.acks(); acked[len(acked)-1] != 5 || len(d.letters()) != 1 {
			t.Errorf("acknowledged: %v, the peer has %v", acked, d.letters())
		}
		if m := d.letters()[0]; m.Metadata[platform.NoAnswer] != true || m.Context != "p1" || m.Text != "re: two" {
			t.Errorf("the peer has %+v", m)
		}
	})
}

// TestReplyIsTold: of what a peer has got the workspace is told once, of nothing else.
func TestReplyIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures, told := 2, []string(nil)
		d := &desk{fail: func(op string) error {
			if op == "send" && failures > 0 {
				failures--
				return unavailable()
			}
			return nil
		}}
		runWith(t, channel.Config{Engine: &clerk{}, Workspaces: []channel.Workspace{{
			ID: ours, Platform: d, Files: shelf{}, Replied: func(peer, text string) { told = append(told, peer+" "+text) },
		}}})
		d.put("", "one")
		d.put("p1", "two")
		time.Sleep(2 * time.Minute)
		if synctest.Wait(); !slices.Equal(told, []string{"p1 re: two"}) {
			t.Errorf("told of %q", told)
		}
	})
}

// TestPeerSeesOneMessage: a message to a peer that is sent again is the same one.
func TestPeerSeesOneMessage(t *testing.T) {
	d := &desk{fail: func(op string) error {
		if op == "send" {
			return unavailable()
		}
		return nil
	}}
	within(t, d, &clerk{}, func(t *testing.T, _ *room) {
		d.put("p1", "hello")
		time.Sleep(time.Minute)
		if tried := look(d, func() []string { return slices.Clone(d.tried) }); len(tried) < 2 || len(slices.Compact(tried)) != 1 {
			t.Errorf("tried: %q", tried)
		}
	})
}

// TestOldAck: a platform that wants no acknowledgements is asked again when it may be another one.
func TestOldAck(t *testing.T) {
	d := &desk{old: true}
	asked := 0
	d.fail = func(op string) error {
		if op == "ack" {
			asked++
			return platform.ErrUnsupported
		}
		return nil
	}
	within(t, d, &clerk{}, func(t *testing.T, r *room) {
		for range 3 {
			d.put("", "hello")
			time.Sleep(10 * time.Second)
		}
		if told, asked := d.told(), look(d, func() int { return asked }); len(told) != 3 || asked != 1 {
			t.Errorf("the user was told %q, %d acknowledgements", told, asked)
		}
		time.Sleep(10 * time.Minute)
		if asked := look(d, func() int { return asked }); asked != 2 {
			t.Errorf("%d acknowledgements after ten minutes", asked)
		}
	})
}

// TestRestart: what an earlier process has accepted, given or answered comes to its end,
// and nothing happens twice.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d, c := &desk{}, &clerk{}
		d.fail = func(op string) error {
			if op == "notify" {
				return unavailable()
			}
			return nil
		}
		r := open(t, dir, d, c)
		d.put("", "one")
		time.Sleep(7 * time.Second)
		r.stop()
		c.setBusy(1 << 20)
		d.set(func() { d.fail = nil })
		r = open(t, dir, d, c)
		time.Sleep(time.Second)
		d.put("", "two")
		time.Sleep(20 * time.Second)
		r.stop()
		if told := d.told(); !slices.Equal(told, []string{"re: one"}) {
			t.Errorf("the user was told %q", told)
		}
		c.setBusy(0)
		r = open(t, dir, d, c)
		time.Sleep(20 * time.Second)
		r.stop()
		if told := d.told(); !slices.Equal(told, []string{"re: one", "re: two"}) || len(c.texts()) != 2 {
			t.Errorf("the user was told %q, given %q", told, c.texts())
		}
	})
}

// TestAttachments are put on the platform first, and not fetched back from there.
func TestAttachments(t *testing.T) {
	d, c := &desk{}, &clerk{files: []channel.File{{URI: "workspace:/w/plan.txt", Name: "plan.txt"}}}
	d.upload = func(files []platform.File) ([]platform.Attachment, error) {
		return []platform.Attachment{{URI: "platform-pending:ws-1/f1", Name: files[0].Name}}, nil
	}
	within(t, d, c, func(t *testing.T, r *room) {
		d.put("", "one")
		time.Sleep(10 * time.Second)
		files := look(d, func() [][]platform.Attachment { return slices.Clone(d.files) })
		if len(files) != 1 || len(files[0]) != 1 || files[0][0].Name != "plan.txt" {
			t.Fatalf("the user has %v", files)
		}
		ours, err := r.store.InboxHas(t.Context(), "ws-1", "handed out: platform-pending:ws-1/f1")
		if err != nil || !ours {
			t.Errorf("the file is not known as ours: %t, %v", ours, err)
		}
		d.set(func() { d.upload = nil }) // 503 from now on
		d.put("", "two")
		time.Sleep(2 * time.Minute)
		if told := d.told(); len(told) != 2 || told[1] != "re: two\n\n(Not attached: plan.txt; the platform does not take them.)" {
			t.Errorf("the user was told %q", told)
		}
	})
}
