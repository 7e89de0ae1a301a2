package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// A depot has files of a size, counts what it was asked for, and knows what it has.
type depot struct {
	cabinet
	size int64
	most int64                   // of all; 0 bounds nothing
	fail func(name string) error // may be nil
	gate chan struct{}           // if set, Stage sends on it and receives before it goes on

	mu    sync.Mutex
	asked int
	has   []string      // URIs, sorted
	peer  bool          // it was said to be another agent's
	held  int           // files that are held for a message
	moved chan struct{} // closed when the two above have changed; nil if that is not waited for
}

func (d *depot) Stage(_ context.Context, key string, p *a2a.Part, most int64, peer bool) (attach.File, error) {
	if d.gate != nil {
		d.gate <- struct{}{}
		<-d.gate
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	if d.fail != nil {
		if err := d.fail(p.Filename); err != nil {
			return attach.File{}, err
		}
	}
	if d.size > most {
		return attach.File{}, fmt.Errorf("%w: %w", attach.ErrNoFile, attach.ErrTooLarge)
	}
	d.peer = peer
	d.held++
	f := attach.File{URI: "workspace:/w/" + p.Filename, Name: p.Filename, Stored: p.Filename, Peer: peer, Size: d.size, Staged: true, Own: !strings.HasPrefix(string(p.URL()), "platform-pending:")}
	if !slices.Contains(d.has, f.URI) {
		d.has = append(d.has, f.URI)
	}
	return f, nil
}

func (d *depot) Release(files []attach.File) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held -= len(files)
	d.tell()
}

// Most leaves as little as a test with files of a few MiB needs.
func (d *depot) Most(peer bool) int64 {
	if d.most == 0 {
		return d.cabinet.Most(peer)
	}
	if peer {
		return d.most / 4
	}
	return d.most
}

func (d *depot) Drop(uris []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, gone := range uris {
		d.has = slices.DeleteFunc(d.has, func(uri string) bool { return uri == gone })
	}
	d.tell()
}

// tell says that something has changed. The caller holds d.mu.
func (d *depot) tell() {
	if d.moved != nil {
		close(d.moved)
		d.moved = nil
	}
}

func (d *depot) found() (asked int, has string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked, strings.Join(d.has, " ")
}

// bringing is a message with n files at URLs.
func bringing(id string, n int, scheme string) *a2a.SendMessageRequest {
	req := request(id, "c", "look")
	for i := range n {
		p := a2a.NewFileURLPart(a2a.URL(fmt.Sprintf("%s:x/%d", scheme, i)), "")
		p.Filename = fmt.Sprint("f", i)
		req.Message.Parts = append(req.Message.Parts, p)
	}
	return req
}

// TestFilesOfAMessageAreBounded by their number before one is fetched, and by their bytes
// all together; what came before one that is too much does not stay.
func TestFilesOfAMessageAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		n      int
		scheme string
		size   int64
		asked  int
		refuse string
	}{
		"as many as may be":     {n: 20, scheme: "http", size: 5 << 20, asked: 20},
		"one more":              {n: 21, scheme: "HTTPS", size: 1, refuse: "21 files by URL, and at most 20"},
		"as many of a platform": {n: 100, scheme: "platform-pending", size: 1, asked: 100},
		"one more of it":        {n: 101, scheme: "platform-pending", size: 1, refuse: "101 files that the platform holds"},
		"too many bytes":        {n: 4, scheme: "http", size: 40 << 20, asked: 3, refuse: "more than 100 MiB together"},
		"each too large":        {n: 3, scheme: "http", size: 101 << 20, asked: 3},
		"no URLs to fetch":      {n: 256, scheme: "workspace", asked: 256},
		"one more of these":     {n: 257, scheme: "workspace", refuse: "names 257 files of the workspace"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &depot{size: c.size}
			r := newRunner()
			e := newEngine(t, r, func(cfg *tasks.Config) { cfg.Files = d })
			_, err := e.SendMessage(t.Context(), returning(bringing("m1", c.n, c.scheme)))
			if (err != nil) != (c.refuse != "") || err != nil && (!errors.Is(err, a2a.ErrInvalidParams) || !strings.Contains(err.Error(), c.refuse)) {
				t.Errorf("%v, want %q", err, c.refuse)
			}
			asked, has := d.found()
			if asked != c.asked || c.refuse != "" && has != "" {
				t.Errorf("%d files were asked for, want %d; there are %q", asked, c.asked, has)
			}
		})
	}
}

