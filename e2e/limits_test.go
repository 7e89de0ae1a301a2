package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestLimitsWithoutEnd: an endpoint may say of a limit that it ends in a year that JSON has no
// words for. The state and the readiness are told all the same, and what can be is.
func TestLimitsWithoutEnd(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	var reset atomic.Value
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		res, err := http.Post(strings.TrimSuffix(model.BaseURL(), "/v1")+r.URL.Path, "application/json", r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
		w.Header().Set("X-Codex-Active-Limit", "codex")
		w.Header().Set("X-Codex-Primary-Used-Percent", "100")
		w.Header().Set("X-Codex-Primary-Window-Minutes", "300")
		w.Header().Set("X-Codex-Primary-Reset-At", fmt.Sprint(reset.Load()))
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	}))
	t.Cleanup(front.Close)
	p := start(t, "OPENAI_BASE_URL="+front.URL+"/v1")
	for i, at := range []string{"1111111111", "999999999999", "9223372036854775807", "200000000000", "1111111111"} {
		reset.Store(at)
		if task := p.send(fmt.Sprint("m", i), "one", "say well"); text(task) != "well" {
			t.Fatalf("until %s: the task is %v", at, task)
		}
		told := at == "1111111111"
		progtest.WaitFor(t, "the limit that ends at "+at, func() bool {
			state := p.shown("/console/api/state")
			return strings.Contains(state, `"usedPercent":100`) && strings.Contains(state, `"resetsAt":"2005`) == told
		})
		p.shown("/readyz")
	}
}

// shown is what a page of the runtime says, which must be there.
func (p *program) shown(path string) string {
	p.t.Helper()
	code, body := p.fetch(path)
	if code != http.StatusOK {
		p.t.Fatalf("%s says %d: %s", path, code, body)
	}
	return body
}
