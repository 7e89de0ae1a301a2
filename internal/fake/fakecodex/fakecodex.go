package fakecodex

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Env names the variable that makes a test binary the child.
const Env = "FAKECODEX_SCRIPT"

// Command returns how to start this program as a child that follows script:
// the binary and its whole environment.
func Command(script string) (bin string, env []string) {
	bin, err := os.Executable()
	if err != nil {
		panic(fmt.Sprintf("fakecodex: %v", err)) // a test cannot go on without it
	}
	// Under the race detector a program would sleep for a second before it exits.
	race := "GORACE=" + os.Getenv("GORACE") + " atexit_sleep_ms=0"
	return bin, append(os.Environ(), Env+"="+script, race)
}

// Program returns the text of a shell script that is such a child, whatever its environment.
// It says a version that is not codex's.
func Program(script string) string {
	bin, _ := Command(script)
	return "#!/bin/sh\n[ \"$1\" = --version ] && echo codex-cli 0.0.0 && exit\n" + Env + "='" + script + "' exec '" + bin + "' \"$@\"\n"
}

// Child runs the script in [Env] and ends the process, if there is one. It is
// the first thing that TestMain does.
func Child() {
	if script, ok := os.LookupEnv(Env); ok {
		Main(script)
	}
}

// Main runs script on stdin and stdout and ends the process.
func Main(script string) {
	s := newServer(parse(script))
	os.Exit(s.run())
}

// A step is one misbehaviour with its arguments.
type step struct {
	name string
	args []string
}

func parse(script string) []step {
	var steps []step
	for part := range strings.SplitSeq(script, ";") {
		if words := strings.Fields(part); len(words) > 0 {
			steps = append(steps, step{words[0], words[1:]})
		}
	}
	return steps
}

// arg returns argument i, or "".
func (s step) arg(i int) string {
	if i < len(s.args) {
		return s.args[i]
	}
	return ""
}

// num returns argument i as a number, or fallback.
func (s step) num(i, fallback int) int {
	if n, err := strconv.Atoi(s.arg(i)); err == nil {
		return n
	}
	return fallback
}

// ms returns argument i as a time in milliseconds.
func (s step) ms(i int) time.Duration { return time.Duration(s.num(i, 0)) * time.Millisecond }

// rest returns the arguments from i on as one text.
func (s step) rest(i int) string {
	if i >= len(s.args) {
		return ""
	}
	return strings.Join(s.args[i:], " ")
}

// killed is the code that stands for SIGKILL, as in a shell.
const killed = 137

// fatal ends the process as a crash of codex would.
func fatal(code int, format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	if code == killed {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	os.Exit(code)
}
