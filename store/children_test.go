package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// children are what the test binary can be instead of itself: other processes
// that have a store, and can be killed.
var children = map[string]func(){
	"holds":   func() { childOpen(); fmt.Println("open"); io.Copy(io.Discard, os.Stdin) },
	"accepts": childAccepts,
	"limited": childLimited,
}

const (
	dirEnv  = "STORE_TEST_DIR"
	killEnv = "STORE_TEST_KILL" // the number of the commit at which the child kills itself
)

func childOpen() *Store {
	kill, _ := strconv.Atoi(os.Getenv(killEnv))
	s, err := Open(context.Background(), Config{Dir: os.Getenv(dirEnv), Committed: func(n int) {
		if n == kill {
			self, _ := os.FindProcess(os.Getpid())
			self.Kill()
			select {}
		}
	}})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return s
}

// A child is a running one. It is killed with the test at the latest.
type child struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startChild(t *testing.T, name, dir string, env ...string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, childEnv+"="+name, dirEnv+"="+dir)...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	c := &child{cmd: cmd, lines: bufio.NewScanner(stdout)}
	t.Cleanup(func() {
		stdin.Close()
		c.kill()
	})
	return c
}

// line returns the next line that the child says, "" at its end.
func (c *child) line() string {
	if !c.lines.Scan() {
		return ""
	}
	return strings.TrimSpace(c.lines.Text())
}

// kill ends the child at once, and returns the lines that it had said and that
// were not read yet.
func (c *child) kill() (rest []string) {
	c.cmd.Process.Kill()
	for c.lines.Scan() {
		rest = append(rest, c.lines.Text())
	}
	c.cmd.Wait()
	return rest
}