// TestFilesOfARefusedMessageAreNotFetched: there is no room for the message, its task is
// not there, what it asks for is not to be had, or it is too long.
func TestFilesOfARefusedMessageAreNotFetched(t *testing.T) {
	d := &depot{}
	r := &full{runner: newRunner()}
	e := newEngine(t, r.runner, func(c *tasks.Config) { c.Files, c.Runner = d, r })
	running := begin(t, e, bringing("m1", 2, "http"))
	j := r.next(t)
	begun(j)
	before, _ := d.found()
	r.is = true
	refused := func(name string, change func(*a2a.SendMessageRequest), want string) {
		t.Helper()
		req := bringing(name, 2, "http")
		change(req)
		if _, err := e.SendMessage(t.Context(), returning(req)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if asked, _ := d.found(); asked != before {
			t.Errorf("%s: %d files were fetched", name, asked-before)
		}
	}
	refused("queue", func(*a2a.SendMessageRequest) {}, "no room; send this one again later")
	refused("task", func(r *a2a.SendMessageRequest) { r.Message.TaskID, r.Message.ContextID = "none", "" }, "there is no task")
	refused("wish", func(r *a2a.SendMessageRequest) { r.Message.Metadata = map[string]any{keys.Model: 7} }, "must be a text")
	refused("long", func(r *a2a.SendMessageRequest) {
		r.Message.Parts[0] = a2a.NewTextPart(strings.Repeat("x", 1<<20+1))
	}, "characters")
	refused("known", func(r *a2a.SendMessageRequest) { r.Message.ID, r.Message.Parts = "m1", r.Message.Parts[1:] }, "used before")
	again, err := e.SendMessage(t.Context(), returning(bringing("m1", 2, "http")))
	if err != nil || again.TaskInfo().TaskID != running.ID {
		t.Errorf("a message that is known: %v, %v", again, err)
	}
	retry := bringing("m1", 2, "http")
	retry.Message.Metadata = map[string]any{keys.Retry: true}
	again, err = e.SendMessage(t.Context(), returning(retry))
	if err != nil || again.TaskInfo().TaskID != running.ID {
		t.Errorf("a message that is known, once more: %v, %v", again, err)
	}
}

// TestKnownFilesAreNotFetchedAgain, whatever became of the task, and whatever bound the
// message is beyond by now.
func TestKnownFilesAreNotFetchedAgain(t *testing.T) {
	d := &depot{}
	r := newRunner()
	e := newEngine(t, r, func(c *tasks.Config) { c.Files = d })
	running := begin(t, e, bringing("m1", 3, "http"))
	before, has := d.found()
	for _, state := range []string{"waits", "runs", "has ended"} {
		switch state {
		case "runs":
			begun(r.next(t))
		case "has ended":
			r.jobs[0].observe(agent.Ended{Outcome: agent.Completed})
		}
		again, err := e.SendMessage(t.Context(), returning(bringing("m1", 3, "http")))
		if err != nil || again.TaskInfo().TaskID != running.ID {
			t.Errorf("one that %s: %v, %v", state, again, err)
		}
		if asked, now := d.found(); asked != before || now != has {
			t.Errorf("one that %s: %d files were fetched again, there are %q", state, asked-before, now)
		}
	}
}

// TestFilesOfARefusedMessageDoNotStay: of one whose second file has no room, of one that the
// queue has no room for any more, and not those that a platform has given up for good.
func TestFilesOfARefusedMessageDoNotStay(t *testing.T) {
	d := &depot{fail: func(name string) error {
		if name == "f1" {
			return errors.New("no space left on device")
		}
		return nil
	}}
	r := newRunner()
	e := newEngine(t, r, func(c *tasks.Config) { c.Files = d })
	send := func(req *a2a.SendMessageRequest, want string) {
		t.Helper()
		if _, err := e.SendMessage(t.Context(), returning(req)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	has := func(want string) {
		t.Helper()
		if _, got := d.found(); got != want {
			t.Errorf("there are %q, want %q", got, want)
		}
	}
	send(bringing("m1", 2, "http"), "disk is full")
	has("")
	d.fail, r.refuse = nil, executor.ErrQueueFull
	send(bringing("m1", 2, "http"), "again later")
	has("")
	send(bringing("m2", 1, "platform-pending"), "again later")
	has("workspace:/w/f0")
	r.refuse = nil
	send(bringing("m1", 2, "http"), "")
	has("workspace:/w/f0 workspace:/w/f1")
}

// TestFilesOfTheSameMessageAtOnce are fetched once: the second waits for the first, and is
// let go when its caller leaves.
func TestFilesOfTheSameMessageAtOnce(t *testing.T) {
	d := &depot{gate: make(chan struct{})}
	e := newEngine(t, newRunner(), func(c *tasks.Config) { c.Files = d })
	answers := make(chan a2a.SendMessageResult, 2)
	send := func() {
		task, err := e.SendMessage(t.Context(), returning(bringing("m1", 1, "http")))
		if err != nil {
			t.Error(err)
		}
		answers <- task
	}
	go send()
	<-d.gate // it is being fetched
	left, leave := context.WithCancel(t.Context())
	leave()
	if _, err := e.SendMessage(left, returning(bringing("m1", 1, "http"))); !errors.Is(err, context.Canceled) {
		t.Errorf("one whose caller has left: %v", err)
	}
	go send()
	d.gate <- struct{}{}
	first, second := <-answers, <-answers
	if first == nil || second == nil || first.TaskInfo().TaskID != second.TaskInfo().TaskID {
		t.Errorf("%v and %v", first, second)
	}
	if asked, has := d.found(); asked != 1 || has != "workspace:/w/f0" {
		t.Errorf("asked for %d times, there are %q", asked, has)
	}
}
