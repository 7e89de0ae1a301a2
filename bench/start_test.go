package bench

import (
	"net/http"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// BenchmarkStart is the time from the start of the process to the first 200 of
// /healthz and of /readyz, which has tried codex's sandbox by then and found
// the child alive. The files are in the page cache; home and state are fresh.
func BenchmarkStart(b *testing.B) {
	const starts = 20
	settings := realSettings(b, fakemodel.Keywords)
	took := series{}
	for range starts {
		p := progtest.Start(b, program, settings...)
		ours := newClient(b, p.URL, "", 0)
		if page, status := ours.get("/healthz"); status != http.StatusOK {
			b.Fatalf("/healthz: %d %s", status, page)
		}
		took.add("healthz", time.Since(p.Born))
		ours.ready()
		took.add("readyz", time.Since(p.Born))
		p.Stop()
	}
	took.spread(b, "healthz", "readyz")
}
