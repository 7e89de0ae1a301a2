package doctor

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

func TestPortInUseByARuntime(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want preflight.Status
	}{"ours": {"ok\n", preflight.OK}, "another": {"hello\n", preflight.Fail}} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(c.body)) }))
			defer s.Close()
			if r := port(strings.TrimPrefix(s.URL, "http://")).Do(t.Context()); r.Status != c.want {
				t.Errorf("port: %+v", r)
			}
		})
	}
}
