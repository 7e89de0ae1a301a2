package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/progtest"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// BenchmarkMany is what 10,000 tasks that have ended cost a program that finds
// them in its state directory: its start to the first 200 of /healthz, a page of
// ListTasks from request to answer, and its memory.
func BenchmarkMany(b *testing.B) {
	const starts, pages = 10, 200
	state := codextest.Dir(b, "state")
	fill(b, state, 10_000)
	took := series{}
	for start := range starts {
		p := progtest.Start(b, program, append(fakeSettings(b, ""), "RUNTIME_STATE_DIR="+state)...)
		ours := newClient(b, p.URL, "", 0)
		if page, status := ours.get("/healthz"); status != http.StatusOK {
			b.Fatalf("/healthz: %d %s", status, page)
		}
		took.add("healthz", time.Since(p.Born))
		if start == starts-1 {
			for range pages {
				took.add("list", ours.list())
			}
			rss, pss := progtest.Memory(b, p.Pid())
			row(b, "10000-tasks", "rss-MiB", mib(rss), "pss-MiB", mib(pss))
		}
		p.Stop()
	}
	took.spread(b, "healthz", "list")
}

// list gets the newest page of tasks and returns how long that took.
func (c *client) list() time.Duration {
	c.b.Helper()
	began := time.Now()
	body := c.call("ListTasks", map[string]any{"pageSize": 50})
	raw, err := io.ReadAll(body)
	took := time.Since(began)
	if err != nil {
		c.b.Fatal(err)
	}
	_ = body.Close()
	if n := bytes.Count(raw, []byte(`"state":"TASK_STATE_COMPLETED"`)); n != 50 {
		c.b.Fatalf("a page of %d tasks: %.300s", n, raw)
	}
	return took
}

// fill puts tasks that have ended into a state directory.
func fill(b *testing.B, dir string, n int) {
	b.Helper()
	ctx := context.Background()
	s, err := store.Open(ctx, store.Config{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	text, _ := json.Marshal("an answer of some length, as answers are: " + fmt.Sprint(time.Now()))
	for i := range n {
		id, now := fmt.Sprintf("task-%05d", i), time.Now()
		head := store.Head{ID: id, Context: fmt.Sprintf("context-%d", i%100), Conversation: "c", State: "TASK_STATE_WORKING", At: now}
		head.Body = fmt.Appendf(nil, `{"status":{"state":"TASK_STATE_COMPLETED","timestamp":%q},"turns":1}`, now.UTC().Format(time.RFC3339Nano))
		m := store.Message{
			Key: store.Key{Message: id}, TaskID: id, Job: id + ".1", Conversation: "c",
			Body: fmt.Appendf(nil, `{"messageId":%q,"role":"ROLE_USER","parts":[{"text":"a question"}]}`, id),
		}
		if err := s.Accept(ctx, m, head); err != nil {
			b.Fatal(err)
		}
		head.State, head.Ended = "TASK_STATE_COMPLETED", true
		artifact := fmt.Appendf(nil, `{"artifactId":"a","parts":[{"text":%s}]}`, text)
		if err := s.Write(ctx, store.Change{Head: &head, Artifacts: [][]byte{artifact}, Ended: []string{m.Job}}); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}
