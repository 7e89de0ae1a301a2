package progtest

import (
	"os"
	"testing"
)

func TestKibibytes(t *testing.T) {
	const text = "55d0-7ffd ---p 00000000 00:00 0   [rollup]\nRss:    1536 kB\nPss:    12 kB\nPss_Dirty:   4 kB\nBad:  x kB\nOdd: 3\n"
	for name, want := range map[string]int{"Rss:": 1536 << 10, "Pss:": 12 << 10} {
		if got, err := kibibytes(text, name); got != want || err != nil {
			t.Errorf("%s %d, %v", name, got, err)
		}
	}
	for _, name := range []string{"Swap:", "Bad:", "Odd:"} {
		if got, err := kibibytes(text, name); err == nil {
			t.Errorf("%s %d, want an error", name, got)
		}
	}
}

func TestMemory(t *testing.T) {
	if rss, pss := Memory(t, os.Getpid()); rss < 1<<20 || pss < 1<<20 || pss > rss {
		t.Errorf("rss %d, pss %d", rss, pss)
	}
}
