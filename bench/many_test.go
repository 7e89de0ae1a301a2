package bench

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// BenchmarkMany is what 10,000 tasks that have ended cost a program that finds them in its
// state directory: its start to the first 200 of /healthz, and its memory after some lists.
func BenchmarkMany(b *testing.B) {
	took, _ := many(b, kept(b, 10_000), "10000-tasks", "")
	took.spread(b, "healthz")
}

// BenchmarkLists is a page of ListTasks from request to answer, by each filter. 10,000
// tasks are kept. 50,000 are there when retention has not kept up: it takes them away
// while this goes on. Their start is measured, too.
func BenchmarkLists(b *testing.B) {
	_, lists := many(b, kept(b, 10_000), "10000-tasks", "")
	lists.spread(b, slices.Sorted(maps.Keys(lists))...)
	took, lists := many(b, kept(b, 50_000), "50000-tasks", "-50000")
	took.spread(b, "healthz-50000")
	lists.spread(b, slices.Sorted(maps.Keys(lists))...)
}

// many measures starts on a state directory, and lists after the first.
func many(b *testing.B, state, memory, suffix string) (took, lists series) {
	b.Helper()
	const starts, pages = 10, 200
	took, lists = series{}, series{}
	for start := range starts {
		p := progtest.Start(b, program, append(fakeSettings(b, ""), "RUNTIME_STATE_DIR="+state)...)
		ours := newClient(b, p.URL, "", 0)
		if page, status := ours.get("/healthz"); status != http.StatusOK {
			b.Fatalf("/healthz: %d %s", status, page)
		}
		took.add("healthz"+suffix, time.Since(p.Born))
		if start == 0 {
			for range pages {
				for filter, params := range filters() {
					lists.add("list"+filter+suffix, ours.list(filter, params))
				}
			}
			rss, pss := progtest.Memory(b, p.Pid())
			row(b, memory, "rss-MiB", mib(rss), "pss-MiB", mib(pss))
		}
		p.Stop()
	}
	return took, lists
}

// filters are those of a list, by the names of their rows.
func filters() map[string]map[string]any {
	return map[string]map[string]any{
		"":           {},
		"-context":   {"contextId": "context-7"},
		"-status":    {"status": "TASK_STATE_COMPLETED"},
		"-after":     {"statusTimestampAfter": "2020-01-01T00:00:00Z"},
		"-artifacts": {"includeArtifacts": true},
		"-none":      {"status": "TASK_STATE_FAILED"}, // which no task is in
	}
}

// list gets the newest page of tasks and returns how long that took.
func (c *client) list(filter string, params map[string]any) time.Duration {
	c.b.Helper()
	began := time.Now()
	params["pageSize"] = 50
	body := c.call("ListTasks", params)
	raw, err := io.ReadAll(body)
	took := time.Since(began)
	if err != nil {
		c.b.Fatal(err)
	}
	_ = body.Close()
	want := 50
	if filter == "-none" {
		want = 0
	}
	if n := bytes.Count(raw, []byte(`"state":"TASK_STATE_COMPLETED"`)); n != want {
		c.b.Fatalf("list%s: a page of %d tasks: %.300s", filter, n, raw)
	}
	return took
}
