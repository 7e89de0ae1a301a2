package bench

import (
	"net/http"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/progtest"
)

// BenchmarkStart is the time from the start of the process to the first 200 of
// /healthz and of /readyz, which has tried codex's sandbox by then and found
// the child alive. The files are in the page cache; home and state are fresh.
func BenchmarkStart(b *testing.B) {
	const starts = 20
	settings := realSettings(b, fakemodel.Keywords)
	var healthy, ready sample
	for range starts {
		p := progtest.Start(b, binary, settings...)
		ours := newA2A(b, p.URL, "", 0)
		if page, status := ours.get("/healthz"); status != http.StatusOK {
			b.Fatalf("/healthz: %d %s", status, page)
		}
		healthy.add(time.Since(p.Born))
		ours.ready()
		ready.add(time.Since(p.Born))
		p.Stop()
	}
	healthy.report(b, "healthz")
	ready.report(b, "readyz")
}
