package sources

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/console"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

func TestDoctorChecks(t *testing.T) {
	got := Checks(preflight.Report{Results: []preflight.Result{
		{Name: "a", Status: preflight.OK, Detail: "fine"},
		{Name: "b", Status: preflight.Warn, Detail: "odd s3cret-value", Fix: "look"},
		{Name: "c", Status: preflight.Fail, Detail: "broken", Fix: "mend"},
	}}, logging.NewRedactor("s3cret-value").String)
	if !got[0].OK || !got[1].OK || got[2].OK || got[1].Status != "warn" || got[1].Hint != "look" || strings.Contains(got[1].Message, "s3cret") {
		t.Errorf("checks = %+v", got)
	}
}

func TestQueues(t *testing.T) {
	got := queues([]executor.Conversation{
		{Context: "busy", Running: "t1.1", Waiting: []string{"t1.2", "t2.1"}}, {Context: "idle", Thread: "x"}, {Context: "waits", Waiting: []string{"t3.1"}},
	})
	want := []console.Context{{ContextID: "busy", Running: "t1", Waiting: []string{"t1", "t2"}}, {ContextID: "waits", Waiting: []string{"t3"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("queues = %+v, want %+v", got, want)
	}
	crowd := make([]executor.Conversation, 1000)
	for i := range crowd {
		crowd[i] = executor.Conversation{Context: "c", Waiting: make([]string, 500)}
	}
	if got := queues(crowd); len(got) != 100 || len(got[99].Waiting) != 50 {
		t.Errorf("of a crowd %d queues are shown", len(got))
	}
}

// TestKeptThreads: those in use come first, those that only the journal knows after
// them, each once; the journal is asked every ten seconds.
func TestKeptThreads(t *testing.T) {
	journal, err := store.Open(t.Context(), store.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	k := keptThreads{journal: journal}
	live := []executor.Conversation{
		{Context: "new"}, {Context: "used", Thread: "thread", Loaded: true, Usage: &agent.Usage{TotalTokens: 7}},
	}
	got := k.with(t.Context(), live)
	if len(got) != 1 || got[0].ContextID != "used" || !got[0].Loaded || got[0].TotalTokens != 7 {
		t.Errorf("threads = %+v", got)
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
	k.at = time.Time{} // long ago
	if got := k.with(t.Context(), live); len(got) != 1 {
		t.Errorf("with a journal that does not answer: %+v", got)
	}
}

func TestChildMemory(t *testing.T) {
	own := childMemory(os.Getpid())
	if runtime.GOOS == "linux" && (own < 1<<20 || own > 1<<40) || own%(1<<20) != 0 {
		t.Errorf("this process has %d bytes", own)
	}
	if gone := childMemory(1 << 30); gone != 0 {
		t.Errorf("a process that is not there has %d bytes", gone)
	}
}

type countedLooks struct{ n atomic.Int64 }

func (c *countedLooks) LookAtAccount(context.Context) error { c.n.Add(1); return errors.New("offline") }

// TestAccountLook asks once for each codex, every five minutes while somebody looks, and
// when turns are started again.
func TestAccountLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var of countedLooks
		a := newAccountLook(&of)
		ctx, stop := context.WithCancel(t.Context())
		go a.run(ctx, slog.New(slog.DiscardHandler))
		look := func(pid int, held bool, want int64) {
			t.Helper()
			for range 60 {
				a.want(pid, held)
				time.Sleep(time.Second)
			}
			synctest.Wait()
			if got := of.n.Load(); got != want {
				t.Errorf("asked %d times, want %d", got, want)
			}
		}
		look(0, false, 0)
		look(7, false, 1)
		look(7, false, 1)
		look(8, true, 2)
		time.Sleep(accountEvery)
		look(8, true, 3)
		look(8, false, 4)
		time.Sleep(time.Hour) // nobody looks
		if got := of.n.Load(); got != 4 {
			t.Errorf("asked %d times, want 4", got)
		}
		stop()
		synctest.Wait()
	})
}
