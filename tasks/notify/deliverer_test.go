package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/notify"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A bench is a store with notices in it.
type bench struct {
	*store.Store
	t *testing.T
}

func newBench(t *testing.T) *bench {
	s, err := store.Open(t.Context(), store.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &bench{s, t}
}

// end ends a task with a notice to a target.
func (b *bench) end(task, target string) {
	b.t.Helper()
	m := store.Message{TaskID: task, Job: "job-" + task, Body: []byte("{}")}
	head := store.Head{ID: task, State: "working", Body: []byte("{}")}
	body, _ := json.Marshal(notify.Body{Name: "name of " + task, State: "completed", Text: "text of " + task})
	n := store.Notice{Target: target, Body: body}
	if target != "" {
		n.Status, n.Due = store.NoticePending, time.Now()
	}
	err := b.Accept(b.t.Context(), m, head)
	if head.Ended = true; err == nil {
		err = b.Write(b.t.Context(), store.Change{Head: &head, Ended: []string{m.Job}, Notice: &n})
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// run starts a deliverer that ends with the test, or with stop. Its posts take longer
// than anything waits for them: one that was not answered in time would be made again.
func (b *bench) run(change ...func(*notify.Config)) (_ *notify.Deliverer, stop func()) {
	cfg := notify.Config{Journal: b.Store, Poster: push.NewPoster(netguard.New(netip.MustParsePrefix("127.0.0.0/8")), time.Minute, time.Now)}
	for _, f := range change {
		f(&cfg)
	}
	d := notify.New(cfg)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { d.Run(ctx) })
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		if cfg.Poster != nil {
			cfg.Poster.Close()
		}
	})
	b.t.Cleanup(stop)
	return d, stop
}

// until waits for the state of a notice.
func (b *bench) until(task, status string) store.Notice {
	b.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		n, err := b.Notice(b.t.Context(), task)
		if err == nil && n.Status == status {
			return n
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("the notice of %s is %+v, %v, and never %s", task, n, err, status)
		}
	}
}

// A hook is a webhook that counts.
type hook struct {
	*httptest.Server
	posts atomic.Int32
	last  atomic.Value // of string
}

func hookWith(t *testing.T, answer func(n int32, r *http.Request) int) *hook {
	h := &hook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.last.Store(string(body))
		w.WriteHeader(answer(h.posts.Add(1), r))
	}))
	t.Cleanup(h.Close)
	return h
}

