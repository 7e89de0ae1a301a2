package progtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func children(pid int) []int {
	var found []int
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		list, _ := os.ReadFile(file)
		for field := range strings.FieldsSeq(string(list)) {
			if child, err := strconv.Atoi(field); err == nil {
				found = append(found, child)
			}
		}
	}
	return found
}

// Descendants returns the processes that pid started, and theirs.
func Descendants(pid int) []int {
	var all []int
	for _, child := range children(pid) {
		all = append(append(all, child), Descendants(child)...)
	}
	return all
}

// Find returns the descendant of pid whose command line ends in the words of
// command, or 0.
func Find(pid int, command string) int {
	want := strings.ReplaceAll(command, " ", "\x00")
	for _, candidate := range Descendants(pid) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", candidate))
		if strings.TrimRight(string(line), "\x00") == want {
			return candidate
		}
	}
	return 0
}

// Alive reports whether a process runs; one that only waits to be reaped does not, nor one that
// has given its memory back, and is on its way there.
func Alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest) // from the third on: state, …, vsize is the 23rd
	return len(fields) > 20 && fields[0] != "Z" && fields[20] != "0"
}
