package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// offer sends a message without waiting for its turn, and returns its task, or the error.
func (p *program) offer(m object) (task, refused object) {
	p.t.Helper()
	answer, err := p.tryCall(p.t.Context(), "SendMessage", object{"message": m, "configuration": object{"returnImmediately": true}})
	if err != nil {
		p.t.Errorf("%v: %v", m["messageId"], err)
		return nil, nil
	}
	task, _ = at(answer, "result", "task").(object)
	refused, _ = answer["error"].(object)
	return task, refused
}

// queued is how many bytes are counted of messages whose turns have not ended.
func (p *program) queued() float64 { return p.scrape()["molecule_codex_queue_bytes"] }

// onDisk is the size of the state database.
func (p *program) onDisk() int64 {
	p.t.Helper()
	info, err := os.Stat(p.State + "/state.db")
	if err != nil {
		p.t.Fatal(err)
	}
	return info.Size()
}

// TestFlood sends what is large while nothing gets on: neither memory nor disk take more than
// the settings say, over a kill too, and all of the memory is there again afterwards.
func TestFlood(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	const mib = 1 << 20
	p := start(t, "RUNTIME_MAX_TURNS=1", "RUNTIME_MAX_QUEUE_MIB=32", "RUNTIME_LOG=info")
	progtest.WaitFor(t, "readiness", func() bool { code, _ := p.fetch("/readyz"); return code == http.StatusOK })
	hangs := p.begin("hangs", "first", "hang")
	rss := func() int { n, _ := progtest.Memory(t, p.Pid()); return n }
	memory, disk := rss(), p.onDisk()

	huge := strings.Repeat("x", 15*mib)
	var all sync.WaitGroup
	var refused, later atomic.Int32
	for i := range 40 {
		all.Go(func() {
			m := message(fmt.Sprint("huge ", i), fmt.Sprint("huge ", i), "say hello")
			m["metadata"] = object{"x": huge}
			answer, lost := p.tryCall(t.Context(), "SendMessage", object{"message": m, "configuration": object{"returnImmediately": true}})
			switch err, _ := answer["error"].(object); {
			case lost != nil: // the connection was closed while it was sent, and the answer went with it
				later.Add(1)
			case err["code"] == -32602.0 && strings.Contains(fmt.Sprint(err["message"]), "at most 65536 are taken"):
				refused.Add(1)
			case err["code"] == -32000.0 && strings.Contains(fmt.Sprint(err["message"]), "too many large requests come at once"):
				later.Add(1)
			}
		})
	}
	all.Wait()
	peak := progtest.PeakMemory(t, p.Pid())
	t.Logf("40 messages with 15 MiB of metadata: from %d to %d MiB at most", memory/mib, peak/mib)
	if refused.Load() == 0 || refused.Load()+later.Load() != 40 || p.onDisk() > disk+mib || p.queued() > mib {
		t.Errorf("%d of 40 were refused, and %d are to come again; the file had %d bytes and has %d; %.0f are queued", refused.Load(), later.Load(), disk, p.onDisk(), p.queued())
	}
	if peak > 600*mib { // the bodies came at once, and are so large together
		t.Errorf("they took %d MiB of memory", peak/mib)
	}

	long := "say " + strings.Repeat("x", mib-64)
	taken := map[string]int{}
	var first object
	for i := range 80 {
		in := fmt.Sprintf("context %d", i/16)
		task, err := p.offer(message(fmt.Sprint("long ", i), in, long))
		switch {
		case task != nil:
			taken[in]++
			if first == nil {
				first = task
			}
		case err["code"] != -32000.0 || !strings.Contains(fmt.Sprint(err["message"]), "RUNTIME_MAX_QUEUE_MIB"):
			t.Errorf("message %d: %v", i, err)
		}
	}
	full := p.queued()
	t.Logf("of 80 messages of a MiB %v were taken, with %.1f MiB; the file has %d", taken, full/mib, p.onDisk()/mib)
	if full > 32*mib || full < 28*mib || taken["context 0"] != 7 || len(taken) < 4 {
		t.Errorf("taken are %v, with %.0f bytes", taken, full)
	}
	if now := rss(); now > memory+400*mib {
		t.Errorf("%d MiB of messages take %d MiB of memory", int(full)/mib, now/mib)
	}

	p.Kill()
	p.Program = p.Restart()
	progtest.WaitFor(t, "readiness", func() bool { code, _ := p.fetch("/readyz"); return code == http.StatusOK })
	if now := p.queued(); now != full {
		t.Errorf("before the kill %.0f bytes were queued, and now %.0f", full, now)
	}
	if _, err := p.offer(message("another", "another", long)); err["code"] != -32000.0 {
		t.Errorf("beside what the process before has accepted: %v", err)
	}
	if task, err := p.offer(message("long 0", "context 0", long)); err != nil || task["id"] != first["id"] {
		t.Errorf("a message that was accepted is another task, %v, or refused: %v", task["id"], err)
	}

	for in := range taken {
		p.send("stop "+in, in, "/stop")
	}
	p.call("CancelTask", object{"id": hangs["id"]})
	progtest.WaitFor(t, "the queue to be empty", func() bool { return p.queued() == 0 })
	if task := p.send("after", "after", "say still here"); text(task) != "still here" {
		t.Errorf("afterwards: %v", task)
	}
	progtest.WaitFor(t, "the memory to be given back", func() bool { return rss() < memory+128*mib })
	t.Logf("afterwards %d MiB of memory are taken, and %d of the disk", rss()/mib, p.onDisk()/mib)
	if p.onDisk() > 48*mib {
		t.Errorf("the file has %d bytes", p.onDisk())
	}
}
