package codextest

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// StandIn puts a codex at path that is the real one but for the version that it says, and for what a script of
// sed takes from what it says of its protocol. It adds a line to the file named path with .asked behind it each time
// that it is asked for that.
func StandIn(tb testing.TB, path, version, edit string) {
	tb.Helper()
	script := fmt.Sprintf(`#!/bin/sh
case "$*" in
--version) echo codex-cli %[1]s ;;
*generate-json-schema*)
	echo asked >>'%[2]s.asked'
	'%[3]s' "$@" || exit
	for dir; do :; done
	sed -i '%[4]s' "$dir"/*.json "$dir"/v2/*.json ;;
app-server*) '%[3]s' "$@" | sed -u 's|/%[5]s (|/%[1]s (|' ;;
*) exec '%[3]s' "$@" ;;
esac
`, version, path, Bin(tb), edit, Version(tb))
	Program(tb, path, script)
}

// Program puts a script at path that can be started at once, also in the place of one that runs. This process never has
// the file open: a program that another goroutine starts just then would keep it open for a moment, and the system
// starts no file that is open for writing.
func Program(tb testing.TB, path, script string) {
	tb.Helper()
	text := path + ".text"
	err := os.WriteFile(text, []byte(script), 0o600)
	if err == nil {
		err = exec.CommandContext(tb.Context(), "install", "-m", "755", text, path+".new").Run()
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		tb.Fatal(err)
	}
}
