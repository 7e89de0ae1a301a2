package codextest

import (
	"fmt"
	"os"
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
	next := path + ".new"                                             // it may run
	if err := os.WriteFile(next, []byte(script), 0o755); err != nil { //nolint:gosec // it is a program
		tb.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		tb.Fatal(err)
	}
}
