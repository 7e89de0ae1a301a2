package check

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// A panel of a dashboard, as far as it is held to something.
type panel struct {
	ID          int
	Type, Title string
	Description string
	GridPos     struct{ H, W, X, Y int }
	Datasource  struct{ UID string }
	Targets     []struct {
		Expr, RefID string
		Datasource  struct{ UID string }
	}
	FieldConfig struct{ Defaults struct{ Unit string } }
}

type dashboard struct {
	Title, UID    string
	SchemaVersion int
	Panels        []panel
	Annotations   struct{ List []struct{ Name, Expr string } }
	Templating    struct {
		List []struct{ Name, Type, Query string }
	}
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	text, err := os.ReadFile("../grafana/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// plain is a query with what Grafana fills in.
func plain(query string) string {
	return strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h").Replace(query)
}

// queries are all of a dashboard, by who asks.
func (d dashboard) queries() map[string][]string {
	all := map[string][]string{}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all[p.Title] = append(all[p.Title], plain(target.Expr))
		}
	}
	for _, a := range d.Annotations.List {
		all[a.Name] = append(all[a.Name], plain(a.Expr))
	}
	for _, v := range d.Templating.List {
		if m := regexp.MustCompile(`^label_values\((.*), [a-z]+\)$`).FindStringSubmatch(v.Query); m != nil {
			all["$"+v.Name] = append(all["$"+v.Name], m[1])
		}
	}
	return all
}

// known labels of each metric, by the page; those that Prometheus adds are everybody's.
func knownLabels(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{"up": nil, "process_resident_memory_bytes": nil, "process_cpu_seconds_total": nil}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (?:counter|gauge|histogram) \\| ([a-z, ]*) \\|").FindAllSubmatch(page, -1) {
		all[string(row[1])] = strings.FieldsFunc(string(row[2]), func(r rune) bool { return r == ',' || r == ' ' })
	}
	return all
}

// TestDashboard holds that each query of the dashboard asks for a metric that there is, by
// labels that it has, and that every metric is shown.
func TestDashboard(t *testing.T) {
	d, known := readDashboard(t), knownLabels(t)
	shown := map[string]bool{}
	for who, queries := range d.queries() {
		for _, query := range queries {
			asksFor(t, query, func(name string) {
				shown[name] = true
				if _, ok := known[name]; !ok {
					t.Errorf("%s asks for %s, which docs/metrics.md does not know", who, name)
				}
			})
			holdLabels(t, who, query, known)
		}
	}
	for name := range known {
		if !shown[name] {
			t.Errorf("%s is on no panel", name)
		}
	}
	if len(known) < 30 {
		t.Errorf("docs/metrics.md has only %d metrics that can be read", len(known))
	}
}

// holdLabels holds that a query uses no label that its metric does not have.
func holdLabels(t *testing.T, who, query string, known map[string][]string) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		return // said already
	}
	common := []string{model.MetricNameLabel, "job", "instance", "le"}
	has := slices.Clone(common)
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			of := known[regexp.MustCompile("_(bucket|count|sum)$").ReplaceAllString(selector.Name, "")]
			has = append(has, of...)
			for _, m := range selector.LabelMatchers {
				if !slices.Contains(append(slices.Clone(common), of...), m.Name) {
					t.Errorf("%s: %s has no label %s", who, selector.Name, m.Name)
				}
			}
		}
		return nil
	})
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if sum, ok := node.(*parser.AggregateExpr); ok {
			for _, label := range sum.Grouping {
				if !slices.Contains(has, label) {
					t.Errorf("%s: nothing in %s has a label %s", who, query, label)
				}
			}
		}
		return nil
	})
}

// TestDashboardIsWhole: Grafana takes it, by whatever name its Prometheus goes, and every
// panel says what it shows and lies on no other.
func TestDashboardIsWhole(t *testing.T) {
	d := readDashboard(t)
	if d.UID == "" || d.Title == "" || d.SchemaVersion < 30 {
		t.Errorf("%q %q of schema %d", d.UID, d.Title, d.SchemaVersion)
	}
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] {
			t.Errorf("two panels have the id %d", p.ID)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("%q lies on %q, or beyond the edge", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Description == "" || len(p.Targets) == 0 || p.Datasource.UID != "${datasource}" {
			t.Errorf("%q lacks a description, a query or the datasource", p.Title)
		}
		for _, target := range p.Targets {
			// Machines are no workspaces, and scraped as a job of their own.
			chosen := strings.Contains(target.Expr, `job=~"$job",instance=~"$instance"`) || strings.Contains(target.Expr, "molecule_machine_")
			if target.Datasource.UID != "${datasource}" || target.RefID == "" || !chosen {
				t.Errorf("%q: a query is not of the chosen workspaces: %s", p.Title, target.Expr)
			}
		}
	}
}
