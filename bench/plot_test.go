package bench

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// A plot is rows of one quantity beside each other, drawn as a picture that says in
// words, too, what it shows, and is readable on light and on dark.
type plot struct {
	title string
	unit  string // of all values
	limit *bar   // drawn as a line, or nil
	key   []string
	rows  []plotRow
}

// A plotRow is a distribution or, if it has parts, a bar of them.
type plotRow struct {
	label  string
	values map[string]float64 // by quantile: p10, p25, p50, p75, p90, p99
	parts  []float64          // by the plot's key
}

// Where things stand, in the picture's own units.
const (
	plotWidth = 720
	plotLeft  = 205 // where the values begin
	plotRight = 560 // where they end; numbers follow
	plotTop   = 50
	rowHeight = 28
)

// plotStyle has the colours, and the same ones for eyes in the dark. The ground is
// painted: a page need not be as dark as the reader's system.
const plotStyle = `<style>
text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#1f2328}
.title{font-weight:600;font-size:15px}.soft{fill:#59636e}.small{font-size:11px}
.ground{fill:#fff}.grid{stroke:#d1d9e0}.limit{stroke:#cf222e;stroke-dasharray:4 3}.over{fill:#cf222e}
.line{stroke:#0969da;stroke-width:1.5}.box{fill:#b6e3ff;stroke:#0969da}.mid{stroke:#0a3069;stroke-width:2.5}.far{fill:none;stroke:#0969da;stroke-width:1.5}
.part0{fill:#0969da}.part1{fill:#6e7781}.part2{fill:#bf8700}.part3{fill:#8250df}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.soft{fill:#9198a1}.ground{fill:#0d1117}.grid{stroke:#3d444d}
.limit{stroke:#ff7b72}.over{fill:#ff7b72}.line{stroke:#58a6ff}.box{fill:#0c2d6b;stroke:#58a6ff}.mid{stroke:#cae8ff}.far{stroke:#58a6ff}
.part0{fill:#388bfd}.part1{fill:#8b949e}.part2{fill:#d29922}.part3{fill:#a371f7}}
</style>
`

// svg draws the plot.
func (p plot) svg() string {
	step, top := scale(p.reach())
	at := func(v float64) float64 { return plotLeft + v/top*(plotRight-plotLeft) }
	bottom := plotTop + rowHeight*len(p.rows)
	height := bottom + 30
	if len(p.key) != 1 {
		height += 26 // the legend
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"title desc\">\n", plotWidth, height)
	fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n", html.EscapeString(p.title), html.EscapeString(p.words()))
	b.WriteString(plotStyle)
	fmt.Fprintf(&b, "<rect class=\"ground\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", plotWidth, height)
	fmt.Fprintf(&b, "<text class=\"title\" x=\"16\" y=\"28\">%s, %s</text>\n", html.EscapeString(p.title), html.EscapeString(p.unit))
	for v := 0.0; v <= top*1.0001; v += step {
		fmt.Fprintf(&b, "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text class=\"soft small\" text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">%s</text>\n",
			at(v), plotTop, bottom, at(v), bottom+16, tick(v))
	}
	for i, row := range p.rows {
		y := float64(plotTop) + rowHeight*(float64(i)+.5)
		fmt.Fprintf(&b, "<text text-anchor=\"end\" x=\"%d\" y=\"%.1f\">%s</text>\n", plotLeft-10, y+4.5, html.EscapeString(row.label))
		row.draw(&b, at, y)
		fmt.Fprintf(&b, "<text class=\"small\" x=\"%d\" y=\"%.1f\">%s</text>\n", plotRight+14, y+4, html.EscapeString(row.numbers(p.key)))
	}
	if p.limit != nil {
		fmt.Fprintf(&b, "<path class=\"limit\" d=\"M%.1f %dV%d\"/><text class=\"over small\" text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">bar %s</text>\n",
			at(p.limit.limit), plotTop-4, bottom, at(p.limit.limit), plotTop-8, tick(p.limit.limit))
	}
	p.legend(&b, float64(bottom)+40)
	b.WriteString("</svg>\n")
	return b.String()
}

