#!/bin/sh
# Runs a command that may take minutes without a word, and says every 15 s that it still runs:
# still.sh WHAT COMMAND [ARGUMENT]...
set -eu
what=$1
shift
say() {
	seconds=0
	while sleep 15 >/dev/null 2>&1; do
		seconds=$((seconds + 15))
		echo "make: still $what, for $seconds s" >&2
	done
}
say &
saying=$!
trap 'kill "$saying" 2>/dev/null || :' EXIT
trap 'exit 130' INT TERM
"$@"
