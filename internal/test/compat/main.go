// Command compat looks how the runtime and a codex get along.
//
//	compat try VERSION BIN PAGE   runs the tests that are about codex on that codex, and notes what came of it in PAGE
//	compat schemas OLD NEW        says what differs between what two codexes say of their protocols, in our terms
//	compat known VERSION          says which tests are known to fail on a version, and why
//	compat window VERSION         writes a version and its checksums into appserver/CODEX_WINDOW
//
// It is started in the root of the repository, by scripts/compat.sh and scripts/pin.sh.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "compat:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 4 && args[0] == "try":
		return try(args[1], args[2], args[3])
	case len(args) == 3 && args[0] == "schemas":
		return compare(os.Stdout, os.DirFS(args[1]), os.DirFS(args[2]))
	case len(args) == 2 && args[0] == "known":
		known(os.Stdout, args[1])
		return nil
	case len(args) == 2 && args[0] == "window":
		return widen(args[1])
	}
	return fmt.Errorf("usage: compat try VERSION BIN PAGE | schemas OLD NEW | known VERSION | window VERSION")
}
