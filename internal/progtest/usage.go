package progtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// CPU returns the time that the threads of a process have run so far, to the
// nanosecond. That of threads which have ended is not in it; Go ends none of
// its own accord.
func CPU(tb testing.TB, pid int) time.Duration {
	tb.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(files) == 0 {
		tb.Fatalf("process %d has no schedstat: %v", pid, err)
	}
	var sum time.Duration
	for _, file := range files {
		text, _ := os.ReadFile(file)
		ran, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseInt(ran, 10, 64)
		if err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
		sum += time.Duration(ns)
	}
	return sum
}

// Memory returns the resident set of a process and its proportional share of
// it, in bytes.
func Memory(tb testing.TB, pid int) (rss, pss int) {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kib, _ := strconv.Atoi(fields[1])
		switch fields[0] {
		case "Rss:":
			rss = kib << 10
		case "Pss:":
			pss = kib << 10
		}
	}
	return rss, pss
}

// TreePSS returns the proportional share of a process and all that it started,
// in bytes. One that ends meanwhile fails the test.
func TreePSS(tb testing.TB, pid int) int {
	tb.Helper()
	_, sum := Memory(tb, pid)
	for _, child := range Descendants(pid) {
		_, pss := Memory(tb, child)
		sum += pss
	}
	return sum
}
