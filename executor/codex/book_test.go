package codex_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
)

// A notebook is a Book in memory, or in a file that outlives a killed process.
type notebook struct {
	path string // empty: in memory

	mu       sync.Mutex // guards the fields below
	attempts []executor.Attempt
	used     bool
	turned   bool
	told     map[string]string // what threads have heard
	vanished []string          // client ids of attempts that came to nothing
	refuse   int               // how many calls of Begin fail before one works
	most     int               // how many attempts there may be; 0 is no limit
}

func (b *notebook) Begin(_ context.Context, a executor.Attempt) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refuse > 0 || b.most > 0 && len(b.attempts) >= b.most {
		b.refuse--
		return errors.New("no space left on device")
	}
	b.attempts = append(b.attempts, a)
	return write(b.path, page{Attempt: &a})
}

func (b *notebook) Past(_ context.Context, conversation string) (past codex.Past, _ error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.attempts {
		if a.Conversation != conversation {
			continue
		}
		if a.Thread != past.Thread || a.Model != "" {
			past.Model = a.Model
		}
		past.Thread, past.Tools = a.Thread, a.Tools
	}
	past.Told = b.told[past.Thread]
	return past, nil
}

func (b *notebook) ConversationUsed(context.Context, string) (bool, error) { return b.used, nil }

func (b *notebook) Vanished(_ context.Context, a executor.Attempt) (n int, _ error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if id := fmt.Sprintf("%s.%d", a.Job, a.N); !slices.Contains(b.vanished, id) {
		b.vanished = append(b.vanished, id)
	}
	for _, id := range b.vanished {
		if strings.HasPrefix(id, a.Job+".") {
			n++
		}
	}
	return n, nil
}

func (b *notebook) ThreadUsed(context.Context, string) (bool, error) { return b.turned, nil }

func (b *notebook) RecordInstructions(_ context.Context, thread, digest string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.told == nil {
		b.told = map[string]string{}
	}
	b.told[thread] = digest
	return nil
}

func (b *notebook) Threads(context.Context) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, a := range b.attempts {
		all = append(all, a.Thread)
	}
	return all, nil
}

// last returns the newest attempt as one that was cut off.
func (b *notebook) last(job string) *executor.Cut {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range slices.Backward(b.attempts) {
		if a.Job == job {
			return &executor.Cut{Attempt: a.N, ThreadID: a.Thread}
		}
	}
	return nil
}

// A page is one line of the file.
type page struct {
	Attempt *executor.Attempt `json:",omitempty"`
	Tool    bool              `json:",omitempty"` // a tool of the newest attempt started
	End     *agent.Ended      `json:",omitempty"`
}

func write(path string, p page) error {
	if path == "" {
		return nil
	}
	line, err := json.Marshal(p)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.Write(append(line, '\n'))
	return err
}

// read returns what is in the file: the journal, the newest attempt if it was cut
// off, and all ends.
func read(path string) (b *notebook, cut *executor.Cut, ends []agent.Ended, err error) {
	b = &notebook{path: path}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil, err
	}
	for line := range strings.Lines(string(text)) {
		var p page
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			return nil, nil, nil, err
		}
		switch {
		case p.Attempt != nil:
			b.attempts = append(b.attempts, *p.Attempt)
			cut = &executor.Cut{Attempt: p.Attempt.N, ThreadID: p.Attempt.Thread}
		case p.Tool:
			cut.Tool = true
		case p.End != nil:
			ends = append(ends, *p.End)
		}
	}
	return b, cut, ends, nil
}

// TestThreadOutlivesTheProcess goes on with the thread that the journal names.
func TestThreadOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	state, book := "state "+t.TempDir(), &notebook{}
	for i, text := range []string{"before", "after"} {
		e := onFake(t, state, func(c *config) { c.Journal = book })
		wantEnd(t, submit(t, e, text, "one", text).wait(t), agent.Completed, "")
		if err := e.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if a := book.attempts; len(a) != i+1 || a[i].Thread != a[0].Thread {
			t.Errorf("attempts = %+v, want them on one thread", a)
		}
	}
}

// TestThreadsAreReadBeforeCodexStarts waits for a book that is not to be had at once.
func TestThreadsAreReadBeforeCodexStarts(t *testing.T) {
	book := &lateBook{fails: 2}
	e := onFake(t, "", func(c *config) { c.Journal = book })
	began := time.Now()
	wantEnd(t, submit(t, e, "j1", "one", "hello").wait(t), agent.Completed, "")
	if book.fails != 0 || time.Since(began) < 400*time.Millisecond {
		t.Errorf("codex started although the threads were not known")
	}
}

type lateBook struct {
	notebook
	fails int // belongs to the supervisor until a job has ended
}

func (b *lateBook) Threads(ctx context.Context) ([]string, error) {
	if b.fails > 0 {
		b.fails--
		return nil, errors.New("the database is locked")
	}
	return b.notebook.Threads(ctx)
}
