#!/bin/sh
# Moves the pin to another codex: every place that names it, with the lockfile. Says what differs between the two in
# our terms, runs the tests that are about codex, and leaves a commit to be read.
set -eu
cd "$(dirname "$0")/.."
new=${1:?"say which: make pin VERSION=0.NNN.0"}
old=$(cat appserver/CODEX_VERSION)
[ "$new" != latest ] || new=$(npm view @openai/codex version)
if [ -n "$(git status --porcelain)" ]; then
	echo "pin: commit or stash what is changed here first, or take it back (git checkout .): this ends with a commit of its own" >&2
	exit 1
fi
if [ "$new" = "$old" ]; then
	echo "pin: codex $new is the pinned one already" >&2
	exit 1
fi
said=$(mktemp -d)
left() {
	rm -rf "$said"
	[ -z "$(git status --porcelain)" ] ||
		echo "pin: nothing is committed. What was changed stands in git diff; git checkout . takes it back" >&2
}
trap left EXIT
trap 'exit 130' INT TERM
unset CODEX_BIN # it would be taken for both
before=$(scripts/codex.sh "$old")
before=$(readlink -f "$before")
go run ./internal/test/compat window "$new"

echo "$new" >appserver/CODEX_VERSION
escaped=$(echo "$old" | sed 's/\./\\./g')
for file in image/codex/package.json connect/codex.snippet; do
	sed "s/$escaped/$new/g" "$file" >"$file.new"
	cat "$file.new" >"$file" # its mode stays
	rm "$file.new"
done
(cd image/codex && npm install --package-lock-only --omit-lockfile-registry-resolved --no-audit --no-fund --loglevel=error)
after=$(readlink -f "$(scripts/codex.sh)")

CODEX_HOME=$said "$before" app-server generate-json-schema --experimental --out "$said/before"
CODEX_HOME=$said "$after" app-server generate-json-schema --experimental --out "$said/after"
go run ./internal/test/compat schemas "$said/before" "$said/after" >"$said/differs"
go run ./internal/test/compat known "$new" >>"$said/differs"
cat "$said/differs"

scripts/compat.sh "$new"
go test -vet=off -count=1 ./appserver ./connect ./internal/test/compat ./internal/archtest
git add -A appserver image connect docs/codex-versions.md
{
	printf 'codex: %s in the place of %s\n\n' "$new" "$old"
	cat "$said/differs"
} | git commit -q -F -
git --no-pager show --stat
echo "pin: read what stands above and docs/fidelity.md, then measure: make bench, make chaos" >&2
