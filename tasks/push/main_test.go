package push

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A bench is a state directory with an outbox, and a deliverer after the other.
type bench struct {
	t    *testing.T
	dir  string
	st   *store.Store
	log  lines
	age  time.Duration // that everything has when it is posted
	stop func()
	put  int

	now       func() time.Time  // nil means the real clock, ahead by the age
	timeout   time.Duration     // of a post
	transport http.RoundTripper // nil posts in earnest
}

// newBench has posts take longer than anything waits for them: one that was made
// and not answered in time would be made again.
func newBench(t *testing.T) *bench {
	b := &bench{t: t, dir: t.TempDir(), timeout: time.Minute}
	b.open()
	t.Cleanup(b.close)
	return b
}

func (b *bench) open() {
	b.t.Helper()
	var err error
	if b.st, err = store.Open(b.t.Context(), store.Config{Dir: b.dir}); err != nil {
		b.t.Fatal(err)
	}
}

// run starts a deliverer that may post to the networks.
func (b *bench) run(networks ...string) *Deliverer {
	var allowed []netip.Prefix
	for _, n := range networks {
		allowed = append(allowed, netip.MustParsePrefix(n))
	}
	d := New(Config{
		Outbox: b.st, Guard: netguard.New(allowed...), Timeout: b.timeout, Now: b.clock(), Sender: senderOf,
		Logger: slog.New(slog.NewJSONHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if b.transport != nil {
		d.posts.poster.client.Transport = b.transport
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { d.Run(ctx) })
	b.stop = func() {
		cancel()
		running.Wait()
	}
	return d
}

func (b *bench) clock() func() time.Time {
	if b.now != nil {
		return b.now
	}
	return func() time.Time { return time.Now().Add(b.age) }
}

const loopback = "127.0.0.0/8"

func (b *bench) close() {
	if b.stop != nil {
		b.stop()
		b.stop = nil
	}
	if err := b.st.Close(); err != nil {
		b.t.Error(err)
	}
}

// restart is the end of a process and the start of the next.
func (b *bench) restart() {
	b.t.Helper()
	b.close()
	b.open()
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// senderOf has each peer be called as its conversation is.
func senderOf(conversation string) Sender {
	if strings.HasPrefix(conversation, "peer") {
		return Sender{Name: conversation, Peer: true}
	}
	return Sender{Name: conversation}
}

// task makes a task of the user's with settings.
func (b *bench) task(id string, settings ...Setting) {
	b.t.Helper()
	b.taskOf("", id, settings...)
}

func (b *bench) taskOf(sender, id string, settings ...Setting) {
	b.t.Helper()
	m := store.Message{TaskID: id, Job: "job-" + id, Conversation: sender, Body: []byte("{}")}
	b.must(b.st.Accept(b.t.Context(), m, store.Head{ID: id, Conversation: sender, State: "working", Body: []byte("{}")}))
	for _, s := range settings {
		b.set(id, s)
	}
}

func (b *bench) set(task string, s Setting) {
	b.t.Helper()
	row, err := s.Encode()
	b.must(err)
	b.must(b.st.SetPush(b.t.Context(), task, row))
}

// tell puts notifications into the outbox; their payloads are what they are.
func (b *bench) tell(task, setting string, payloads ...string) {
	b.t.Helper()
	var all []store.Delivery
	for _, p := range payloads {
		b.put++
		d := Notification{fmt.Sprintf("%s/1.%d", task, b.put), V1, []byte(p)}.Delivery()
		d.Target = setting
		all = append(all, d)
	}
	b.must(b.st.Write(b.t.Context(), store.Change{Task: task, Outbox: all}))
}

// tire makes as many tries of what is in the outbox as it has in any case.
func (b *bench) tire() {
	b.t.Helper()
	rows, err := b.st.Deliveries(b.t.Context(), Kind, 0, 1000)
	b.must(err)
	for _, row := range rows {
		for tries := row.Tries; !deliver.IsOver(tries+1, 2*store.Patience); tries++ {
			b.must(b.st.PutOffDelivery(b.t.Context(), row.ID, time.Now()))
		}
	}
}

// empty waits until nothing is left to be posted.
func (b *bench) empty() {
	b.t.Helper()
	eventually(b.t, "an empty outbox", func() bool {
		left, err := b.st.Deliveries(b.t.Context(), Kind, 0, 1)
		b.must(err)
		return len(left) == 0
	})
}

// failed waits until it is noted that the first delivery has failed once, and returns
// when it is due again.
func (b *bench) failed() (due time.Time) {
	b.t.Helper()
	eventually(b.t, "the failure", func() bool {
		left, err := b.st.Deliveries(b.t.Context(), Kind, 0, 1)
		b.must(err)
		due = left[0].Due
		return left[0].Tries == 1
	})
	return due
}

// eventually waits for less time than a post takes that hangs.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

func setting(id, url string) Setting {
	return Setting{Version: V1, Config: a2a.PushConfig{ID: id, URL: url}}
}

// A receiver keeps what it is posted, and answers as it is told.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	got  []posted
	then func(n int, w http.ResponseWriter, r *http.Request) // n counts from 1; nil answers 204
}

type posted struct {
	path, body string
	header     http.Header
}

func newReceiver(t *testing.T, then func(n int, w http.ResponseWriter, r *http.Request)) *receiver {
	r := &receiver{then: then}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	r.got = append(r.got, posted{req.URL.Path, string(body), req.Header})
	n := len(r.got)
	r.mu.Unlock()
	if r.then == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	r.then(n, w, req)
}

func (r *receiver) all() []posted {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

func (r *receiver) bodies() []string {
	var out []string
	for _, p := range r.all() {
		out = append(out, p.body)
	}
	return out
}

// lines is what was logged.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
