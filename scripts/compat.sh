#!/bin/sh
# Runs the tests that are about codex on each version of appserver/CODEX_WINDOW, and writes docs/codex-versions.md; on
# VERSION alone where that is given, which may be latest. What is known to differ stands in internal/test/compat.
set -eu
cd "$(dirname "$0")/.."
window() { sed -n 's/^\([0-9][0-9.]*\) .*/\1/p' appserver/CODEX_WINDOW; }
case ${1:-} in
"") versions=$(window) ;;
latest) versions=$(npm view @openai/codex version) ;;
*) versions=$1 ;;
esac
if [ -z "$versions" ] || echo "$versions" | grep -qv '^[0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*$'; then
	echo "compat: ${versions:-no version} is no version such as 0.169.0" >&2
	exit 1
fi
go build -o .tools/compat ./internal/test/compat
failed=
for version in $versions; do
	bin=$(scripts/codex.sh "$version") && .tools/compat try "$version" "$bin" docs/codex-versions.md || failed="$failed $version"
done
if [ -n "$failed" ]; then
	echo "FAIL compat: codex$failed" >&2
	exit 1
fi