func retry(t *testing.T, d *notify.Deliverer, dry bool) notify.Report {
	t.Helper()
	report, err := d.Retry(t.Context(), 0, dry)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// A platform is one whose places are known by their names.
type platform struct{ refuse atomic.Bool }

func (p *platform) Notify(context.Context, notify.Place, string, string) error {
	if p.refuse.Load() {
		return errors.New("the canvas is closed")
	}
	return nil
}

func TestTargets(t *testing.T) {
	b := newBench(t)
	h := hookWith(t, func(int32, *http.Request) int { return 200 })
	d, _ := b.run(func(c *notify.Config) { c.Platform = &platform{} })
	for task, target := range map[string]string{"one": notify.Local, "two": h.URL + "/hook", "three": "canvas"} {
		if err := d.Check(target); err != nil {
			t.Errorf("%s is refused: %v", target, err)
		}
		b.end(task, target)
		d.Wake()
		if n := b.until(task, store.NoticeSent); n.Sent.IsZero() || n.Error != "" || n.Tries != 0 {
			t.Errorf("%s: %+v", target, n)
		}
	}
	want := `{"text":"text of two","task_id":"name of two","hermes_task_id":"name of two","a2a_task_id":"two","status":"completed"}`
	if got := h.last.Load(); got != want || h.posts.Load() != 1 {
		t.Errorf("the hook was given %v", got)
	}
	if report := retry(t, d, false); report.Processed != 0 {
		t.Errorf("after all have arrived: %+v", report)
	}
}

// TestTargetsOfThePlatform: which targets are the platform's, and which place each is.
func TestTargetsOfThePlatform(t *testing.T) {
	b := newBench(t)
	at := make(chan notify.Place, 1)
	d, _ := b.run(func(c *notify.Config) { c.Platform = placed(at) })
	for target, want := range map[string]notify.Place{
		"canvas": {}, "user": {}, "peer:0f8c-1": {Peer: "0f8c-1"}, "slack:C042": {Service: "slack", Chat: "C042"}, "telegram:-100:7": {Service: "telegram", Chat: "-100:7"},
	} {
		if err := d.Check(target); err != nil {
			t.Errorf("%s is refused: %v", target, err)
			continue
		}
		b.end(target, target)
		d.Wake()
		if got := <-at; got != want {
			t.Errorf("%s is %+v", target, got)
		}
	}
	for _, target := range []string{"peer:", "peer:a/b", "peer: a", "Slack:C", "nobody", ":x", "slack:", "slack:" + strings.Repeat("x", 300), "ftp://x/"} {
		if err := d.Check(target); err == nil || !strings.Contains(err.Error(), "peer:<workspace id>") {
			t.Errorf("%q: %v", target, err)
		}
	}
}

// placed is a platform that says where it is to notify.
type placed chan notify.Place

func (p placed) Notify(_ context.Context, at notify.Place, _, _ string) error {
	p <- at
	return nil
}

func TestTargetsThatCannotBe(t *testing.T) {
	b := newBench(t)
	alone, _ := b.run()
	silent, _ := b.run(func(c *notify.Config) { c.Poster = nil })
	for target, d := range map[string]*notify.Deliverer{
		"canvas": alone, "ftp://x/": alone, "http://10.0.0.1/": alone, "http://u@127.0.0.1/": alone, "http://": alone, "": alone,
		"https://example.com/": silent,
	} {
		if err := d.Check(target); err == nil {
			t.Errorf("%q is not refused", target)
		}
	}
	if err := alone.Check("HTTP://127.0.0.1:1/x"); err != nil {
		t.Error(err)
	}
}

// TestRetry tries what has failed for good when somebody asks, in the order of the
// ends, and never what has arrived.
func TestRetry(t *testing.T) {
	b := newBench(t)
	var well atomic.Bool
	h := hookWith(t, func(int32, *http.Request) int {
		if well.Load() {
			return 204
		}
		return 410
	})
	p := &platform{}
	p.refuse.Store(true)
	now := time.Now().Add(time.Minute) // it stands still: nothing is tried again by itself
	d, _ := b.run(func(c *notify.Config) { c.Platform, c.Now = p, func() time.Time { return now } })
	b.end("hook", h.URL)
	b.end("none", "")
	b.end("place", "canvas")
	d.Wake()
	if n := b.until("hook", store.NoticeFailed); n.Error != "the receiver answered 410 Gone" || !n.Due.IsZero() || n.Tries != 1 {
		t.Errorf("refused: %+v", n)
	}
	if n := b.until("place", store.NoticeFailed); n.Error != "the canvas is closed" || n.Due.IsZero() {
		t.Errorf("refused by the platform: %+v", n)
	}
	lines := func(r notify.Report) (out []string) {
		for _, n := range r.Notifications {
			out = append(out, fmt.Sprintf("%s %s %s %v %s", n.TaskID, n.Target, n.Status, n.Sent, n.Error))
		}
		return out
	}
	dry := lines(retry(t, d, true))
	if want := []string{"hook " + h.URL + " dry_run false ", "none  no_target false ", "place canvas dry_run false "}; !slices.Equal(dry, want) {
		t.Errorf("dry run = %q", dry)
	}
	if h.posts.Load() != 1 {
		t.Error("a dry run has sent something")
	}
	well.Store(true)
	got := lines(retry(t, d, false))
	if want := []string{"hook " + h.URL + " sent true ", "none  no_target false ", "place canvas failed false the canvas is closed"}; !slices.Equal(got, want) {
		t.Errorf("retry = %q", got)
	}
	p.refuse.Store(false)
	report := retry(t, d, false)
	if got := lines(report); !slices.Equal(got, []string{"place canvas sent true "}) || report.Notifications[0].NotifiedAt == nil ||
		report.Notifications[0].Message != "text of place" || report.Notifications[0].Name != "name of place" {
		t.Errorf("retry = %+v", report)
	}
	if report := retry(t, d, false); report.Processed != 0 || h.posts.Load() != 2 {
		t.Errorf("after all have arrived: %+v, %d posts", report, h.posts.Load())
	}
}

// TestOneAtATime has many ask while a receiver takes its time: it gets one post.
func TestOneAtATime(t *testing.T) {
	b := newBench(t)
	entered, leave := make(chan struct{}), make(chan struct{})
	h := hookWith(t, func(int32, *http.Request) int {
		close(entered)
		<-leave
		return 200
	})
	d, _ := b.run()
	b.end("one", h.URL)
	d.Wake()
	<-entered
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			report, err := d.Retry(t.Context(), 0, false)
			if err != nil || len(report.Notifications) == 1 && (report.Notifications[0].Sent || report.Notifications[0].Status != store.NoticeSent) {
				t.Errorf("retry = %+v, %v", report, err)
			}
		})
	}
	close(leave)
	asking.Wait()
	if n := h.posts.Load(); n != 1 {
		t.Errorf("%d posts", n)
	}
}

