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

// WholeCPU is [CPU] with the threads that have ended, to the hundredth of a second.
func WholeCPU(tb testing.TB, pid int) time.Duration {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	const utime, stime, tick = 11, 12, 10 * time.Millisecond // proc_pid_stat(5), without the two before rest
	var sum time.Duration
	for _, i := range []int{utime, stime} {
		ticks, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		sum += time.Duration(ticks) * tick
	}
	return sum
}

// Memory returns the resident set of a process and its proportional share of
// it, in bytes.
func Memory(tb testing.TB, pid int) (rss, pss int) {
	tb.Helper()
	file := fmt.Sprintf("/proc/%d/smaps_rollup", pid)
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	if rss, err = kibibytes(string(text), "Rss:"); err == nil {
		pss, err = kibibytes(string(text), "Pss:")
	}
	if err != nil {
		tb.Fatalf("%s: %v", file, err)
	}
	return rss, pss
}

// PeakMemory returns the largest resident set that a process has had so far, in
// bytes.
func PeakMemory(tb testing.TB, pid int) int {
	tb.Helper()
	file := fmt.Sprintf("/proc/%d/status", pid)
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	peak, err := kibibytes(string(text), "VmHWM:")
	if err != nil {
		tb.Fatalf("%s: %v", file, err)
	}
	return peak
}

// kibibytes returns the value of a field that is given in kB, in bytes.
func kibibytes(text, name string) (int, error) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[0] != name || fields[2] != "kB" {
			continue
		}
		kib, err := strconv.Atoi(fields[1])
		if err != nil {
			return 0, fmt.Errorf("%s %w", name, err)
		}
		return kib << 10, nil
	}
	return 0, fmt.Errorf("no %s", name)
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
