package appserver

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// mostMeasured bounds the processes that are looked at: a command may start any number.
const mostMeasured = 4096

// MemoryOf measures a child by the number of its process; ok is false if it is gone. It
// reads a few files for each process, and is for those who are asked for it.
func MemoryOf(pid int) (m Memory, ok bool) {
	if m.Codex, ok = resident(pid); !ok {
		return Memory{}, false
	}
	started := children(pid)
	for measured := 0; len(started) > 0 && measured < mostMeasured; measured++ {
		next := started[len(started)-1]
		started = append(started[:len(started)-1], children(next)...)
		bytes, _ := resident(next) // it may have ended meanwhile
		m.Commands += bytes
	}
	return m, true
}

// resident is what a process has in memory.
func resident(pid int) (int64, bool) {
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
