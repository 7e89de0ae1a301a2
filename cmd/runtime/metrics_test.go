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

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
)

var update = flag.Bool("update", false, "write the table of docs/operations.md and docs/cli.md anew")

// described collects what metrics say of themselves, those too that have no value yet.
type described struct {
	prometheus.Registerer
	rows []string
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
			labels := strings.ReplaceAll(m[3], ",", ", ")
			d.rows = append(d.rows, fmt.Sprintf("| `%s` | %s | %s |\n", m[1], labels, m[2]))
		}
	}
}

// TestMetricsPage keeps the table of docs/operations.md equal to the metrics that there
// are; the alarms are held to that table.
func TestMetricsPage(t *testing.T) {
	var d described
	server.NewMetrics(&d)
	d.MustRegister(newPlatformMetrics(prometheus.NewRegistry()).calls, newStateMetrics(nil))
	slices.Sort(d.rows)
	table := "\n| metric | labels | |\n|---|---|---|\n" + strings.Join(d.rows, "")

	path := filepath.Join(codextest.Root(t), "docs", "operations.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(page), "-update -->\n")
	got, tail, ok := strings.Cut(rest, "<!-- end of metrics -->")
	if !ok {
		t.Fatal("the page has no place for the table")
	}
	switch {
	case *update:
		err = os.WriteFile(path, []byte(head+"-update -->\n"+table+"\n<!-- end of metrics -->"+tail), 0o644)
		if err != nil {
			t.Fatal(err)
		}
	case got != table+"\n":
		t.Errorf("the page has other metrics: run go test ./cmd/runtime -run TestMetricsPage -update; want\n%s", table)
	}
}
