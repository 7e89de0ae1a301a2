package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
)

var update = flag.Bool("update", false, "write the tables of docs/metrics.md and docs/cli.md anew")

// described collects what metrics say of themselves, those too that have no value yet.
type described struct {
	prometheus.Registerer
	rows, buckets []string
}

var metricDesc = regexp.MustCompile(`fqName: "([^"]+)", help: "((?:[^"\\]|\\.)*)"(?:, unit: "[^"]*")?, constLabels: \{\}, variableLabels: \{([^}]*)\}`)

func (d *described) MustRegister(all ...prometheus.Collector) {
	for _, c := range all {
		found := make(chan *prometheus.Desc)
		go func() {
			c.Describe(found)
			close(found)
		}()
		for desc := range found {
			m := metricDesc.FindStringSubmatch(desc.String())
			if m == nil {
				panic("a description reads otherwise: " + desc.String())
			}
			var labels []string
			if m[3] != "" {
				labels = strings.Split(m[3], ",")
			}
			d.rows = append(d.rows, fmt.Sprintf("| `%s` | %s | %s | %s |\n", m[1], d.kind(m[1], c, labels), strings.Join(labels, ", "), m[2]))
		}
	}
}

// kind is the kind of a metric; of a histogram it notes the buckets, too.
func (d *described) kind(name string, c prometheus.Collector, labels []string) string {
	switch c := c.(type) {
	case *prometheus.HistogramVec:
		return d.histogram(name, c.WithLabelValues(labels...).(prometheus.Metric))
	case *prometheus.CounterVec:
		return "counter"
	case prometheus.Histogram:
		return d.histogram(name, c)
	case prometheus.Metric:
		var m dto.Metric
		if c.Write(&m) == nil && m.Counter != nil {
			return "counter"
		}
	}
	return "gauge"
}

func (d *described) histogram(name string, m prometheus.Metric) string {
	var h dto.Metric
	if err := m.Write(&h); err != nil {
		panic(err)
	}
	var bounds []string
	for _, b := range h.Histogram.Bucket {
		bounds = append(bounds, fmt.Sprint(b.GetUpperBound()))
	}
	d.buckets = append(d.buckets, fmt.Sprintf("| `%s` | %s |\n", name, strings.Join(bounds, " ")))
	return "histogram"
}

// ours registers every metric of the program.
func ours(reg prometheus.Registerer) {
	server.NewMetrics(reg)
	newPlatformMetrics(reg)
	commits(reg)
	newChannelMetrics(reg)
	reg.MustRegister(newStateMetrics(nil), newGauges(nil, nil))
}

// TestMetricsPage keeps the tables of docs/metrics.md equal to the metrics that there
// are; alarms and dashboard are held to that page.
func TestMetricsPage(t *testing.T) {
	var d described
	ours(&d)
	slices.Sort(d.rows)
	slices.Sort(d.buckets)
	tables := "\n| metric | kind | labels | |\n|---|---|---|---|\n" + strings.Join(d.rows, "") +
		"\nThe buckets of the histograms, in seconds:\n\n| histogram | up to |\n|---|---|\n" + strings.Join(d.buckets, "") + "\n"

	const begin, end = "-update -->\n", "<!-- end of the tables -->"
	path := filepath.Join(codextest.Root(t), "docs", "metrics.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(page), begin)
	got, tail, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatal("the page has no place for the tables")
	}
	switch {
	case *update:
		if err := os.WriteFile(path, []byte(head+begin+tables+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	case got != tables:
		t.Errorf("the page has other metrics: run go test ./cmd/runtime -run TestMetricsPage -update; want\n%s", tables)
	}
}

// TestMetricNames holds the names to what Prometheus asks of names.
func TestMetricNames(t *testing.T) {
	var d described
	ours(&d)
	for _, row := range d.rows {
		cells := strings.Split(row, " | ")
		name, kind := strings.Trim(cells[0], "| `"), cells[1]
		if counts := strings.HasSuffix(name, "_total"); counts != (kind == "counter") {
			t.Errorf("%s is a %s", name, kind)
		}
		if kind == "histogram" && !strings.HasSuffix(name, "_seconds") {
			t.Errorf("%s is a histogram of what?", name)
		}
	}
}

// TestGauges asks an executor that has done nothing, and one that is not ready.
func TestGauges(t *testing.T) {
	e := executor.New(executor.Config{})
	t.Cleanup(func() { _ = e.Close(t.Context()) })
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(newGauges(e.Health, func() *readiness { return nil }))
	began := time.Now()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("a scrape took %s", took)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			got[strings.TrimPrefix(f.GetName(), "molecule_codex_")] += m.Gauge.GetValue()
		}
	}
	delete(got, "child_state_seconds")
	want := map[string]float64{"turns_max": 4, "turn_slots": 4, "turn_slots_full_seconds": 0, "questions_open": 0, "queue_bytes": 0, "threads_loaded": 0, "child_up": 0, "ready": 0}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("gauges = %v, want %v", got, want)
	}
}

// TestGaugeOfFullSlots: it rises from the moment on in which the last slot was given away,
// not only from when people are told.
func TestGaugeOfFullSlots(t *testing.T) {
	since := time.Now().Add(-time.Minute)
	for name, c := range map[string]struct {
		full  time.Time
		least float64
	}{"one is free": {}, "all are taken": {since, 60}} {
		reg := prometheus.NewPedanticRegistry()
		reg.MustRegister(newGauges(
			func() executor.Health { return executor.Health{Slots: executor.Slots{Limit: 4, Full: c.full}} },
			func() *readiness { return nil }))
		got := gathered(t, reg)["molecule_codex_turn_slots_full_seconds"]
		if most := time.Since(since).Seconds(); got < c.least || got > most || c.full.IsZero() && got != 0 {
			t.Errorf("%s: %v seconds", name, got)
		}
	}
}

// TestGaugesOfReadiness: they say what a look at readiness says, and each check's result.
func TestGaugesOfReadiness(t *testing.T) {
	e := executor.New(executor.Config{})
	t.Cleanup(func() { _ = e.Close(t.Context()) })
	for status, want := range map[preflight.Status]float64{preflight.OK: 1, preflight.Warn: 1, preflight.Fail: 0} {
		r := &readiness{executor: e, redact: logging.NewRedactor(), checks: []preflight.Check{{
			Name: "one", Run: func(context.Context) preflight.Result { return preflight.Result{Status: status} },
		}}}
		r.checked(t.Context())
		got := readinessGauges(t, r)
		r.close()
		if got["molecule_codex_ready"] != want || got["molecule_codex_check one"] != want {
			t.Errorf("after a check that is %s: %v", status, got)
		}
	}
}

// readinessGauges returns the gauges beside a readiness.
func readinessGauges(t *testing.T, r *readiness) map[string]float64 {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(newGauges(r.executor.Health, func() *readiness { return r }))
	return gathered(t, reg)
}

// gathered returns gauges by their names and labels.
func gathered(t *testing.T, reg prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			name := f.GetName()
			for _, l := range m.Label {
				name += " " + l.GetValue()
			}
			got[name] = m.Gauge.GetValue()
		}
	}
	return got
}
