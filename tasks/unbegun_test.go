package tasks_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
)

// byPeer marks the request as another agent's.
func byPeer(req *a2a.SendMessageRequest) *a2a.SendMessageRequest {
	req.Metadata = by("peer-9")
	return req
}

// named checks whether the journal has something that names the file of the messages below.
func (m *machine) named(want bool, when string) {
	m.t.Helper()
	f, err := m.st.FileRecord(m.t.Context(), "f0")
	if err != nil || f.Named != want || !f.Peer {
		m.t.Errorf("%s: %+v, %v", when, f, err)
	}
}

// becomes waits until those files are there and none is held.
func (d *depot) becomes(t *testing.T, want string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		d.mu.Lock()
		has, held := strings.Join(d.has, " "), d.held
		if has == want && held == 0 {
			d.mu.Unlock()
			return
		}
		if d.moved == nil {
			d.moved = make(chan struct{})
		}
		moved := d.moved
		d.mu.Unlock()
		select {
		case <-moved:
		case <-deadline:
			t.Fatalf("there are %q, want %q; %d are held", has, want, held)
		}
	}
}

// TestFilesOfUnbegunMessages go with the end of the message, also that of one that an earlier
// process has accepted. Those of one that came to an attempt stay, and of one that may run
// again.
func TestFilesOfUnbegunMessages(t *testing.T) {
	canceled := func(m *machine, id a2a.TaskID, _ *job) {
		if _, err := m.e.CancelTask(m.t.Context(), &a2a.CancelTaskRequest{ID: id, Metadata: by("peer-9")}); err != nil {
			m.t.Error(err)
		}
	}
	ends := func(outcome agent.Outcome) func(*machine, a2a.TaskID, *job) {
		return func(_ *machine, _ a2a.TaskID, j *job) { j.end(agent.Ended{Outcome: outcome}) }
	}
	for name, c := range map[string]struct {
		restart, begins bool
		end             func(*machine, a2a.TaskID, *job)
		stays           bool
	}{
		"canceled":               {end: canceled},
		"canceled-after-restart": {restart: true, end: canceled},
		"rejected":               {end: ends(agent.Rejected)},
		"failed":                 {end: ends(agent.Failed)},
		"cut-off":                {end: ends(agent.Interrupted), stays: true},
		"begun":                  {begins: true, end: canceled, stays: true},
		"begun-before-restart":   {begins: true, restart: true, end: canceled, stays: true},
		"completed":              {begins: true, end: ends(agent.Completed), stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := &depot{}
			m := newMachine(t, func(cfg *tasks.Config) { cfg.Files, cfg.Workspace = d, &tasks.Workspace{} })
			task := begin(t, m.e, byPeer(bringing("m1", 1, "http")))
			j := m.r.next(t)
			if c.begins {
				j.start()
			}
			m.named(true, "taken")
			if c.restart {
				m.restart()
				j = m.r.next(t)
			}
			c.end(m, task.ID, j)
			m.named(c.stays, "at the end")
			want := ""
			if c.stays {
				want = "workspace:/w/f0"
			}
			d.becomes(t, want)
			if !d.peer {
				t.Error("it is said not to be another agent's")
			}
		})
	}
}

// TestFilesOfWithdrawnMessages: of one that the queue has no room for any more nothing is
// named, nor held.
func TestFilesOfWithdrawnMessages(t *testing.T) {
	d := &depot{}
	m := newMachine(t, func(cfg *tasks.Config) { cfg.Files, cfg.Workspace = d, &tasks.Workspace{} })
	m.r.refuse = executor.ErrQueueFull
	if _, err := m.e.SendMessage(t.Context(), returning(byPeer(bringing("m1", 1, "http")))); !errors.Is(err, a2a.ErrServerError) {
		t.Error(err)
	}
	m.named(false, "refused")
	d.becomes(t, "")
}

// TestNoRoomForFiles: the sender is told by what, and what to do; one that there can be no
// room for is refused for good, and is not kept in the journal.
func TestNoRoomForFiles(t *testing.T) {
	d := &depot{size: 1, most: 8 << 20}
	e := newEngine(t, newRunner(), func(c *tasks.Config) { c.Files, c.Workspace = d, &tasks.Workspace{} })
	d.fail = func(string) error { return fmt.Errorf("%w: it is full", attach.ErrNoRoom) }
	_, err := e.SendMessage(t.Context(), returning(bringing("m1", 1, "http")))
	if !errors.Is(err, a2a.ErrServerError) || !strings.Contains(err.Error(), `"f0" could not be stored: files that messages bring may take 8 MiB here (RUNTIME_UPLOADS_MIB), those of other agents 2 of them`) {
		t.Error(err)
	}
	d.fail = nil
	bytes := request("m3", "c", "hi")
	bytes.Message.Parts = append(bytes.Message.Parts, raw("f0", "", "it is too large"))
	for name, req := range map[string]*a2a.SendMessageRequest{"two": bringing("m2", 2, "http"), "bytes": bytes} {
		if d.size = 3 << 19; name == "bytes" {
			d.size = 3 << 20
		}
		_, err = e.SendMessage(t.Context(), returning(byPeer(req)))
		if !errors.Is(err, a2a.ErrInvalidParams) || !strings.Contains(err.Error(), "more than 2 MiB together") {
			t.Errorf("%s: %v", name, err)
		}
		d.becomes(t, "")
	}
}

// TestSharedFileOfUnbegunMessage: what another message names stays named.
func TestSharedFileOfUnbegunMessage(t *testing.T) {
	d := &depot{}
	m := newMachine(t, func(cfg *tasks.Config) { cfg.Files, cfg.Workspace = d, &tasks.Workspace{} })
	first := begin(t, m.e, byPeer(bringing("m1", 1, "http")))
	begin(t, m.e, byPeer(bringing("m2", 1, "http"))) // the depot has one file of a name
	if _, err := m.e.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: first.ID, Metadata: by("peer-9")}); err != nil {
		t.Fatal(err)
	}
	m.named(true, "one of two is canceled")
	all, err := m.st.FileRecords(t.Context())
	if want := (store.FileRecord{Name: "f0", Peer: true, Own: true, Named: true, Open: true}); err != nil || len(all) != 1 || all[0] != want {
		t.Errorf("%+v, %v", all, err)
	}
}
