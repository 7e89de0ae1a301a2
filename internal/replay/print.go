package replay

import (
	"fmt"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// String is the report for people.
func (r *Report) String() string {
	var b strings.Builder
	if r.Headless {
		b.WriteString("The beginning of this record is gone; what is left of that run is not played.\n\n")
	}
	for i, run := range r.Runs {
		if len(r.Runs) > 1 {
			fmt.Fprintf(&b, "Run %d of %d\n", i+1, len(r.Runs))
		}
		run.print(&b)
	}
	if r.Cut > 0 {
		fmt.Fprintf(&b, "The record is cut off in line %d: how it went on is not known.\n", r.Cut)
	}
	if r.OK {
		b.WriteString("Everything has ended as recorded.\n")
	} else {
		b.WriteString("Not as recorded.\n")
	}
	return b.String()
}

func (r *Run) print(b *strings.Builder) {
	fmt.Fprintf(b, "Recorded by runtime %s, made for codex %s, %s, lines %d to %d; codex was started %s.\n",
		r.Runtime, r.Codex, r.Began.UTC().Format(time.DateTime), r.FirstLine, r.LastLine, times(r.Children))
	if r.Lost > 0 {
		fmt.Fprintf(b, "%d entries are missing in it.\n", r.Lost)
	}
	b.WriteString("\n")
	for _, t := range r.Tasks {
		t.print(b)
	}
	if len(r.Tasks) == 0 {
		b.WriteString("No message was sent in it.\n\n")
	}
	if len(r.Divergences) > 0 {
		b.WriteString("Where it goes otherwise:\n")
		for _, d := range r.Divergences {
			fmt.Fprintf(b, "  line %d: %s\n", d.Line, d.What)
		}
		b.WriteString("\n")
	}
}

func (t *Task) print(b *strings.Builder) {
	sign := "ok  "
	if !t.OK {
		sign = "FAIL"
	}
	fmt.Fprintf(b, "%s  message %s (line %d, context %s)\n", sign, t.Message, t.Line, t.Context)
	fmt.Fprintf(b, "      recorded  %s\n", t.Recorded)
	fmt.Fprintf(b, "      now       %s", t.Now)
	if t.State != "" {
		fmt.Fprintf(b, ", task %s", t.State)
	}
	b.WriteString("\n")
	if took := t.Times.String(); took != "" {
		fmt.Fprintf(b, "      times     %s (of the record)\n", took)
	}
	for _, a := range t.Artifacts {
		name := a.ID
		if a.Name != "" {
			name += " " + a.Name
		}
		fmt.Fprintf(b, "      artifact  %s, %d bytes: %s\n", name, len(a.Text), brief.Line(a.Text, 60))
	}
	b.WriteString("\n")
}

func (e End) String() string {
	switch {
	case e.Outcome == "":
		return "has not ended"
	case e.Failure == "":
		return e.Outcome
	}
	return fmt.Sprintf("%s, %s: %s", e.Outcome, e.Failure, brief.Line(e.Reason, 100))
}

func (t Times) String() string {
	var parts []string
	for _, p := range []struct {
		name string
		ms   *float64
	}{{"waited", t.Waited}, {"first text after", t.FirstText}, {"took", t.Took}} {
		if p.ms != nil {
			parts = append(parts, fmt.Sprintf("%s %s", p.name, (time.Duration(*p.ms*1000)*time.Microsecond).Round(100*time.Microsecond)))
		}
	}
	return strings.Join(parts, ", ")
}

func times(n int) string {
	switch n {
	case 0:
		return "not at all"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
