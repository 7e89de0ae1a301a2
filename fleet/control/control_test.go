package control_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/control"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// two are machines, one of them with a name that has to be written otherwise in a path.
type two struct {
	draining map[string]bool
	err      error
}

const odd = "[::1]:7443/x"

func (a *two) Overview() ([]fleet.Shown, error) {
	return []fleet.Shown{{Name: odd, Draining: a.draining[odd]}, {Name: "m1", Draining: a.draining["m1"]}}, a.err
}

func (a *two) Standing() fleet.Standing { return fleet.Standing{Waiting: 3} }
func (a *two) Files() string            { return "shared" }

func (a *two) Drain(_ context.Context, name string, drain bool) error {
	switch name {
	case odd, "m1":
		a.draining[name] = drain
		return nil
	case "m2":
		return &fleet.AwayError{Shown: fleet.Shown{Name: "m2", State: fleet.Lost}}
	case "m3":
		return errors.New("machine m3 was not told: it hangs")
	}
	return &fleet.NoMachineError{Name: name, There: []string{"m1"}}
}

func serve(t *testing.T, h http.Handler) control.Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return control.Client{URL: s.URL + "/"}
}

func TestList(t *testing.T) {
	c := serve(t, control.Handler(&two{draining: map[string]bool{"m1": true}, err: errors.New("line 3 is none")}))
	a, err := c.List(t.Context())
	if err != nil || len(a.Machines) != 2 || !a.Machines[1].Draining || a.Waiting != 3 || a.Files != "shared" || a.Trouble != "line 3 is none" {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestDrain(t *testing.T) {
	all := &two{draining: map[string]bool{}}
	c := serve(t, control.Handler(all))
	for _, name := range []string{"m1", odd} {
		for _, drain := range []bool{true, false} {
			if d, err := c.Drain(t.Context(), name, drain); err != nil || d.Machine != name || d.Draining != drain || all.draining[name] != drain {
				t.Errorf("%s: %+v, %v", name, d, err)
			}
		}
	}
	for name, want := range map[string]struct {
		status int
		words  string
	}{
		"m2": {409, "machine m2 is lost; only a machine that is up can be told"}, "m3": {502, "machine m3 was not told: it hangs"},
		"m9": {404, `there is no machine "m9": there are m1`},
	} {
		_, err := c.Drain(t.Context(), name, true)
		if refused, is := errors.AsType[*control.RefusedError](err); !is || refused.Status != want.status || refused.Message != want.words {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestErrors: each says what to do.
func TestErrors(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	says := func(status int, body string) control.Client {
		return serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
	}
	for want, c := range map[string]control.Client{
		"start one with runtime serve, or set RUNTIME_URL": {URL: gone.URL},
		"set RUNTIME_MACHINES there":                       serve(t, control.Handler(nil)),
		"it is an older one":                               says(404, `{"error":"there is nothing at \"/machines\""}`),
		"set RUNTIME_TOKEN to the one":                     says(401, `{"error":"send the header Authorization"}`),
		"shown to callers on this machine only":            says(403, `{"error":"/machines is shown to callers on this machine only"}`),
		"no runtime with machines (HTTP 302)":              says(302, "elsewhere"),
		"is no runtime; set RUNTIME_URL":                   says(200, `{"kind":"another"}`),
		"RUNTIME_URL: ":                                    {URL: "http://\x00"},
	} {
		if _, err := c.List(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
