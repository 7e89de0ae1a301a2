package bench

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"
)

// A sample collects durations.
type sample []time.Duration

func (s *sample) add(d time.Duration) { *s = append(*s, d) }

// quantile returns the smallest value that a share q of the sample does not exceed.
func (s sample) quantile(q float64) time.Duration { return quantile(s, q) }

// quantile returns the smallest value that a share q of all does not exceed.
func quantile[T cmp.Ordered](all []T, q float64) T {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// minus returns the differences of pairs.
func (s sample) minus(other sample) sample {
	differences := make(sample, len(s))
	for i := range s {
		differences[i] = s[i] - other[i]
	}
	return differences
}

// A series is the samples of a benchmark, by the names of their rows.
type series map[string]sample

func (s series) add(name string, d time.Duration) { s[name] = append(s[name], d) }

// report writes the samples of these names as rows of their own.
func (s series) report(b *testing.B, names ...string) {
	b.Helper()
	for _, name := range names {
		if len(s[name]) == 0 {
			b.Fatalf("nothing was measured for %s", name)
		}
		row(b, name, "p50-ms", ms(s[name].quantile(.5)), "p99-ms", ms(s[name].quantile(.99)))
	}
}

// drawn are the quantiles that plots show and tables leave out.
func drawn() []float64 { return []float64{.1, .25, .75, .9} }

// spread is report with the quantiles that plots show.
func (s series) spread(b *testing.B, names ...string) {
	b.Helper()
	for _, name := range names {
		if len(s[name]) == 0 {
			b.Fatalf("nothing was measured for %s", name)
		}
		row(b, name, s[name].quantiles()...)
	}
}

// quantiles are those of a row that plots show.
func (s sample) quantiles() []any {
	results := []any{"p50-ms", ms(s.quantile(.5)), "p99-ms", ms(s.quantile(.99))}
	for _, q := range drawn() {
		results = append(results, fmt.Sprintf("p%.0f-ms", q*100), ms(s.quantile(q)))
	}
	return results
}

// paired returns the median of the differences of pairs.
func (s series) paired(name, other string) time.Duration {
	return s[name].minus(s[other]).quantile(.5)
}

// row writes a line of results: units and their values, in turns. benchstat
// makes a table for each unit, with the names of the rows at the left.
func row(b *testing.B, name string, results ...any) {
	b.Helper()
	if n := flag.Lookup("test.count").Value.String(); n != "1" {
		b.Fatal("-count repeats the rows and not the measurement: repeat the command instead")
	}
	b.Run(name, func(b *testing.B) {
		b.ReportMetric(0, "ns/op") // a run is not an operation
		for i := 0; i < len(results); i += 2 {
			b.ReportMetric(results[i+1].(float64), results[i].(string))
		}
	})
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

func mib(bytes int) float64 { return float64(bytes) / (1 << 20) }
