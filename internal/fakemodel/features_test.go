package fakemodel_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

// variants are the sets of overrides that BenchmarkFeatures compares; the
// decision that came of it is in docs/codex-features.md.
func variants() []variant {
	lean := []string{
		"features.plugins=false", "features.apps=false", "features.goals=false", "features.skill_search=false",
		"analytics.enabled=false", "tools.update_plan.enabled=true",
	}
	all := append(slices.Clone(lean), "features.remote_plugin=false", "features.tool_suggest=false",
		"features.shell_snapshot=false", "features.multi_agent=false", "features.hooks=false",
		"features.image_generation=false", "features.browser_use=false", "features.browser_use_external=false",
		"features.computer_use=false", "features.in_app_browser=false", "skills.bundled.enabled=false")
	list := []variant{{"codex", nil}, {"codex-again", nil}}
	for _, override := range append(slices.Clone(lean[:5]), "features.shell_snapshot=false", "features.hooks=false") {
		list = append(list, variant{strings.TrimPrefix(override, "features."), []string{override}})
	}
	return append(list, variant{"lean", lean}, variant{"all-off", all})
}

type variant struct {
	name      string
	overrides []string
}

// A measured is a variant under measurement.
type measured struct {
	variant
	codex  *codex
	thread string
	took   []time.Duration
	ready  time.Duration // from the start of the process until it had a thread
}

// BenchmarkFeatures measures what codex's own features cost: a turn of each
// variant after the other, so that all see the same machine. Run it with
//
//	go test -run '^$' -bench Features -benchtime 60x ./internal/fakemodel
func BenchmarkFeatures(b *testing.B) {
	b.Run("answer", func(b *testing.B) { compare(b, "say hello") })
	b.Run("command", func(b *testing.B) { compare(b, "run true") })
}

func compare(b *testing.B, say string) {
	var runs []*measured
	for _, v := range variants() {
		var args []string
		for _, o := range v.overrides {
			args = append(args, "-c", o)
		}
		began := time.Now()
		m := &measured{variant: v, codex: startWith(b, modeltest.Start(b, fakemodel.Keywords), args...)}
		m.thread = m.codex.thread()
		m.ready = time.Since(began)
		m.codex.run(m.thread, "say warm")
		runs = append(runs, m)
	}
	b.ResetTimer()
	for round := 0; b.Loop(); round++ {
		for i := range runs {
			m := runs[(i+round)%len(runs)]
			began := time.Now()
			m.codex.run(m.thread, say)
			m.took = append(m.took, time.Since(began))
		}
	}
	b.StopTimer()
	// Other work on the machine moves all variants of a round alike, so the
	// differences within a round tell more than the percentiles do.
	differences := make([]time.Duration, len(runs))
	for i, m := range runs {
		against := make([]time.Duration, len(m.took))
		for i := range against {
			against[i] = m.took[i] - runs[0].took[i]
		}
		slices.Sort(against)
		differences[i] = against[len(against)/2]
	}
	for i, m := range runs {
		slices.Sort(m.took)
		last := m.codex.model.Requests()[0]
		b.Logf("%-20s p50 %6.2f ms  median of the differences %+5.2f ms  p90 %6.2f ms  thread after %4d ms  RSS %5.1f MB  PSS %5.1f MB  first request %6d bytes, %d tools: %s",
			m.name, millis(m.took[len(m.took)/2]), millis(differences[i]), millis(m.took[len(m.took)*9/10]), m.ready.Milliseconds(),
			memory(b, m.codex.pid, "Rss"), memory(b, m.codex.pid, "Pss"),
			len(last.Body), len(last.Tools), strings.Join(last.Tools, " "))
	}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// memory sums a figure of smaps_rollup, in MB, over a process and its descendants.
func memory(tb testing.TB, pid int, figure string) float64 {
	tb.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0 // it has just ended
	}
	var sum float64
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, figure+":"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				tb.Fatal(err)
			}
			sum += kb / 1024
		}
	}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		children, _ := os.ReadFile(task)
		for child := range strings.FieldsSeq(string(children)) {
			if n, err := strconv.Atoi(child); err == nil {
				sum += memory(tb, n, figure)
			}
		}
	}
	return sum
}

// A gate is an HTTP proxy that lets nothing through and remembers who was
// called.
type gate struct {
	mu    sync.Mutex
	hosts map[string]int
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.hosts[r.Host]++
	g.mu.Unlock()
	http.Error(w, "nothing gets through", http.StatusBadGateway)
}

func openGate(tb testing.TB) (*gate, string) {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	g := &gate{hosts: map[string]int{}}
	server := &http.Server{Handler: g, ReadHeaderTimeout: time.Minute}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()
	tb.Cleanup(func() { _ = server.Close(); <-served })
	return g, "http://" + listener.Addr().String()
}

// BenchmarkPhoning lists the hosts that codex calls by itself in its first seconds.
func BenchmarkPhoning(b *testing.B) {
	for _, v := range variants() {
		g, url := openGate(b)
		for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
			b.Setenv(name, url)
		}
		b.Setenv("NO_PROXY", "127.0.0.1")
		b.Setenv("no_proxy", "127.0.0.1")
		var args []string
		for _, o := range v.overrides {
			args = append(args, "-c", o)
		}
		c := startWith(b, modeltest.Start(b, fakemodel.Keywords), args...)
		thread := c.thread()
		c.run(thread, "say hello")
		c.run(thread, "wait 4s\nsay hello")
		g.mu.Lock()
		b.Logf("%-20s calls %v", v.name, g.hosts)
		g.mu.Unlock()
	}
}
