package bench

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMet(t *testing.T) {
	for _, c := range []struct {
		atMost bool
		value  float64
		want   bool
	}{
		{true, 2.9, true}, {true, 3, true}, {true, 3.1, false},
		{false, 2.9, false}, {false, 3, true}, {false, 3.1, true},
	} {
		if got := (bar{limit: 3, atMost: c.atMost}).met(c.value); got != c.want {
			t.Errorf("at most %t: %g is met: %t", c.atMost, c.value, got)
		}
	}
}

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		raw  string
		want report
	}{
		"empty": {"", report{}},
		"config": {"cores: 2\ngo: go1.26\ncpu: A Fine: One  \ngoos: linux\nlog: not ours\n",
			report{config: map[string]string{"cores": "2", "go": "go1.26", "cpu": "A Fine: One"}}},
		"row": {"BenchmarkTurn/added-send-16 \t 1\t 0.83 p50-ms\t 1.2 paired-ms\n",
			report{rows: []result{{"Turn/added-send", map[string]float64{"p50-ms": 0.83, "paired-ms": 1.2}, []string{"p50-ms", "paired-ms"}}}}},
		"notRows": {"BenchmarkTurn\nBenchmarkTurn: go: no\nPASS\nok  \tbench\t3.1s\n--- FAIL: cpu: x\n",
			report{}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want.config == nil {
				c.want.config = map[string]string{}
			}
			if diff := cmp.Diff(c.want, parse(c.raw), cmp.AllowUnexported(report{}, result{})); diff != "" {
				t.Errorf("want, got:\n%s", diff)
			}
		})
	}
}

const sampleRun = `date: 2026-01-02
cores: 2
cpu: Fine
go: go1.26
codex: 1.2.3
commit: 1234567
BenchmarkA/x-2   1   1.5 p10-ms   2.5 p50-ms   340000 deltas/s
BenchmarkB-2     1   64.25 rss-MiB
`

func TestTables(t *testing.T) {
	bars := []bar{{"fast", "A/x", "p50-ms", 3, true}, {"many", "A/x", "deltas/s", 100_000, false}, {"small", "B", "rss-MiB", 64, true}}
	want := `2026-01-02, 2 cores of an Fine, Go 1.26, codex 1.2.3, commit 1234567:

| | bar | measured | |
|---|---|---|---|
| fast | ≤ 3 ms | p50 2.5 ms | met |
| many | ≥ 100,000 deltas/s | 340,000 deltas/s | met |
| small | ≤ 64 MiB | rss 64.2 MiB | **missed** |
`
	got, err := parse(sampleRun).promises(bars)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	want = `| | |
|---|---|
| A/x | p50 2.5 ms, 340,000 deltas/s |
| B | rss 64.2 MiB |
`
	if diff := cmp.Diff(want, parse(sampleRun).everything()); diff != "" {
		t.Error(diff)
	}
	for missing, raw := range map[string]string{
		"the run does not say its cpu": strings.Replace(sampleRun, "cpu: Fine\n", "", 1),
		"there is no rss-MiB of B":     strings.Replace(sampleRun, "rss-MiB", "pss-MiB", 1),
		"there is no p50-ms of A/x":    strings.Replace(sampleRun, "BenchmarkA/x", "BenchmarkA/y", 1),
		"there is no deltas/s of A/x":  strings.Replace(sampleRun, "   340000 deltas/s", "", 1),
	} {
		if _, err := parse(raw).promises(bars); err == nil || err.Error() != missing {
			t.Errorf("got %v, want %s", err, missing)
		}
	}
	bars = append(bars, bar{"newer", "C/x", "cpu-%", 0.5, true})
	if got, err := parse(sampleRun).promises(bars); err != nil || !strings.Contains(got, "\n| newer | ≤ 0.5 % | – | not in this run |\n") {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestNumber(t *testing.T) {
	for value, want := range map[float64]string{
		0: "0", 0.1284: "0.128", 2.687: "2.69", 64.25: "64.2", 999.4: "999",
		1000: "1,000", 4990: "5,000", 343_649: "343,600", 1_234_567: "1,234,600", -2500: "-2,500",
	} {
		if got := number(value); got != want {
			t.Errorf("number(%v) = %s, want %s", value, got, want)
		}
	}
}
