#!/bin/sh
# Goes the ways of a new user to the first answer, and says how long each took: from a clone, by the
# Connect block, from the image: first-minutes.sh [clone|connect|image]... Each begins with nothing in a
# home of its own, and with no caches, which WARM=1 lets the clone have. The clone has what is
# committed. What the terminal showed stands in the log, each line behind its second. More than five
# minutes are a failure. REPORT=1 writes the times into docs/getting-started.md.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- clone connect image
log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM
go_way() {
	case $1 in
	clone) go test ./e2e/browser -run '^TestFirstMinutes$' -count=1 -timeout 15m -v -args -first-minutes ${WARM:+-warm} ;;
	connect) go test ./e2e -run '^TestFirstMinutes$' -count=1 -timeout 15m -v -args -first-minutes ;;
	image) SHORT=1 FIRST_MINUTES=1 scripts/image-test.sh ;;
	*)
		echo "usage: scripts/first-minutes.sh [clone|connect|image]..." >&2
		return 2
		;;
	esac
}
for way; do
	{ go_way "$way" || echo "first-minutes: $way failed"; } 2>&1 | tee -a "$log"
done
echo
grep '^first-minutes' "$log"
if grep -q '^first-minutes: ' "$log"; then exit 1; fi
if [ -n "${REPORT:-}" ]; then
	page=docs/getting-started.md
	grep '^first-minutes ' "$log" >"$log.times"
	awk -v times="$log.times" '
		/^<!-- \/first minutes -->$/ { within = 0 }
		!within { print }
		/^<!-- first minutes -->$/ { within = 1; print "```"; while ((getline line < times) > 0) print line; print "```" }
	' "$page" >"$log.page"
	cat "$log.page" >"$page"
	rm -f "$log.times" "$log.page"
fi