// A forgetful journal does not take what became of notices.
type forgetful struct {
	notify.Journal
	ill atomic.Bool
}

func (f *forgetful) SetNotice(ctx context.Context, n store.Notice) error {
	if f.ill.Load() {
		return errors.New("disk full")
	}
	return f.Journal.SetNotice(ctx, n)
}

// TestFullDisk does not send again what has arrived, however often it must be tried
// to note that.
func TestFullDisk(t *testing.T) {
	b := newBench(t)
	h := hookWith(t, func(int32, *http.Request) int { return 200 })
	f := &forgetful{Journal: b.Store}
	f.ill.Store(true)
	d, _ := b.run(func(c *notify.Config) { c.Journal = f })
	b.end("one", h.URL)
	d.Wake()
	for h.posts.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := d.Retry(t.Context(), 0, false); err == nil {
		t.Error("nobody is told that nothing can be noted")
	}
	f.ill.Store(false)
	b.until("one", store.NoticeSent)
	if n := h.posts.Load(); n != 1 {
		t.Errorf("%d posts", n)
	}
}

// TestStop cuts a post that hangs; the next process makes it.
func TestStop(t *testing.T) {
	b := newBench(t)
	entered := make(chan struct{}, 2)
	h := hookWith(t, func(n int32, r *http.Request) int {
		entered <- struct{}{}
		if n == 1 {
			<-r.Context().Done()
		}
		return 200
	})
	d, stop := b.run()
	b.end("one", h.URL)
	d.Wake()
	<-entered
	stop()
	if n, err := b.Notice(t.Context(), "one"); err != nil || n.Status != store.NoticePending || n.Tries != 0 {
		t.Errorf("what was cut off is %+v, %v", n, err)
	}
	b.run()
	b.until("one", store.NoticeSent)
}

// TestReceiversThatHang keep nobody else waiting.
func TestReceiversThatHang(t *testing.T) {
	const hanging = 40 // more than are sent at once
	b := newBench(t)
	free := make(chan struct{})
	release := sync.OnceFunc(func() { close(free) })
	slow := hookWith(t, func(int32, *http.Request) int { <-free; return 200 })
	defer release()
	quick := hookWith(t, func(int32, *http.Request) int { return 200 })
	for i := range hanging {
		b.end(fmt.Sprintf("slow-%d", i), slow.URL)
	}
	d, _ := b.run()
	for deadline := time.Now().Add(time.Minute); slow.posts.Load() < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it is not posted to")
		}
	}
	b.end("quick", quick.URL)
	d.Wake()
	b.until("quick", store.NoticeSent)
	if n := slow.posts.Load(); n != 2 {
		t.Errorf("%d are posted to one host at once", n)
	}
	release()
	for i := range hanging {
		b.until(fmt.Sprintf("slow-%d", i), store.NoticeSent)
	}
	if slow.posts.Load() != hanging || quick.posts.Load() != 1 {
		t.Errorf("%d and %d posts", slow.posts.Load(), quick.posts.Load())
	}
}
