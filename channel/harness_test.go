package channel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const ours = "ws-1"

// A desk is a platform with one workspace.
type desk struct {
	mu    sync.Mutex
	rows  []platform.Row
	notes []string
	files [][]platform.Attachment
	peers []platform.Message
	acked []int64

	polls []time.Time
	read  int         // rows that polls behind a cursor were given, notes with them
	sends []time.Time // of notes and of messages to peers
	tried []string    // ids of messages to peers

	fail   func(op string) error                                                  // nil, or nil from it: it works
	lose   int                                                                    // notes that are shown, and whose answer is lost
	old    bool                                                                   // it knows no cursors
	pages  func(q platform.RowQuery, rows []platform.Row) ([]platform.Row, error) // nil, or what it makes of a poll
	looks  func(q platform.RowQuery, rows []platform.Row) ([]platform.Row, error) // the same, of a look for a note
	lag    time.Duration                                                          // of the answer to a look
	most   int                                                                    // rows of an answer that can be read; 0 for any
	upload func(files []platform.File) ([]platform.Attachment, error)
}

func (d *desk) failing(op string) error {
	if d.fail == nil {
		return nil
	}
	return d.fail(op)
}

// put adds a row of the user's, or of a peer's.
func (d *desk) put(source, text string, change ...func(*platform.Row)) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	seq := int64(len(d.rows) + 1)
	request, _ := json.Marshal(map[string]any{"params": map[string]any{"message": map[string]any{"parts": []any{map[string]any{"kind": "text", "text": text}}}}})
	r := platform.Row{
		ID: fmt.Sprintf("row-%d", seq), Workspace: ours, Type: "a2a_receive", Source: source, Method: "message/send", Status: "ok",
		Seq: seq, CreatedAt: time.Now(), RequestBody: request,
	}
	for _, f := range change {
		f(&r)
	}
	d.rows = append(d.rows, r)
	return r.ID
}

func (d *desk) ActivityRows(ctx context.Context, q platform.RowQuery) ([]platform.Row, error) {
	if q.Source != "" && !sleep.For(ctx, d.lag) {
		return nil, ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	op := "poll"
	if q.Source != "" {
		op = "look"
	} else {
		d.polls = append(d.polls, time.Now())
	}
	if err := d.failing(op); err != nil {
		return nil, err
	}
	out := slices.Clone(d.rows)
	if d.pages != nil && op == "poll" {
		return d.pages(q, out)
	}
	if q.Source == "canvas" {
		out = slices.DeleteFunc(out, func(r platform.Row) bool { return r.Source != "" })
	}
	if q.After == "" { // the newest page
		if !q.Before.IsZero() {
			out = slices.DeleteFunc(out, func(r platform.Row) bool { return !r.CreatedAt.Before(q.Before) })
		}
		out = out[max(0, len(out)-q.Limit):]
		if d.looks != nil && op == "look" {
			return d.looks(q, out)
		}
		return out, nil
	}
	if d.old {
		return nil, platform.ErrCursorIgnored
	}
	at := slices.IndexFunc(out, func(r platform.Row) bool { return r.ID == q.After })
	if at < 0 {
		return nil, platform.ErrCursorGone
	}
	out = out[at+1:]
	out = out[:min(len(out), q.Limit)]
	if d.most > 0 && len(out) > d.most {
		return nil, platform.ErrTooMuch
	}
	d.read += len(out)
	return out, nil
}

func (d *desk) AckActivity(_ context.Context, seq int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.failing("ack"); err != nil {
		return err
	}
	d.acked = append(d.acked, seq)
	return nil
}

func (d *desk) Acknowledged(context.Context) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.failing("acknowledged"); err != nil || len(d.acked) == 0 {
		return 0, err
	}
	return slices.Max(d.acked), nil
}

func (d *desk) Notify(_ context.Context, text string, files ...platform.Attachment) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sends = append(d.sends, time.Now())
	if err := d.failing("notify"); err != nil {
		return err
	}
	d.notes, d.files = append(d.notes, text), append(d.files, files)
	answer, _ := json.Marshal(map[string]string{"message": text})
	seq := int64(len(d.rows) + 1)
	d.rows = append(d.rows, platform.Row{
		ID: fmt.Sprintf("note-%d", seq), Workspace: ours, Type: "a2a_receive", Method: "notify", Seq: seq, CreatedAt: time.Now(), ResponseBody: answer,
	})
	if d.lose > 0 {
		d.lose--
		return unavailable()
	}
	return nil
}

