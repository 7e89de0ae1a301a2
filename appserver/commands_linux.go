package appserver

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Commands returns the running commands that match. It reads the environment of
// every process that this user may look into: a few milliseconds. It is called as the user
// that codex runs as.
func Commands(match func(Command) bool) []Command {
	var found []Command
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is well formed
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		if c, ok := command(pid); ok && match(c) {
			found = append(found, c)
		}
	}
	return found
}

// command reads what codex has written into the environment of a process.
func command(pid int) (Command, bool) {
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil { // gone, or another user's; a process that has ended has none
		return Command{}, false
	}
	c := Command{Pid: pid}
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if id, ok := bytes.CutPrefix(entry, []byte(threadVariable)); ok {
			c.ThreadID = string(id)
		}
		if id, ok := bytes.CutPrefix(entry, []byte(sessionVariable)); ok {
			c.SessionID = string(id)
		}
		if id, ok := bytes.CutPrefix(entry, []byte(callVariable)); ok {
			c.CallID = string(id)
		}
	}
	return c, c.ThreadID != "" && c.CallID != ""
}

// Kill ends the command's process, and no other that may have got its number
// in the meantime. It is called as the user that codex runs as.
func (c Command) Kill() error {
	fd, err := unix.PidfdOpen(c.Pid, 0)
	if err != nil {
		return nil // it is gone, which is what was wanted
	}
	defer unix.Close(fd)
	if now, ok := command(c.Pid); !ok || now != c {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && err != unix.ESRCH {
		return fmt.Errorf("kill command %d: %w", c.Pid, err)
	}
	return nil
}
