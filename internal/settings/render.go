package settings

import (
	"fmt"
	"strings"
)

// Markdown renders the table for docs/settings.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Settings\n\nThe runtime is configured by its environment. This page is made from the table in\n" +
		"`internal/settings`; `go test ./internal/settings -update` writes it anew.\n\n" +
		"An empty variable counts as unset. Durations are written like `90s`, `10m` or `1h30m`.\n" +
		"A `RUNTIME_` name that looks like a misspelt setting stops the start; any other unknown one is a warning.\n" +
		"In a *workspace* means: with both `WORKSPACE_ID` and `PLATFORM_URL` set; otherwise the runtime stands alone.\n")
	group := ""
	for _, r := range Rows() {
		if r.Group != group {
			group = r.Group
			fmt.Fprintf(&b, "\n## %s\n\n| variable | meaning | default |\n|---|---|---|\n", group)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.Name, r.describe("`"), r.Default)
	}
	return b.String()
}

// Help renders the table for a terminal of the given width.
func Help(width int) string {
	const indent = 6
	var b strings.Builder
	group := ""
	for _, r := range Rows() {
		if r.Group != group {
			group = r.Group
			fmt.Fprintf(&b, "\n  %s\n", group)
		}
		text := r.describe("")
		if r.Default != "" {
			text += " Default: " + r.Default + "."
		}
		fmt.Fprintf(&b, "    %s\n", r.Name)
		for line := range strings.Lines(wrap(text, width-indent)) {
			b.WriteString(strings.Repeat(" ", indent) + line)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// describe is the explanation with the allowed values, each between quotes.
func (r Row) describe(quote string) string {
	if len(r.OneOf) < 2 {
		return r.Help
	}
	return r.Help + " One of " + quote + strings.Join(r.OneOf, quote+", "+quote) + quote + "."
}

// wrap breaks text between words so that no line is longer than width, unless
// a word is. The last line does not end in a newline.
func wrap(text string, width int) string {
	var b strings.Builder
	used := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case used == 0:
		case used+1+len(word) > width:
			b.WriteByte('\n')
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += len(word)
	}
	return b.String()
}
