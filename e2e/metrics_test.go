package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// scrape returns the series of a program, and holds that docs/metrics.md has each.
func (p *program) scrape() map[string]float64 {
	p.t.Helper()
	body := p.shown("/metrics")
	page, err := os.ReadFile(filepath.Join(codextest.Root(p.t), "docs", "metrics.md"))
	if err != nil {
		p.t.Fatal(err)
	}
	all := map[string]float64{}
	for line := range strings.Lines(body) {
		if family, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, _, _ := strings.Cut(family, " ")
			ours := !regexp.MustCompile("^(go|process|promhttp)_").MatchString(name)
			if ours && !strings.Contains(string(page), "| `"+name+"` |") {
				p.t.Errorf("docs/metrics.md does not have %s", name)
			}
			continue
		}
		series, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if value == "" {
			series, value, _ = strings.Cut(strings.TrimSpace(line), " ")
		} else {
			series += "}"
		}
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			all[series] = n
		}
	}
	return all
}

// TestMetricsOfAWorkspace: what an operator looks at after a few turns.
func TestMetricsOfAWorkspace(t *testing.T) {
	s := startStation(t, fakeplatform.AUG)
	s.send("m1", "c", "run exit 3")
	s.send("m2", "c", "call list_peers {}")
	s.call("GetTask", object{"id": "nobody"})
	var got map[string]float64
	progtest.WaitFor(t, "readiness and a heartbeat", func() bool {
		got = s.scrape()
		return got["molecule_codex_ready"] == 1 && got[`molecule_codex_platform_call_duration_seconds_count{operation="heartbeat",outcome="ok"}`] > 0
	})
	for series, least := range map[string]float64{
		`molecule_codex_turn_duration_seconds_count{outcome="completed"}`:                                            2,
		`molecule_codex_turn_first_text_seconds_count`:                                                               2,
		`molecule_codex_turn_wait_seconds_count`:                                                                     2,
		`molecule_codex_tool_duration_seconds_count{kind="command"}`:                                                 1,
		`molecule_codex_tool_duration_seconds_count{kind="workspace"}`:                                               1,
		`molecule_codex_platform_call_duration_seconds_count{operation="register",outcome="ok"}`:                     1,
		`molecule_codex_platform_call_duration_seconds_count{operation="heartbeat",outcome="ok"}`:                    1,
		`molecule_codex_platform_call_duration_seconds_count{operation="list the peers",outcome="ok"}`:               1,
		`molecule_codex_platform_call_duration_seconds_count{operation="read the workspace's secrets",outcome="ok"}`: 1,
		`molecule_codex_journal_commit_duration_seconds_count`:                                                       4,
		`molecule_codex_rpc_errors_total{code="-32001"}`:                                                             1,
		`molecule_codex_child_up`:                   1,
		`molecule_codex_threads_loaded`:             1,
		`molecule_codex_turns_max`:                  4,
		`molecule_codex_check{check="codex"}`:       1,
		`molecule_codex_tokens_total{kind="input"}`: 1,
	} {
		if got[series] < least {
			t.Errorf("%s is %v, want %v at least", series, got[series], least)
		}
	}
	if mem := got[`molecule_codex_child_memory_bytes{of="codex"}`]; runtime.GOOS == "linux" && mem < 10<<20 {
		t.Errorf("codex takes %v bytes", mem)
	}
	if most := got["go_gc_gomemlimit_bytes"]; most < 48<<20 || most > 256<<20 {
		t.Errorf("the soft limit of our own memory is %v bytes", most)
	}
	t.Logf("%d series", len(got))
}

// TestChannelIsSeen: an inbox's messages are counted and, where a collector is, traced.
func TestChannelIsSeen(t *testing.T) {
	c := startCollector(t)
	x := poll(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_BSP_SCHEDULE_DELAY=50")
	x.say("say hello")
	x.told(1)
	workspace := `{workspace="` + x.handle.ID() + `"}`
	progtest.WaitFor(t, "a reply to be counted", func() bool {
		return x.scrape()[`molecule_codex_channel_replies_total{result="sent",workspace="`+x.handle.ID()+`"}`] == 1
	})
	got := x.scrape()
	if got["molecule_codex_channel_rows_total"+workspace] < 1 || got["molecule_codex_channel_last_poll_timestamp_seconds"+workspace] < 1e9 {
		t.Errorf("%v rows, last read at %v", got["molecule_codex_channel_rows_total"+workspace], got["molecule_codex_channel_last_poll_timestamp_seconds"+workspace])
	}
	if got[`molecule_codex_channel_polls_total{result="ok",workspace="`+x.handle.ID()+`"}`] < 1 {
		t.Error("no poll was counted")
	}
	x.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	traces := map[string]int{}
	for _, s := range c.spans {
		traces[s.trace()]++
	}
	for _, s := range c.spans {
		if s.Name == "turn" && traces[s.trace()] >= 4 {
			return
		}
	}
	t.Errorf("no trace of the message among %d spans", len(c.spans))
}
