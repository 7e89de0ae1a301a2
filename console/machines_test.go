package console_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/console"
)

// TestMachines: what is said to machines goes through the guard of everything else, and the state has them where there
// are some.
func TestMachines(t *testing.T) {
	var told []string
	f := open(t, func(cfg *console.Config) {
		cfg.Machines = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			told = append(told, r.URL.EscapedPath())
			w.WriteHeader(http.StatusConflict)
		})
	})
	drain := func() *http.Request { return request(http.MethodPost, "/console/api/machines/m%2F1/drain", "") }
	stranger, page, get := drain(), drain(), drain()
	stranger.RemoteAddr = "192.0.2.1:9"
	page.Header.Del("X-Console")
	get.Method = http.MethodGet
	for _, r := range []*http.Request{stranger, page, get} {
		if w := f.do(r); w.Code/100 != 4 || w.Code == http.StatusConflict || told != nil {
			t.Errorf("%s of %s = %d, and it was told %v", r.Method, r.RemoteAddr, w.Code, told)
		}
	}
	if w := f.do(drain()); w.Code != http.StatusConflict || len(told) != 1 || told[0] != "/machines/m%2F1/drain" {
		t.Errorf("drain = %d, and it was told %v", w.Code, told)
	}
	if w := open(t, nil).do(drain()); w.Code != http.StatusNotFound {
		t.Errorf("without machines = %d, want 404", w.Code)
	}
	locked := open(t, func(cfg *console.Config) { withToken(cfg); cfg.Machines = http.NotFoundHandler() })
	if w := locked.do(drain()); w.Code != http.StatusUnauthorized {
		t.Errorf("without a session = %d, want 401", w.Code)
	}
}

// TestMachinesShown: none are null, and an empty list of them is a list.
func TestMachinesShown(t *testing.T) {
	for _, machines := range []*console.Machines{nil, {}} {
		var got struct {
			Machines *struct{ List []any }
		}
		f := open(t, nil)
		f.set(func(s *console.State) { s.Machines = machines })
		if err := json.Unmarshal(f.do(request(http.MethodGet, "/console/api/state", "")).Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if machines == nil != (got.Machines == nil) || machines != nil && got.Machines.List == nil {
			t.Errorf("%v is shown as %v", machines, got.Machines)
		}
	}
}
