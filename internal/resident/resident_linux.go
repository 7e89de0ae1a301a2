package resident

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// mostMeasured bounds the processes that are looked at: a command may start any number.
const mostMeasured = 4096

// Of returns what a process has in memory, and what those have that it has started, and those that they have
// started; ok is false if it is gone. It reads a few files for each process.
func Of(pid int) (own, started int64, ok bool) {
	if own, ok = memory(pid); !ok {
		return 0, 0, false
	}
	waiting := children(pid)
	for measured := 0; len(waiting) > 0 && measured < mostMeasured; measured++ {
		next := waiting[len(waiting)-1]
		waiting = append(waiting[:len(waiting)-1], children(next)...)
		bytes, _ := memory(next) // it may have ended meanwhile
		started += bytes
	}
	return own, started, true
}

// memory is what one process has.
func memory(pid int) (int64, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}

// children are the processes that the threads of a process have started.
func children(pid int) (pids []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is well formed
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a thread that has ended has none
		for field := range bytes.FieldsSeq(text) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}
