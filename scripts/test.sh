#!/usr/bin/env bash
# The tests, those on the real codex included: what is run for each change, with ALL=1
# everything, and with ALL=ci all but what takes long on the real codex. The race detector
# needs a C compiler; without one the tests run all the same, and this says so.
set -euo pipefail
cd "$(dirname "$0")/.."
# The console is tested in a browser. What is to be done where there is none and this
# may not install it, the tests say.
if [ -n "${ALL:-}" ] && [ -z "${CHROMIUM:-}" ] && ! command -v chromium >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null
fi
# Those on the real codex wait more than they compute. What hangs is given up, and not what a slow
# machine takes.
cores=$(getconf _NPROCESSORS_ONLN)
each=(go test -vet=off -ldflags=-w -parallel $((2 * cores)) -shuffle=on -timeout 25m) # make lint has vetted them; -w leaves out what debuggers read
real=("${each[@]}")
[ "${ALL:-}" = 1 ] || real+=(-short)
ends=(./e2e/browser ./e2e/chaos ./e2e/hostile ./e2e/image)
if [ -z "${ALL:-}" ]; then
	each+=(-short)
	ends=(./e2e/chaos)
fi
go test -vet=off -count=1 -run '^TestScratch$' ./internal/test/codextest # whether tests can have homes for codex here
if ! command -v "${CC:-gcc}" >/dev/null 2>&1; then
	echo "test: no C compiler: the tests run without the race detector (Debian: apt-get install gcc libc6-dev)" >&2
	mapfile -t packages < <(go list ./... | grep -v -e /e2e -e '/executor/codex$')
	failed=0
	"${real[@]}" -p "$cores" ./executor/codex ./e2e || failed=1
	"${each[@]}" -p $((cores + 1)) "${packages[@]}" "${ends[@]}" || failed=1
	exit "$failed"
fi
# End to end it is the built program that is tested: the race detector would watch the tests
# themselves only. These go beside the others, as jobs of their own that can be ended whole, since they
# wait for most of their time; and so do the executor's, which are watched.
echo "test: what the tests on the real codex say comes last" >&2
said=$(mktemp -d)
set -m
"${real[@]}" ./e2e >"$said/e2e" 2>&1 &
beside=("$!")
"${each[@]}" -p 1 "${ends[@]}" >"$said/ends" 2>&1 &
beside+=("$!")
# SQLite is C in Go's clothes, all pointers: watching it finds nothing and makes it ten times
# slower, and so does looking at the pointers of what binds it. What is around it is watched.
# In tests of how much is held the race detector would watch each byte of megabytes, and in those
# that kill processes, their starts: these are for ALL, and come behind. The longest come first, so that none is left to run alone.
heavy='^Test(BoundsOf|KilledAt)'
# Each program that is watched sleeps before it exits, by itself for a second: a minute of all packages together.
export GORACE="${GORACE:-} atexit_sleep_ms=50"
watched=(-skip "$heavy" -race -gcflags='modernc.org/...=-race=false' -gcflags='zombiezen.com/...=-d=checkptr=0')
CGO_ENABLED=1 "${real[@]}" "${watched[@]}" ./executor/codex >"$said/executor" 2>&1 &
beside+=("$!")
set +m
trap 'for job in "${beside[@]}"; do kill -INT -- -"$job" 2>/dev/null || :; done; rm -rf "$said"' EXIT
failed=0
mapfile -t packages < <(printf '%s\n' ./tasks ./server ./channel && go list ./... | grep -v -e /e2e -e '/executor/codex$')
CGO_ENABLED=1 "${each[@]}" "${watched[@]}" -p "$cores" "${packages[@]}" || failed=1
if [ -n "${ALL:-}" ]; then
	mapfile -t packages < <(grep -rlE "^func ${heavy#^}" --include='*_test.go' --exclude-dir='.?*' . | xargs -n 1 dirname | grep -v '^./e2e' | sort -u)
	"${each[@]}" -p "$cores" -run "$heavy" "${packages[@]}" || failed=1
fi
# Simulated time is short, and watched it would be long: a few seeds were watched above.
go test -vet=off -run '^TestSeeds$' ./internal/test/sim -sim.seeds 300 || failed=1
go test -vet=off -run '^TestSeeds$' ./internal/test/fleetsim -sim.seeds 40 -sim.large 1 || failed=1
for job in "${beside[@]}"; do wait "$job" || failed=1; done
cat "$said/executor" "$said/e2e" "$said/ends"
exit "$failed"
