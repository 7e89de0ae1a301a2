package main

import (
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/control"
)

// some are machines of a test.
type some struct{ drained string }

func (s *some) Overview() ([]fleet.Shown, error) {
	heard := time.Unix(1, 0)
	return []fleet.Shown{
		{Name: "m1", State: fleet.Up, Takes: true, Heard: heard, Turns: 4, Taken: 2, Conversations: 7, CPUs: 2, Load: 1.25, FreeDisk: 3 << 30, Codex: "0.169.0", Labels: map[string]string{"os": "linux", "gpu": "yes"}},
		{Name: "m2", State: fleet.Up, Draining: true, Heard: heard, Turns: 4, Codex: "0.169.0"},
		{Name: "m3", State: fleet.Up, Heard: heard, Why: "codex is missing:\x1b[2J install it"},
		{Name: "10.0.0.9:7443", State: fleet.Unknown},
	}, errors.New("line 4 is none")
}

func (s *some) Standing() fleet.Standing { return fleet.Standing{Waiting: 3} }
func (s *some) Files() string            { return "shared" }

func (s *some) Drain(_ context.Context, name string, drain bool) error {
	if name != "m1" {
		return &fleet.NoMachineError{Name: name, There: []string{"m1", "m2"}}
	}
	if s.drained = "undrain " + name; drain {
		s.drained = "drain " + name
	}
	return nil
}

func TestMachinesCommand(t *testing.T) {
	machines := &some{}
	server := httptest.NewServer(control.Handler(machines))
	defer server.Close()
	do := func(args string) (code int, out, errs string) {
		var stdout, stderr bytes.Buffer
		code = run(t.Context(), strings.Fields(args), []string{"HOME=" + t.TempDir(), "RUNTIME_URL=" + server.URL}, nil, &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	const want = `MACHINE        STATE    TURNS   CONVERSATIONS  WAITING  LOAD      FREE DISK  CODEX    LABELS
m1             up       2 of 4  7              0        1.2 of 2  3.0 GiB    0.169.0  gpu=yes,os=linux
m2             drains   0 of 4  0              0        0.0 of 0  0.0 GiB    0.169.0  -
m3             trouble  0 of 0  0              0        0.0 of 0  0.0 GiB    -        -
10.0.0.9:7443  unknown  -       0              0        -         -          -        -

m3: codex is missing:\x1b[2J install it

3 turns wait for a machine.

The list of machines cannot be read as a whole: line 4 is none
`
	for _, args := range []string{"machines", "machines list"} {
		if code, out, errs := do(args); code != exitOK || out != want || errs != "" {
			t.Errorf("%s: %d, %s, and\n%s", args, code, errs, out)
		}
	}
	if code, out, _ := do("machines --json"); code != exitOK || !strings.Contains(out, `"conversations": 7`) {
		t.Errorf("as JSON: %d, %s", code, out)
	}
	for args, says := range map[string]string{"machines drain m1": "m1 takes no new turns. ", "machines undrain m1": "m1 takes turns.\n"} {
		if code, out, errs := do(args); code != exitOK || !strings.HasPrefix(out, says) || "machines "+machines.drained != args {
			t.Errorf("%s: %d, %q, %q, and it was told %q", args, code, out, errs, machines.drained)
		}
	}
	if code, out, errs := do("machines drain m7"); code != exitFailed || out != "" || errs != "runtime: there is no machine \"m7\": there are m1, m2\n" {
		t.Errorf("no such machine: %d, %q, %q", code, out, errs)
	}
	if code, _, errs := do("machines drain"); code != exitUsage || !strings.Contains(errs, "<name>") {
		t.Errorf("without a name: %d, %q", code, errs)
	}
}
