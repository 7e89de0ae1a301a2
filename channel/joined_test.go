package channel_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// joint is an engine in which every message is part of one task, that has said all it has
// to say when it ends.
type joint struct {
	clerk
	end     chan struct{} // closed when the task ends
	follows atomic.Int32  // those that are under way
	most    atomic.Int32
}

func (j *joint) Give(ctx context.Context, m channel.Message) (string, error) {
	_, err := j.clerk.Give(ctx, m)
	return "t", err
}

func (j *joint) Follow(_ context.Context, _ string, say func(channel.Answer) error) error {
	j.most.Store(max(j.most.Load(), j.follows.Add(1)))
	defer j.follows.Add(-1)
	err := say(channel.Answer{ID: "t-reply", Text: "both", Final: true})
	<-j.end
	return err
}

// runWith runs a channel on parts of the test's own, until the test ends.
func runWith(t *testing.T, cfg channel.Config) {
	t.Helper()
	s := openStore(t, t.TempDir())
	cfg.Store = s
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- channel.New(cfg).Run(ctx, nil, nil) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		s.Close()
	})
}

// TestJoined: a row that becomes part of a task when that has said its last is answered by
// it, once, and nobody follows the task twice.
func TestJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, j := &desk{}, &joint{end: make(chan struct{})}
		runWith(t, channel.Config{Engine: j, Workspaces: []channel.Workspace{{ID: ours, Platform: d, Files: shelf{}}}})
		d.put("", "one")
		time.Sleep(10 * time.Second) // it is answered
		d.put("", "two")
		time.Sleep(10 * time.Second)
		close(j.end)
		time.Sleep(10 * time.Second)
		if told := d.told(); !slices.Equal(told, []string{"both"}) || j.most.Load() != 1 {
			t.Errorf("the user was told %q, by %d", told, j.most.Load())
		}
		if acked := d.acks(); len(acked) == 0 || acked[len(acked)-1] != 3 {
			t.Errorf("acknowledged: %v", acked)
		}
	})
}

// A late is an engine whose tasks end when they are told to.
type late struct {
	clerk
	end chan struct{}
}

func (l *late) Follow(ctx context.Context, task string, say func(channel.Answer) error) error {
	<-l.end
	return l.clerk.Follow(ctx, task, say)
}

func (l *late) Over(context.Context, string) bool {
	select {
	case <-l.end:
		return true
	default:
		return false
	}
}

// TestQuitSaysTheLast: what ends while we wait to leave is said before we do.
func TestQuitSaysTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, t.TempDir())
		defer s.Close()
		d, l, quit := &desk{}, &late{end: make(chan struct{})}, make(chan struct{})
		d.put("", "one")
		time.AfterFunc(10*time.Second, func() { close(quit) })
		c := channel.New(channel.Config{Store: s, Engine: l, Workspaces: []channel.Workspace{{ID: ours, Platform: d, Files: shelf{}}}})
		err := c.Run(t.Context(), quit, func(context.Context) error {
			close(l.end)
			return nil
		})
		if told := d.told(); err != nil || !slices.Equal(told, []string{"re: one"}) {
			t.Errorf("the user was told %q, %v", told, err)
		}
	})
}

// TestPeersAmongThemselves: the ninth message of a peer in a row is read and not answered,
// and no peer gets files of this machine.
func TestPeersAmongThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, c := &desk{}, &clerk{files: []channel.File{{URI: "workspace:/w/plan.txt", Name: "plan.txt"}}}
		runWith(t, channel.Config{Engine: c, Workspaces: []channel.Workspace{{ID: ours, Platform: d, Files: shelf{}}}})
		d.upload = func([]platform.File) ([]platform.Attachment, error) {
			return []platform.Attachment{{URI: "platform-pending:ws-1/f1", Name: "plan.txt"}}, nil
		}
		for range 9 {
			d.put("p1", "hello")
		}
		d.put("p2", "hello")
		time.Sleep(20 * time.Second)
		if n := len(d.letters()); n != 9 || len(c.texts()) != 10 {
			t.Errorf("%d messages were answered, %d read", n, len(c.texts()))
		}
		d.put("", "go on")
		time.Sleep(10 * time.Second)
		d.put("p1", "hello")
		time.Sleep(10 * time.Second)
		if n := len(d.letters()); n != 10 {
			t.Errorf("%d messages were answered when the user has spoken", n)
		}
		if text := d.letters()[0].Text; text != "re: hello\n\n(Not attached: plan.txt; files go to the user only.)" {
			t.Errorf("the peer has %q", text)
		}
	})
}

// TestAwaited: the end of a delegation is codex's to hear once: from the call that waits
// for it, or else from the inbox.
func TestAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, c := &desk{}, &clerk{}
		awaited := func(id string) (waits, told bool) { return id == "row-1", id == "row-2" }
		runWith(t, channel.Config{Engine: c, Workspaces: []channel.Workspace{{ID: ours, Platform: d, Files: shelf{}, Awaited: awaited}}})
		for range 3 {
			d.put("", "it is done", func(r *platform.Row) { r.Method = "delegate_result" })
		}
		time.Sleep(10 * time.Second)
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.given) != 1 || c.given[0].ID != "row-3" || !c.given[0].Own {
			t.Errorf("given: %+v", c.given)
		}
	})
}

// A slowDesk has peers that take their time.
type slowDesk struct {
	*desk
	now, most atomic.Int32
}

func (d *slowDesk) Send(ctx context.Context, target string, m platform.Message) (platform.Reply, error) {
	d.most.Store(max(d.most.Load(), d.now.Add(1)))
	defer d.now.Add(-1)
	time.Sleep(time.Second)
	return d.desk.Send(ctx, target, m)
}

// TestSlowPeers: so many replies to peers are under way at the same time, and no more.
func TestSlowPeers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &slowDesk{desk: &desk{}}
		runWith(t, channel.Config{Engine: &clerk{}, Workspaces: []channel.Workspace{{ID: ours, Platform: d, Files: shelf{}}}})
		for n := range 90 {
			d.put(fmt.Sprint("p", n), "hello")
		}
		time.Sleep(time.Minute)
		if most := d.most.Load(); most != 32 || len(d.letters()) != 90 {
			t.Errorf("%d at the same time, %d in all", most, len(d.letters()))
		}
	})
}
