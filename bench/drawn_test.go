package bench

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

func TestScale(t *testing.T) {
	for top, want := range map[float64][2]float64{
		0: {1, 1}, 0.9: {0.2, 1}, 3: {0.5, 3}, 55: {10, 60}, 247: {50, 250}, 513_347: {100_000, 600_000}, 1016: {200, 1200},
	} {
		step, end := scale(top)
		if step != want[0] || end != want[1] {
			t.Errorf("scale(%g) = %g, %g, want %g, %g", top, step, end, want[0], want[1])
		}
	}
}

// TestSVG draws one plot of each kind and reads it as browsers and screen readers do.
func TestSVG(t *testing.T) {
	limit := bar{limit: 3}
	for name, c := range map[string]struct {
		p    plot
		want []string
	}{
		"distribution": {
			plot{title: "a < b", unit: "ms", limit: &limit, rows: []plotRow{
				{label: "one & two", values: map[string]float64{"p10": 1, "p25": 2, "p50": 2.5, "p75": 3, "p90": 4, "p99": 5}},
			}},
			[]string{"a &lt; b", "one &amp; two: 2.5 · 99 %: 5", "The bar is 3.", `class="box"`, "10 % to 90 %"},
		},
		"old distribution": {
			plot{title: "t", unit: "ms", rows: []plotRow{{label: "one", values: map[string]float64{"p50": 2.5, "p99": 5}}}},
			[]string{"stroke: median · ring: 99 %"},
		},
		"parts": {
			plot{title: "t", unit: "MiB", key: []string{"ours", "theirs"}, rows: []plotRow{{label: "idle", parts: []float64{30, 80}}}},
			[]string{"idle: 110 = 30 + 80. The parts are ours, theirs.", `class="part1"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			svg := c.p.svg()
			wellFormed(t, svg)
			for _, want := range append(c.want, `role="img"`, `aria-labelledby="title desc"`, "prefers-color-scheme:dark") {
				if !strings.Contains(svg, want) {
					t.Errorf("there is no %s in\n%s", want, svg)
				}
			}
		})
	}
}

// TestFiguresMeanRows draws every figure from a run that has all of its rows.
func TestFiguresMeanRows(t *testing.T) {
	raw, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range figures() {
		p, ok, err := f.plot(parse(string(raw)), bars())
		if err != nil {
			t.Error(err)
		}
		if ok && f.limit[0] != "" && p.limit == nil {
			t.Errorf("%s: there is no bar for %s of %s", f.file, f.limit[1], f.limit[0])
		}
		if ok {
			wellFormed(t, p.svg())
		}
	}
	broken := figure{file: "f", unit: "ms", rows: [][]string{{"no such row", "Turn/none"}}}
	if _, _, err := broken.plot(parse(string(raw)), nil); err == nil {
		t.Error("a figure of a row that its benchmark does not report is drawn")
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		switch _, err := d.Token(); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			t.Fatalf("%v:\n%s", err, svg)
		}
	}
}
