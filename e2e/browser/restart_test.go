package browser

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestRestart kills the runtime while a text is written. The page says so, comes back by
// itself, and has the text once and whole in the end.
func TestRestart(t *testing.T) {
	t.Parallel()
	r := start(t, "RUNTIME_ADDR="+progtest.FreeAddr(t))
	p := r.console(t)
	p.begin("restart", "stream 60 10 50ms")
	p.sees(".message", "000000012")
	r.Kill()
	p.sees("#banners", "does not answer")
	p.sees("#link", "Reconnecting")
	r.Program = r.Restart()
	p.sees("#link", "Live")
	p.until("the banner to be gone", "!document.querySelector('#banner-lost')")
	p.sees("#task-state", "Done")
	var want strings.Builder
	for n := range 60 {
		want.WriteString(fakemodel.Piece(n, 10))
	}
	p.sees(".message", "000000059")
	if got := p.eval("[...document.querySelectorAll('.message .text')].map((e) => e.textContent).join('|').trim()"); got != strings.TrimSpace(want.String()) {
		t.Errorf("the text is %q", got)
	}
	p.begin("restart", "say back again") // no reload was needed
	p.sees(".message", "back again")
}
