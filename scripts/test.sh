#!/bin/sh
# All tests, the ones on the real codex included. The race detector needs a C
# compiler; without one the tests run all the same, and this says so.
set -eu
cd "$(dirname "$0")/.."
if command -v "${CC:-gcc}" >/dev/null 2>&1; then
	CGO_ENABLED=1 go test -race -shuffle=on -timeout 15m ./...
else
	echo "test: no C compiler: the tests run without the race detector (Debian: apt-get install gcc libc6-dev)" >&2
	go test -shuffle=on -timeout 15m ./...
fi

# Modules of their own, so that what they need is nobody else's. What they read lies
# outside of them, where go test does not see that it has changed.
(cd deploy/check && go test -count=1 ./...)
(cd tools && go test -count=1 ./release)
