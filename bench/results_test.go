package bench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A result is one row of a run.
type result struct {
	name   string             // without "Benchmark" and the number of processors
	values map[string]float64 // by unit
	units  []string           // in their order
}

// A report is the raw output of go test -bench.
type report struct {
	config map[string]string
	rows   []result
}

// configKeys are those that tables need of describe and of go test.
func configKeys() []string { return []string{"date", "cores", "cpu", "go", "codex", "commit"} }

func parse(raw string) report {
	r := report{config: map[string]string{}}
	for line := range strings.Lines(raw) {
		fields := strings.Fields(line)
		if key, value, ok := strings.Cut(line, ": "); ok && slices.Contains(configKeys(), key) {
			r.config[key] = strings.TrimSpace(value)
			continue
		}
		if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(line, "Benchmark") {
			continue
		}
		row := result{name: strings.TrimPrefix(fields[0], "Benchmark"), values: map[string]float64{}}
		if i := strings.LastIndex(row.name, "-"); i > 0 {
			row.name = row.name[:i]
		}
		for i := 2; i < len(fields); i += 2 {
			row.values[fields[i+1]], _ = strconv.ParseFloat(fields[i], 64)
			row.units = append(row.units, fields[i+1])
		}
		r.rows = append(r.rows, row)
	}
	return r
}

func (r report) find(name string) (result, bool) {
	i := slices.IndexFunc(r.rows, func(row result) bool { return row.name == name })
	if i < 0 {
		return result{}, false
	}
	return r.rows[i], true
}

// ran reports whether the benchmark of a row was part of the run: one that is newer
// than the run was not.
func (r report) ran(name string) bool {
	benchmark, _, _ := strings.Cut(name, "/")
	return slices.ContainsFunc(r.rows, func(row result) bool { return row.name == benchmark || strings.HasPrefix(row.name, benchmark+"/") })
}

// machine says when and on what the run was.
func (r report) machine() (string, error) {
	for _, key := range configKeys() {
		if r.config[key] == "" {
			return "", fmt.Errorf("the run does not say its %s", key)
		}
	}
	return fmt.Sprintf("%s, %s cores of an %s, Go %s, codex %s, commit %s:\n\n", r.config["date"], r.config["cores"], r.config["cpu"],
		strings.TrimPrefix(r.config["go"], "go"), r.config["codex"], r.config["commit"]), nil
}

// promises returns the table of the bars and whether they are met.
func (r report) promises(bars []bar) (string, error) {
	machine, err := r.machine()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(machine + "| | bar | measured | |\n|---|---|---|---|\n")
	for _, bar := range bars {
		sign, verdict := "≥", "**missed**"
		if bar.atMost {
			sign = "≤"
		}
		limit := quantity(bar.limit, bar.unit[strings.LastIndex(bar.unit, "-")+1:])
		if !r.ran(bar.row) {
			fmt.Fprintf(&b, "| %s | %s %s | – | not in this run |\n", bar.what, sign, limit)
			continue
		}
		row, ok := r.find(bar.row)
		value, has := row.values[bar.unit]
		if !ok || !has {
			return "", fmt.Errorf("there is no %s of %s", bar.unit, bar.row)
		}
		if bar.met(value) {
			verdict = "met"
		}
		fmt.Fprintf(&b, "| %s | %s %s | %s | %s |\n", bar.what, sign, limit, quantity(value, bar.unit), verdict)
	}
	return b.String(), nil
}

// everything returns the table of all values, but for the quantiles that only plots show.
func (r report) everything() string {
	var b strings.Builder
	b.WriteString("| | |\n|---|---|\n")
	for _, row := range r.rows {
		var cells []string
		for _, unit := range row.units {
			if !slices.Contains(drawnUnits(), unit) {
				cells = append(cells, quantity(row.values[unit], unit))
			}
		}
		fmt.Fprintf(&b, "| %s | %s |\n", row.name, strings.Join(cells, ", "))
	}
	return b.String()
}

func drawnUnits() []string {
	var units []string
	for _, q := range drawn() {
		units = append(units, fmt.Sprintf("p%.0f-ms", q*100))
	}
	return units
}

// quantity writes a value and its unit, and before it what the unit is of:
// tree-pss-MiB, p50-ms.
func quantity(value float64, unit string) string {
	i := strings.LastIndex(unit, "-")
	return strings.TrimSpace(unit[:max(0, i)] + " " + number(value) + " " + unit[i+1:])
}

// number writes a value with three digits that count.
func number(value float64) string {
	if math.Abs(value) < 1000 {
		return strconv.FormatFloat(value, 'g', 3, 64)
	}
	digits := strconv.FormatFloat(math.Round(value/100)*100, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