// draw draws a row around the height y.
func (r plotRow) draw(b *strings.Builder, at func(float64) float64, y float64) {
	if r.parts != nil {
		sum := 0.0
		for i, part := range r.parts {
			fmt.Fprintf(b, "<rect class=\"part%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"14\"/>\n", i, at(sum), y-7, at(sum+part)-at(sum))
			sum += part
		}
		return
	}
	low, high := "p10", "p90"
	if _, ok := r.values[low]; !ok { // a run from before these were kept
		low, high = "p50", "p99"
	}
	fmt.Fprintf(b, "<path class=\"line\" d=\"M%.1f %.1fH%.1f\"/>", at(r.values[low]), y, at(r.values[high]))
	if _, ok := r.values["p25"]; ok {
		fmt.Fprintf(b, "<rect class=\"box\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"12\"/>", at(r.values["p25"]), y-6, at(r.values["p75"])-at(r.values["p25"]))
	}
	fmt.Fprintf(b, "<path class=\"mid\" d=\"M%.1f %.1fV%.1f\"/>", at(r.values["p50"]), y-7, y+7)
	if far, ok := r.values["p99"]; ok {
		fmt.Fprintf(b, "<circle class=\"far\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>", at(far), y)
	}
	b.WriteString("\n")
}

// legend says what the marks mean.
func (p plot) legend(b *strings.Builder, y float64) {
	if p.key == nil {
		fmt.Fprintf(b, "<text class=\"soft small\" x=\"16\" y=\"%.1f\">%s</text>\n", y, html.EscapeString(marks(p.rows[0])))
		return
	}
	if len(p.key) == 1 {
		return
	}
	x := 16
	for i, name := range p.key {
		fmt.Fprintf(b, "<rect class=\"part%d\" x=\"%d\" y=\"%.1f\" width=\"10\" height=\"10\"/><text class=\"soft small\" x=\"%d\" y=\"%.1f\">%s</text>\n",
			i, x, y-9, x+15, y, html.EscapeString(name))
		x += 40 + 7*len(name)
	}
}

func marks(row plotRow) string {
	if _, ok := row.values["p25"]; ok {
		return "stroke: median · box: half of all · line: 10 % to 90 % · ring: 99 %"
	}
	return "stroke: median · ring: 99 %"
}

// numbers are the values at the end of a row.
func (r plotRow) numbers(key []string) string {
	if r.parts == nil {
		text := number(r.values["p50"])
		if far, ok := r.values["p99"]; ok {
			text += " · 99 %: " + number(far)
		}
		return text
	}
	sum := 0.0
	for _, part := range r.parts {
		sum += part
	}
	if len(key) == 1 {
		return number(sum)
	}
	texts := make([]string, len(r.parts))
	for i, part := range r.parts {
		texts[i] = number(part)
	}
	return number(sum) + " = " + strings.Join(texts, " + ")
}

// words say what the picture shows.
func (p plot) words() string {
	rows := make([]string, len(p.rows))
	for i, row := range p.rows {
		rows[i] = row.label + ": " + row.numbers(p.key)
	}
	text := "In " + p.unit + ". " + strings.Join(rows, "; ") + "."
	if len(p.key) > 1 {
		text += " The parts are " + strings.Join(p.key, ", ") + "."
	}
	if p.limit != nil {
		text += " The bar is " + number(p.limit.limit) + "."
	}
	return text
}

// reach is the largest value that has to have its place.
func (p plot) reach() float64 {
	top := 0.0
	if p.limit != nil {
		top = p.limit.limit * 1.05
	}
	for _, row := range p.rows {
		sum := 0.0
		for _, part := range row.parts {
			sum += part
		}
		for _, value := range row.values {
			sum = max(sum, value)
		}
		top = max(top, sum)
	}
	return top
}

// scale returns a round step and the end of an axis that has to hold top.
func scale(top float64) (step, end float64) {
	if top <= 0 {
		return 1, 1
	}
	step = math.Pow(10, math.Floor(math.Log10(top)))
	for _, factor := range []float64{.2, .5, 1, 2} {
		if top/(step*factor) <= 6 {
			step *= factor
			break
		}
	}
	return step, math.Ceil(top/step) * step
}

func tick(v float64) string {
	if v >= 10_000 {
		return strconv.FormatFloat(v/1000, 'g', -1, 64) + "k"
	}
	return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'g', -1, 64)
}
