// Package memlimit finds a soft limit for the memory of our process: near it the garbage
// collector works more, so that what was large once is not kept as room for more of its
// kind.
package memlimit

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	most  = 256 << 20 // what a runtime needs with many large outputs under way
	least = 48 << 20  // below this the collector would do nothing else
	share = 4         // one in so many bytes of a container is ours; codex and its commands have the rest
)

// Of returns the limit of a process that sees its files below root.
func Of(root string) int64 {
	return min(most, max(least, container(root)/share))
}

// container is how much memory the process and those beside it may have together.
func container(root string) int64 {
	text, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup")) // on Linux only
	limit := int64(math.MaxInt64)
	for line := range bytes.Lines(text) {
		fields := strings.SplitN(strings.TrimSpace(string(line)), ":", 3)
		if len(fields) != 3 {
			continue
		}
		switch {
		case fields[0] == "0" && fields[1] == "": // version 2
			limit = min(limit, tightest(filepath.Join(root, "sys/fs/cgroup"), fields[2], "memory.max"))
		case slices.Contains(strings.Split(fields[1], ","), "memory"): // version 1
			limit = min(limit, tightest(filepath.Join(root, "sys/fs/cgroup/memory"), fields[2], "memory.limit_in_bytes"))
		}
	}
	return limit
}

// tightest returns the smallest limit of a group and those above it. A container that
// has no view of its own is told the group's name outside, of which it sees the end
// only: its own limit is then at the top.
func tightest(mount, group, file string) int64 {
	limit := int64(math.MaxInt64)
	for at := filepath.Join("/", group); ; at = filepath.Dir(at) {
		text, err := os.ReadFile(filepath.Join(mount, at, file))
		if n, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && bad == nil && n > 0 { // "max" is none
			limit = min(limit, n)
		}
		if at == "/" {
			return limit
		}
	}
}
