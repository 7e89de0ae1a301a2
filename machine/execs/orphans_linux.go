package execs

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// orphanAfter is how long a child has been dead without being waited for when it is an orphan: what this program starts
// itself is waited for all the time.
const orphanAfter = time.Second

// Adopt has what loses its parent below us become our child, and not that of the machine's first process, which in a
// container may reap nothing. What has ended of it is reaped until ctx ends.
func Adopt(ctx context.Context) error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	dead := map[int]bool{} // since the last look
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ended:
			if again == nil {
				again = time.After(orphanAfter)
			}
		case <-again:
			if dead, again = reap(dead), nil; len(dead) > 0 {
				again = time.After(orphanAfter)
			}
		}
	}
}

// reap reaps children that were dead at the last look, and returns those that are since then.
func reap(before map[int]bool) map[int]bool {
	dead := map[int]bool{}
	for _, pid := range zombies() {
		if !before[pid] {
			dead[pid] = true
			continue
		}
		for {
			_, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
			if !errors.Is(err, unix.EINTR) {
				break
			}
		}
	}
	return dead
}

// zombies are our children that have ended and were not reaped.
func zombies() (pids []int) {
	files, _ := filepath.Glob("/proc/self/task/*/children") // the pattern is well formed
	for _, file := range files {
		list, _ := os.ReadFile(file)
		for field := range strings.FieldsSeq(string(list)) {
			stat, _ := os.ReadFile("/proc/" + field + "/stat")
			_, rest, _ := strings.Cut(string(stat), ") ")
			if pid, err := strconv.Atoi(field); err == nil && strings.HasPrefix(rest, "Z") {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
