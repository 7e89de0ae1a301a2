package e2e

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A gate has the model wait in each turn whose message begins with slowly, until it is
// opened, once.
type gate struct {
	mu     sync.Mutex
	open   chan struct{}
	behind int // that wait for it
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) script(t *fakemodel.Turn) {
	if len(t.NewToolOutputs()) == 0 && strings.HasPrefix(peerwords.Within(t.LastUserText()), "slowly") && !g.wait(t.Context()) {
		return
	}
	fakemodel.Keywords(t)
}

func (g *gate) wait(ctx context.Context) bool {
	g.mu.Lock()
	open := g.open
	g.behind++
	g.mu.Unlock()
	select {
	case <-open:
		return true
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if open == g.open {
		g.behind--
	}
	return false
}

// pass waits for a turn, and lets it go on; later ones wait again.
func (g *gate) pass(t *testing.T) {
	t.Helper()
	progtest.WaitFor(t, "a turn to have begun", func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.behind > 0
	})
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.open)
	g.open, g.behind = make(chan struct{}), 0
}

// busy waits until the platform knows of n tasks, and sees that it would not hibernate us.
func (m *member) busy(what string, n int) {
	m.t.Helper()
	m.beats("a beat: "+what, func(b fakeplatform.Beat) bool { return b.ActiveTasks == n })
	if m.handle.Hibernate() {
		m.t.Fatalf("%s: the platform has put the workspace to sleep", what)
	}
}

func (m *member) rests(what string) {
	m.t.Helper()
	m.beats("a beat of rest: "+what, func(b fakeplatform.Beat) bool { return b.ActiveTasks == 0 && b.CurrentTask == "" })
}

// TestHibernation: the platform puts a workspace to sleep by what its last heartbeat says
// of active tasks. It is above nothing while a message is on its way to a turn or in one,
// whatever happens to codex or to us, and nothing when all is done.
func TestHibernation(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	eras(t, func(t *testing.T, m *member) {
		m.online()
		g := newGate()
		m.Model.SetScript(g.script)
		m.rests("at the start")

		one := m.begin("m1", "c", "slowly\nsay one")
		m.busy("a turn", 1)
		two := m.begin("m2", "c", "say two")
		m.busy("a turn, and one that waits", 2)
		g.pass(m.t)
		m.ended(one["id"])
		m.ended(two["id"])
		m.rests("after two turns")

		m.fails("a turn that fails", "m3", "fail 400")
		m.canceled("m4")
		m.killsCodex(g)
		m.killed(g)
		m.endsInAnOutage(g)
		m.leftByItsCaller(g)

		if !m.handle.Hibernate() {
			t.Fatal("the platform cannot put the workspace to sleep")
		}
		m.wakesUp()
	})
}

func (m *member) fails(what, id, words string) {
	m.t.Helper()
	if task := m.send(id, "c-"+id, words); state(task) != "TASK_STATE_FAILED" {
		m.t.Errorf("%s: %s", what, state(task))
	}
	m.rests(what)
}

func (m *member) canceled(id string) {
	m.t.Helper()
	asked := len(m.Model.Requests())
	task := m.begin(id, "c", "slowly")
	m.modelAsked(asked + 1)
	m.busy("a turn that will be canceled", 1)
	m.call("CancelTask", object{"id": task["id"]})
	m.rests("a canceled turn")
}

// killsCodex kills the child in a turn, which runs again.
func (m *member) killsCodex(g *gate) {
	m.t.Helper()
	asked := len(m.Model.Requests())
	task := m.begin("m5", "c5", "slowly\nsay five")
	m.modelAsked(asked + 1)
	m.busy("a turn whose codex will die", 1)
	before := len(m.handle.Beats())
	if err := syscall.Kill(m.Child(), syscall.SIGKILL); err != nil {
		m.t.Fatal(err)
	}
	m.modelAsked(asked + 2)
	m.neverIdle("over the death of codex", before)
	g.pass(m.t)
	m.ended(task["id"])
	m.rests("after the death of codex")
}

// killed kills the program in a turn, which runs again in the next one: that one's first
// word to the platform is that there is work.
func (m *member) killed(g *gate) {
	m.t.Helper()
	asked := len(m.Model.Requests())
	task := m.begin("m6", "c6", "slowly\nsay six")
	m.modelAsked(asked + 1)
	m.busy("a turn whose runtime will be killed", 1)
	before := len(m.handle.Beats())
	m.again()
	m.modelAsked(asked + 2)
	m.beats("a beat of the next process", func(fakeplatform.Beat) bool { return len(m.handle.Beats()) > before })
	m.neverIdle("over our own death", before)
	g.pass(m.t)
	m.ended(task["id"])
	m.rests("after our own death")
}

// neverIdle looks at the beats from one on.
func (m *member) neverIdle(what string, from int) {
	m.t.Helper()
	for _, b := range m.handle.Beats()[from:] {
		if b.ActiveTasks == 0 {
			m.t.Errorf("%s the platform hears of no work: %+v", what, b)
		}
	}
}

// endsInAnOutage has the platform take no heartbeat while the work ends: a count that
// stays would keep the workspace awake, and its queue from being drained, for ever.
func (m *member) endsInAnOutage(g *gate) {
	m.t.Helper()
	task := m.begin("m7", "c7", "slowly\nsay seven")
	m.busy("a turn that will end in an outage", 1)
	undo := m.platform.Behave("POST /registry/heartbeat", fakeplatform.Refuse(http.StatusServiceUnavailable))
	g.pass(m.t)
	m.ended(task["id"])
	undo()
	m.rests("after an outage")
}

// leftByItsCaller has the caller go away: the turn goes on, and counts.
func (m *member) leftByItsCaller(g *gate) {
	m.t.Helper()
	ctx, cancel := context.WithCancel(m.t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = m.tryCall(ctx, "SendMessage", object{"message": message("m8", "c8", "slowly\nsay eight")})
	}()
	m.busy("a turn whose caller will go", 1)
	cancel()
	<-gone
	if m.handle.Hibernate() {
		m.t.Fatal("the platform puts a workspace to sleep whose caller has gone")
	}
	g.pass(m.t)
	m.rests("after the caller has gone")
}

// wakesUp is the next message to a workspace that sleeps: its container is made anew.
func (m *member) wakesUp() {
	m.t.Helper()
	m.Kill()
	reply, err := m.handle.Say(m.t.Context(), "say early")
	if err != nil || reply.Status != http.StatusServiceUnavailable || !strings.Contains(string(reply.Body), `"waking":true`) {
		m.t.Fatalf("%d %s, %v", reply.Status, reply.Body, err)
	}
	m.Program = m.Restart()
	m.online()
	if got := m.user("m9", "say awake"); got != "awake" {
		m.t.Errorf("answered %q", got)
	}
}
