package fakecodex

import (
	"fmt"
	"os"
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
