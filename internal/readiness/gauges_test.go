package readiness

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// TestGauges asks an executor that has done nothing, and one that is not ready.
func TestGauges(t *testing.T) {
	e := executor.New(executor.Config{}, codex.New(codex.Config{}))
	t.Cleanup(func() { _ = e.Close(t.Context()) })
	reg := prometheus.NewPedanticRegistry()
	c := NewChecks(ChecksConfig{})
	defer closed(t, c)
	reg.MustRegister(NewGauges(New(Config{Checks: c, Turns: e, Redact: logging.NewRedactor()})))
	began := time.Now()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("a scrape took %s", took)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			got[strings.TrimPrefix(f.GetName(), "molecule_codex_")] += m.Gauge.GetValue()
		}
	}
	delete(got, "child_state_seconds")
	want := map[string]float64{"turns_max": 4, "turn_slots": 4, "turn_slots_full_seconds": 0, "questions_open": 0, "queue_bytes": 0, "threads_loaded": 0, "child_up": 0, "ready": 0}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("gauges = %v, want %v", got, want)
	}
}

// TestGaugeOfFullSlots: it rises from the moment on in which the last slot was given away,
// not only from when people are told.
func TestGaugeOfFullSlots(t *testing.T) {
	since := time.Now().Add(-time.Minute)
	for name, c := range map[string]struct {
		full  time.Time
		least float64
	}{"one is free": {}, "all are taken": {since, 60}} {
		reg := prometheus.NewPedanticRegistry()
		checks := NewChecks(ChecksConfig{})
		reg.MustRegister(NewGauges(New(Config{Checks: checks, Turns: slots{Limit: 4, Full: c.full}, Redact: logging.NewRedactor()})))
		got := gathered(t, reg)["molecule_codex_turn_slots_full_seconds"]
		if most := time.Since(since).Seconds(); got < c.least || got > most || c.full.IsZero() && got != 0 {
			t.Errorf("%s: %v seconds", name, got)
		}
		closed(t, checks)
	}
}

// slots are those of a runtime that does nothing else.
type slots executor.Slots

func (s slots) Health() executor.Health    { return executor.Health{Slots: executor.Slots(s)} }
func (s slots) Ping(context.Context) error { return nil }

// TestGaugesOfReadiness: they say what a look at readiness says, and each check's result.
func TestGaugesOfReadiness(t *testing.T) {
	e := executor.New(executor.Config{}, codex.New(codex.Config{}))
	t.Cleanup(func() { _ = e.Close(t.Context()) })
	for status, want := range map[preflight.Status]float64{preflight.OK: 1, preflight.Warn: 1, preflight.Fail: 0} {
		c := NewChecks(ChecksConfig{Checks: []preflight.Check{{
			Name: "one", Run: func(context.Context) preflight.Result { return preflight.Result{Status: status} },
		}}})
		r := New(Config{Checks: c, Turns: e, Redact: logging.NewRedactor()})
		c.Made(t.Context())
		got := readinessGauges(t, r)
		closed(t, r, c)
		if got["molecule_codex_ready"] != want || got["molecule_codex_check one"] != want {
			t.Errorf("after a check that is %s: %v", status, got)
		}
	}
}

// readinessGauges returns the gauges beside a readiness.
func readinessGauges(t *testing.T, r *Readiness) map[string]float64 {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(NewGauges(r))
	return gathered(t, reg)
}

// gathered returns gauges by their names and labels.
func gathered(t *testing.T, reg prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			name := f.GetName()
			for _, l := range m.Label {
				name += " " + l.GetValue()
			}
			got[name] = m.Gauge.GetValue()
		}
	}
	return got
}
