package terminal

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/screentest"
)

// TestPen draws what is so now below what was said, also on a terminal that becomes narrower than a
// row of it, which it may break or cut: nothing that was said goes.
func TestPen(t *testing.T) {
	d := screentest.NewDisplay(t, 40, 10)
	p := &pen{out: d}
	draw := func(above, below []string, at cursor) {
		t.Helper()
		if err := p.draw(above, below, at); err != nil {
			t.Fatal(err)
		}
	}
	draw([]string{"said"}, []string{"plan", "> ", "state"}, cursor{1, 2})
	draw([]string{"and said"}, []string{strings.Repeat("p", 30), "> x", "state"}, cursor{1, 3})
	if got, want := d.Text(), "said\nand said\n"+strings.Repeat("p", 30)+"\n> x\nstate\n"; got != want {
		t.Errorf("drawn:\n%s\nwant:\n%s", got, want)
	}
	d.Resize(20, 10)
	p.resized(20)
	p.resized(19)
	draw([]string{"more"}, []string{"> ", "state"}, cursor{0, 2})
	if got := d.Text(); !strings.Contains(got, "said\nand said\n") || !strings.HasSuffix(got, "more\n>\nstate\n") {
		t.Errorf("drawn:\n%s", got)
	}
	p.lift()
	if got := d.Text(); !strings.HasSuffix(got, "more\n") {
		t.Errorf("lifted:\n%s", got)
	}
}
