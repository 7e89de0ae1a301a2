#!/bin/sh
# Measures the program of this tree beside that of another commit, in one run: bench-against.sh COMMIT.
set -eu
cd "$(dirname "$0")/.."
if [ $# -ne 1 ] || ! commit=$(git rev-parse --verify --quiet "$1^{commit}"); then
	echo "bench-against: say of which commit: make bench-against REF=v1.2.3" >&2
	exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
git archive "$commit" | tar -x -C "$work"
(cd "$work" && CGO_ENABLED=0 go build -trimpath -o "$work/runtime" ./cmd/runtime)
echo "before: $(git log -1 --format='%h %s' "$commit")"
CGO_ENABLED=0 go test ./bench -run '^$' -bench '^BenchmarkAgainst$' -benchtime 1x -timeout 60m -args -against "$work/runtime"
