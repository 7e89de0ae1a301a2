package hostile

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// gifts are credentials that a platform gives out and that no header could carry, or that
// are none. MARK is for what nothing should keep.
func gifts() (ways []rudeness) {
	var values []string
	for _, text := range []string{`MARK\r\nX-Injected: 1`, `MARK\n`, `\rMARK`, `MARK\u0000`, `MARK x`, `\tMARK`, `MARK\u00e9`, `MARK\u2028`, `MARK\ud800`, `MARK\u007f`, `MARK\u001b[2J`, ` `, `\n`, `MARK` + strings.Repeat("x", 5<<10), `MARK` + strings.Repeat("x", 900<<10)} {
		values = append(values, `"`+text+`"`)
	}
	values = append(values, `["MARK"]`, `{"token":"MARK"}`, `7`, `true`, `null`, `"`, strings.Repeat("[", 100_000))
	for _, value := range values {
		body := `{"status":"registered","delivery_mode":"push","auth_token":` + value + `,"platform_inbound_secret":` + value + `}`
		ways = append(ways, rudeness{fmt.Sprintf("a gift of %.40q", value), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, strings.ReplaceAll(body, "MARK", refusedMark))
		}})
	}
	return ways
}

// TestPlatform has a platform that is rude to a workspace which it reaches, when that
// registers and with each of its heartbeats.
func TestPlatform(t *testing.T) {
	t.Parallel()
	bird := sing(t)
	x := newWorkspace(t)
	ways := append(gifts(), refusals("http://127.0.0.1:"+bird.port+"/")...)
	ways = append(append(ways, lies()...), floods()...)
	for _, way := range some(ways, 7) {
		tried := x.rude("heartbeat", way)
		x.keeps(t, "at a heartbeat, "+way.name, tried)
	}
	for _, way := range some(ways, 26) {
		x.quiet(t)
		x.Stop()
		tried := x.rude("register", way)
		x.Program = x.Restart()
		x.keeps(t, "at the registration, "+way.name, tried)
	}
	x.uncopied(t)
	x.unharmed(t)
	if n := bird.visits.Load(); n != 0 {
		t.Errorf("the canary had %d visits", n)
	}
	if peak := progtest.PeakMemory(t, x.Pid()); peak > most {
		t.Errorf("the program came to %d MiB", peak>>20)
	}
}

// rude has the platform answer one request of a kind in a way, and returns what says that
// it has been made.
func (x *world) rude(kind string, way rudeness) (made *atomic.Bool) {
	made = new(atomic.Bool)
	x.platform.Behave("POST /registry/"+kind, fakeplatform.Answer(func(w http.ResponseWriter, r *http.Request) {
		made.Store(true)
		way.serve(w, r)
	}).Times(1))
	return made
}

// keeps looks that a rude answer has changed nothing: what the workspace has of the
// platform is as it was, is used for what it says next, and opens what it did.
func (x *world) keeps(t *testing.T, what string, made *atomic.Bool) {
	t.Helper()
	works := func() {
		id := fmt.Sprintf("kept-%d", x.refused.Add(1))
		if got := x.send(x.ours(message(id, "say "+id+"-done"))); !strings.Contains(got.body, id+"-done") {
			t.Errorf("%s: %s", what, got)
		}
	}
	progtest.WaitFor(t, what+": the request", func() bool {
		if !made.Load() {
			works() // each turn is told in heartbeats
		}
		return made.Load()
	})
	beats := len(x.handle.Beats())
	progtest.WaitFor(t, what+": a heartbeat with the token", func() bool {
		works()
		return len(x.handle.Beats()) > beats
	})
	for name, want := range map[string]string{".auth_token": theMembers, ".platform_inbound_secret": theInbound} {
		if got, err := os.ReadFile(filepath.Join(x.configs, name)); err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("%s: %s has %.60q, %v", what, name, got, err)
		}
	}
	for secret, want := range map[string]int{theInbound: 200, "": 401, "x": 401} {
		if got := x.send(call{method: "GET", path: "/internal/a2a-auth-status", header: []string{"Authorization: Bearer " + secret}}); got.status != want {
			t.Errorf("%s: the platform with %q: %s", what, secret, got)
		}
	}
}
