package preflight

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// WriteHuman writes the report for people: what it is about, and one check a
// line with what to do below it, with colours if colour is set.
func (r Report) WriteHuman(w io.Writer, colour bool) error {
	width := 0
	for _, res := range r.Results {
		width = max(width, len(res.Name))
	}
	var b strings.Builder
	if r.For != "" {
		fmt.Fprintf(&b, "%s\n\n", r.title())
	}
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

func (r Report) title() string {
	if r.Why == "" {
		return "For runtime " + r.For + "."
	}
	return "For runtime " + r.For + ": " + r.Why + ". --for says otherwise."
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
	subject := cmp.Or(r.Subject, "A turn")
	switch failed, warned := r.count(Fail), r.count(Warn); {
	case failed > 0:
		return fmt.Sprintf("%s would not run: %s failed.", subject, counted(failed, "check"))
	case warned > 0:
		return fmt.Sprintf("%s would run; %s.", subject, counted(warned, "warning"))
	default:
		return subject + " would run."
	}
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
