#!/bin/sh
# All tests, the ones on the real codex included. The race detector needs a C
# compiler; without one the tests run all the same, and this says so.
set -eu
cd "$(dirname "$0")/.."
# The console is tested in a browser. What is to be done where there is none and this
# may not install it, the tests say.
if [ -z "${CHROMIUM:-}" ] && ! command -v chromium >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null
fi
# Those on the real codex wait more than they compute.
cores=$(getconf _NPROCESSORS_ONLN)
packages=$((cores + 1)) tests=$((2 * cores))
if command -v "${CC:-gcc}" >/dev/null 2>&1; then
	# SQLite is C in Go's clothes, all pointers: watching it finds nothing and makes it ten times
	# slower. What is around it is watched.
	CGO_ENABLED=1 go test -race -gcflags='modernc.org/...=-race=false' -p "$packages" -parallel "$tests" -shuffle=on -timeout 25m ./...
else
	echo "test: no C compiler: the tests run without the race detector (Debian: apt-get install gcc libc6-dev)" >&2
	go test -p "$packages" -parallel "$tests" -shuffle=on -timeout 25m ./...
fi
