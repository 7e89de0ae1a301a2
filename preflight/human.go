package preflight

import (
	"fmt"
	"io"
	"strings"
)

// WriteHuman writes the report for people, one check a line and what to do
// below it, with colours if colour is set.
func (r Report) WriteHuman(w io.Writer, colour bool) error {
	width := 0
	for _, res := range r.Results {
		width = max(width, len(res.Name))
	}
	var b strings.Builder
	for _, res := range r.Results {
		fmt.Fprintf(&b, "%s %-*s  %s\n", mark(res.Status, colour), width, res.Name, res.Detail)
		if res.Fix != "" {
			fmt.Fprintf(&b, "  %-*s  → %s\n", width, "", res.Fix)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", r.verdict())
	_, err := io.WriteString(w, b.String())
	return err
}

func mark(s Status, colour bool) string {
	sign, code := "✓", "32"
	switch s {
	case Fail:
		sign, code = "✗", "31"
	case Warn:
		sign, code = "!", "33"
	case OK:
	}
	if !colour {
		return sign
	}
	return "\x1b[" + code + "m" + sign + "\x1b[0m"
}

func (r Report) verdict() string {
	switch failed, warned := r.count(Fail), r.count(Warn); {
	case failed > 0:
		return fmt.Sprintf("A turn would not run: %s failed.", counted(failed, "check"))
	case warned > 0:
		return fmt.Sprintf("A turn would run; %s.", counted(warned, "warning"))
	default:
		return "A turn would run."
	}
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
