package screentest

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
)

// Patience is how long a display may take to show something.
const Patience = 30 * time.Second

// A Display is what a person sees of a terminal. What is written to it is drawn.
type Display struct {
	tb testing.TB

	mu    sync.Mutex // guards what follows
	term  *vt.Emulator
	all   []byte        // that was written
	drawn chan struct{} // closed when something was drawn, and made anew
}

// NewDisplay returns an empty one of so many columns and rows.
func NewDisplay(tb testing.TB, columns, rows int) *Display {
	return &Display{tb: tb, term: vt.NewEmulator(columns, rows), drawn: make(chan struct{})}
}

// Write implements [io.Writer].
func (d *Display) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, b...)
	n, err := d.term.Write(b)
	close(d.drawn)
	d.drawn = make(chan struct{})
	return n, err
}

// Text is what can be seen, and what has scrolled away above it.
func (d *Display) Text() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.textLocked()
}

func (d *Display) textLocked() string {
	var b strings.Builder
	for y := range d.term.ScrollbackLen() {
		var row strings.Builder
		for x := range d.term.Width() {
			if cell := d.term.ScrollbackCellAt(x, y); cell != nil {
				row.WriteString(cell.Content)
			}
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	for row := range strings.Lines(d.term.String()) {
		b.WriteString(strings.TrimRight(row, " \n") + "\n")
	}
	return strings.Trim(b.String(), "\n") + "\n"
}

// Raw is all that was written.
func (d *Display) Raw() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return string(d.all)
}

// Resize makes the terminal another size.
func (d *Display) Resize(columns, rows int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.term.Resize(columns, rows)
}

// Await waits until all of the texts can be seen, and returns what can.
func (d *Display) Await(texts ...string) string {
	d.tb.Helper()
	return d.Until(strings.Join(texts, ", "), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// Until waits until what can be seen is as it is to be, and returns it.
func (d *Display) Until(what string, so func(screen string) bool) string {
	d.tb.Helper()
	late := time.After(Patience)
	for {
		d.mu.Lock()
		screen, drawn := d.textLocked(), d.drawn
		d.mu.Unlock()
		if so(screen) {
			return screen
		}
		select {
		case <-drawn:
		case <-late:
			d.tb.Fatalf("the screen does not show %s:\n%s", what, screen)
		}
	}
}
