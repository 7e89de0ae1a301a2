package terminal

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// A look is how a line looks.
type look string

// The looks, as a terminal's sequences have them: of the colours only those that it chooses itself.
const (
	plain  look = ""
	faint  look = "2"
	strong look = "1"
	bad    look = "31"
	warn   look = "33"
	asks   look = "1;33"
	added  look = "32"
	gone   look = "31"
	place  look = "36"
)

// A palette is what a terminal can show.
type palette struct {
	color, unicode bool
	marks          marks
}

// marks are the signs that are not letters.
type marks struct{ done, doing, open, prompt, calls, thinks, between, more string }

// paletteOf is what the terminal of an environment can show.
func paletteOf(environ []string) palette {
	p := palette{color: !dumb(environ) && colorprofile.Env(environ) > colorprofile.ASCII, unicode: speaksUnicode(environ), marks: marks{"x", ">", " ", "> ", "-> ", "- ", " - ", "..."}}
	if p.unicode {
		p.marks = marks{"✓", "▸", "·", "› ", "→ ", "· ", " · ", "…"}
	}
	return p
}

// clip is the beginning of a text on one line.
func (p palette) clip(text string, n int) string {
	line := brief.Line(text, n)
	if head, cut := strings.CutSuffix(line, "…"); cut && !p.unicode {
		return head + p.marks.more
	}
	return line
}

// speaksUnicode reports whether the locale does.
func speaksUnicode(environ []string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := valueOf(environ, name); value != "" {
			upper := strings.ToUpper(value)
			return strings.Contains(upper, "UTF-8") || strings.Contains(upper, "UTF8")
		}
	}
	return false
}

// dumb reports whether the terminal cannot move its cursor.
func dumb(environ []string) bool {
	term := valueOf(environ, "TERM")
	return term == "" || term == "dumb"
}

// valueOf is that of a variable; of two of a name the last one counts.
func valueOf(environ []string, name string) string {
	value := ""
	for _, v := range environ {
		if after, ok := strings.CutPrefix(v, name+"="); ok {
			value = after
		}
	}
	return value
}

func (p palette) paint(l look, text string) string {
	if !p.color || l == plain || text == "" {
		return text
	}
	return fmt.Sprintf("\x1b[%sm%s\x1b[0m", l, text)
}
