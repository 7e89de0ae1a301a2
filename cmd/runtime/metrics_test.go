package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/metrics"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/readiness"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/machine"
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
	case *metrics.Machines: // of several kinds
		switch name {
		case "molecule_codex_machine_lost_total":
			return "counter"
		case "molecule_codex_machine_wait_seconds":
			only := make(chan prometheus.Metric, 1)
			c.Collect(only) // it has nothing else before it is shown machines
			return d.histogram(name, <-only)
		}
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
	if strings.HasSuffix(name, "_total") {
		panic(fmt.Sprintf("%s: kind does not know what a %T is: give it a case", name, c))
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
	metrics.Calls(reg)
	reg.MustRegister(metrics.NewMachines())
	metrics.Commits(reg)
	metrics.NewInboxes(reg)
	machine.RegisterMetrics(reg)
	reg.MustRegister(metrics.NewState(nil), readiness.NewGauges(nil))
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
