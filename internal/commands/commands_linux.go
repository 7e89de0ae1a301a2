package commands

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// mostEnviron is how much of an environment is read. No shell gives as much to what it starts;
// what a process says that its environment is, it chooses itself, gigabytes too.
const mostEnviron = 1 << 20

// Find returns the running commands that match. It reads the environment of every process
// that this user may look into, which takes a few milliseconds; when ctx ends, it returns
// those that it has found by then. It is called as the user that codex runs as.
func Find(ctx context.Context, match func(Command) bool) []Command {
	return find(ctx, func(c Command) bool { return c.ofCall() && match(c) })
}

// Marked is [Find] for all that has a mark that matches, whether it was started for a tool call or not.
func Marked(ctx context.Context, match func(mark string) bool) []Command {
	return find(ctx, func(c Command) bool { return c.Mark != "" && match(c.Mark) })
}

func find(ctx context.Context, match func(Command) bool) []Command {
	var found []Command
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is well formed
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		if c, ok := command(pid); ok && match(c) {
			found = append(found, c)
		}
	}
	return found
}

// command reads what codex has written into the environment of a process.
func command(pid int) (Command, bool) {
	environ, err := os.Open(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil { // gone, or another user's; a process that has ended has none
		return Command{}, false
	}
	defer environ.Close()
	c := Command{Pid: pid}
	c.read(environ)
	return c, c.ofCall() || c.Mark != ""
}

// read takes what concerns codex from an environment, until it has all or that is too long.
func (c *Command) read(environ io.Reader) {
	entries := bufio.NewReader(io.LimitReader(environ, mostEnviron))
	for begins := true; c.ThreadID == "" || c.SessionID == "" || c.CallID == "" || c.Mark == ""; {
		entry, err := entries.ReadSlice(0)
		if begins {
			c.take(bytes.TrimSuffix(entry, []byte{0}))
		}
		if begins = err == nil; err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (c *Command) take(entry []byte) {
	name, value, _ := bytes.Cut(entry, []byte("="))
	switch string(name) {
	case threadVariable:
		c.ThreadID = string(value)
	case sessionVariable:
		c.SessionID = string(value)
	case callVariable:
		c.CallID = string(value)
	case MarkVariable:
		c.Mark = string(value)
	}
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
