package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// A pen writes on a terminal: what has been said, which scrolls by, and below it what is so now,
// which is wiped out before more is written. bubbletea's own renderer loses some of what it is to
// write above a frame that grows meanwhile (2.1).
type pen struct {
	out   io.Writer
	drawn []int // the widths of the rows that are to be wiped out
	at    int   // the one of these that the cursor is on
}

// A file is what a terminal is.
type file interface {
	io.ReadWriteCloser
	Fd() uintptr
}

// muted is a terminal, as bubbletea takes one, on which it writes nothing: it learns the size there,
// and a pen alone draws.
func muted(out io.Writer) io.Writer {
	if f, ok := out.(file); ok {
		return mutedFile{f}
	}
	return io.Discard
}

type mutedFile struct{ file }

// Write implements [io.Writer].
func (mutedFile) Write(b []byte) (int, error) { return len(b), nil }

// cursor is where the cursor is to be: the row of below, and the column.
type cursor struct{ row, column int }

// draw writes rows above, and has the rows below take the place of those that are there. No row may
// be as wide as the terminal: what some do at their last column differs.
func (p *pen) draw(above, below []string, to cursor) error {
	var b strings.Builder
	b.WriteString(ansi.SetModeSynchronizedOutput)
	b.WriteString(p.wiped())
	for _, row := range above {
		b.WriteString(row + "\r\n")
	}
	b.WriteString(strings.Join(below, "\r\n"))
	p.drawn, p.at = nil, 0
	for _, row := range below {
		p.drawn = append(p.drawn, ansi.StringWidth(row))
	}
	if len(below) > 0 {
		p.at = min(to.row, len(below)-1)
		b.WriteString(up(len(below)-1-p.at) + "\r" + right(to.column))
	}
	b.WriteString(ansi.ResetModeSynchronizedOutput)
	_, err := io.WriteString(p.out, b.String())
	return err
}

// lift wipes out what is so now, for others to write. Text that is pasted comes as keys again.
func (p *pen) lift() {
	_ = p.draw(nil, nil, cursor{})
	_, _ = io.WriteString(p.out, ansi.ResetModeBracketedPaste)
}

// put has the pen write again, below what others have written.
func (p *pen) put() {
	p.drawn, p.at = nil, 0
	_, _ = io.WriteString(p.out, ansi.SetModeBracketedPaste)
}

// wiped is what wipes out the rows below.
func (p *pen) wiped() string {
	if len(p.drawn) == 0 {
		return ""
	}
	return up(p.at) + "\r" + ansi.EraseScreenBelow
}

// resized says that the terminal is of another width. Some break the rows that are too wide for it
// anew, and some cut them off; so where there is such a row, only what is below the cursor is wiped
// out, and nothing that was said goes.
func (p *pen) resized(width int) {
	for _, w := range p.drawn {
		if w >= width {
			p.drawn, p.at = []int{0}, 0
			return
		}
	}
}

func up(n int) string    { return moved(n, 'A') }
func right(n int) string { return moved(n, 'C') }

func moved(n int, how rune) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%d%c", n, how)
}
