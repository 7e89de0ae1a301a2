package bench

import (
	"bytes"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// BenchmarkRecovery is how long nobody is answered after a SIGKILL, from the kill
// to the last byte of the answer, with the real codex, in a conversation that has
// to be resumed:
//
//   - codex-idle: codex was killed between two turns; the next message's answer
//   - codex-cut-turn: it was killed in a turn of text; that turn's own answer, to
//     the caller who has been waiting for it all along
//   - codex-next-turn: the same kill; the answer to a message of another
//     conversation, sent at that moment
//   - runtime-cut-turn: the runtime was killed in such a turn and started at once;
//     until its task says that it is completed
func BenchmarkRecovery(b *testing.B) {
	const rounds = 20
	r := newRecovery(b)
	for _, c := range []*client{r.ours, r.ours.in("other")} {
		c.send("say warm", "warm")
	}
	for range rounds {
		r.idle()
		r.cutByCodex()
		r.cutByUs()
	}
	r.took.spread(b, "codex-idle", "codex-cut-turn", "codex-next-turn", "runtime-cut-turn")
}

// A recovery is a program that is killed again and again.
type recovery struct {
	b     *testing.B
	p     *progtest.Program
	ours  *client
	armed atomic.Bool   // the model hangs at its next request
	hangs chan struct{} // it does now
	took  series
}

func newRecovery(b *testing.B) *recovery {
	b.Helper()
	r := &recovery{b: b, hangs: make(chan struct{}, 1), took: series{}}
	model := modeltest.Start(b, func(t *fakemodel.Turn) {
		if !r.armed.CompareAndSwap(true, false) {
			fakemodel.Keywords(t)
			return
		}
		t.OpenMessage("final_answer")
		t.Delta("this is cut o")
		r.hangs <- struct{}{}
		t.Hang()
	})
	r.p = progtest.Start(b, program, "CODEX_BIN="+codextest.Bin(b), "OPENAI_API_KEY=key-of-the-benchmark", "OPENAI_BASE_URL="+model.BaseURL())
	r.connect()
	return r
}

// connect makes a client of the process that runs now.
func (r *recovery) connect() {
	r.ours = newClient(r.b, r.p.URL, "bench", 0)
	r.ours.ready()
}

// idle kills codex between two turns.
func (r *recovery) idle() {
	killed := r.killCodex()
	r.ours.send("say after", "after")
	r.took.add("codex-idle", time.Since(killed))
}

// cutByCodex kills codex in a turn.
func (r *recovery) cutByCodex() {
	answered := make(chan time.Time, 1)
	r.armed.Store(true)
	go func() {
		defer close(answered) // also where the answer is wrong, which ends this goroutine
		r.ours.send("say cut", "cut")
		answered <- time.Now()
	}()
	<-r.hangs
	killed := r.killCodex()
	r.ours.in("other").send("say next", "next")
	r.took.add("codex-next-turn", time.Since(killed))
	at, ok := <-answered
	if !ok {
		r.b.FailNow()
	}
	r.took.add("codex-cut-turn", at.Sub(killed))
}

// cutByUs kills the runtime in a turn, and starts it again.
func (r *recovery) cutByUs() {
	r.armed.Store(true)
	_, id := r.ours.begin("say cut")
	<-r.hangs
	killed := time.Now()
	r.p.Kill()
	r.p = r.p.Restart()
	r.ours = newClient(r.b, r.p.URL, "bench", 0)
	progtest.WaitFor(r.b, "the cut task to be completed", func() bool {
		return bytes.Contains(r.ours.whole("GetTask", map[string]any{"id": id}), []byte("TASK_STATE_COMPLETED"))
	})
	r.took.add("runtime-cut-turn", time.Since(killed))
	r.connect()
}

func (r *recovery) killCodex() time.Time {
	r.b.Helper()
	process, err := os.FindProcess(r.p.Child())
	if err != nil {
		r.b.Fatal(err)
	}
	killed := time.Now()
	if err := process.Signal(syscall.SIGKILL); err != nil {
		r.b.Fatal(err)
	}
	return killed
}
