package main

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

// TestSettle: what the start has touched of the program's file is resident no more, and
// the program goes on.
func TestSettle(t *testing.T) {
	before := residentFile(t)
	if err := settle(); err != nil {
		t.Fatal(err)
	}
	if after := residentFile(t); after >= before {
		t.Errorf("resident pages of files: %d kB before, %d kB after", before, after)
	}
}

func residentFile(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		t.Skip("this kernel does not tell resident pages of files apart")
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}