func (d *desk) Send(_ context.Context, target string, m platform.Message) (platform.Reply, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sends, d.tried = append(d.sends, time.Now()), append(d.tried, m.ID)
	if err := d.failing("send"); err != nil {
		return platform.Reply{}, err
	}
	m.Context = target
	d.peers = append(d.peers, m)
	return platform.Reply{Queued: true}, nil
}

func (d *desk) Upload(_ context.Context, files ...platform.File) ([]platform.Attachment, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.upload == nil {
		return nil, unavailable()
	}
	return d.upload(files)
}

func (d *desk) told() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.notes)
}

// look returns what f sees of the desk.
func look[T any](d *desk, f func() T) T {
	d.mu.Lock()
	defer d.mu.Unlock()
	return f()
}

func (d *desk) acks() []int64 { return look(d, func() []int64 { return slices.Clone(d.acked) }) }

func (d *desk) letters() []platform.Message {
	return look(d, func() []platform.Message { return slices.Clone(d.peers) })
}

func (d *desk) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

func unavailable() error { return &platform.Error{Op: "test", Status: 503} }

// A clerk is an engine that answers each message at once, in a task of its own.
type clerk struct {
	mu    sync.Mutex
	given []channel.Message
	busy  int // messages that are refused for now
	files []channel.File
	asked atomic.Int32 // fetches
}

func (c *clerk) Give(_ context.Context, m channel.Message) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy > 0 {
		c.busy--
		return "", channel.ErrNotNow
	}
	if strings.HasPrefix(m.Text, "refuse") {
		return "", &channel.RefusedError{Text: "[codex error] no"}
	}
	c.given = append(c.given, m)
	return "task " + m.ID + " " + m.Text, nil
}

func (c *clerk) Follow(_ context.Context, task string, say func(channel.Answer) error) error {
	c.mu.Lock()
	files := c.files
	c.mu.Unlock()
	_, text, _ := strings.Cut(strings.TrimPrefix(task, "task "), " ")
	if strings.HasPrefix(text, "wait") {
		if err := say(channel.Answer{ID: task + "-wait", Text: "waits", ForUser: "log in"}); err != nil {
			return err
		}
	}
	return say(channel.Answer{ID: task + "-reply", Text: "re: " + text, Files: files, Final: true})
}

func (c *clerk) setBusy(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = n
}

func (c *clerk) Over(context.Context, string) bool { return true }

func (c *clerk) texts() (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.given {
		out = append(out, m.Text)
	}
	return out
}

// shelf is files that are all there, but one.
type shelf struct{ asked *atomic.Int32 }

func (s shelf) Fetch(_ context.Context, f channel.File) (string, error) {
	if s.asked != nil {
		s.asked.Add(1)
	}
	if f.Name == "withheld" {
		return "", unavailable()
	}
	return "workspace:/" + f.Name, nil
}
func (shelf) Open(f channel.File) (platform.File, error) { return platform.File{Name: f.Name}, nil }

// A room is a channel that runs, with its store.
type room struct {
	t     *testing.T
	store *store.Store
	desk  *desk
	clerk *clerk
	stop  func()
}

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newChannel(t *testing.T, s *store.Store, d *desk, c *clerk, change ...func(*channel.Config)) *channel.Channel {
	cfg := channel.Config{
		Store: s, Engine: c, Workspaces: []channel.Workspace{{ID: ours, Platform: d, Files: shelf{&c.asked}}},
		Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, f := range change {
		f(&cfg)
	}
	return channel.New(cfg)
}

// open runs a channel on a store in a directory, until stop is called.
func open(t *testing.T, dir string, d *desk, c *clerk, change ...func(*channel.Config)) *room {
	t.Helper()
	r := &room{t: t, store: openStore(t, dir), desk: d, clerk: c}
	ch := newChannel(t, r.store, d, c, change...)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := ch.Run(ctx, nil, nil); err != nil {
			t.Error(err)
		}
	})
	r.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		if err := r.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}
