#!/bin/sh
# Runs the public conformance suite against internal/test/tcksut: tck.sh PATH, where PATH is a
# checkout of a2aproject/a2a-tck, of its branch 1.0-dev or 0.3.x. What the suite needs is
# installed by name under .tools/tck. A line for each run says how it ended, and the first one
# whether the checkout is of the commit that docs/conformance.md was read at.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
if [ $# -ne 1 ] || [ ! -f "$1/run_tck.py" ]; then
	echo "usage: scripts/tck.sh PATH, a checkout of github.com/a2aproject/a2a-tck" >&2
	exit 2
fi
tck=$(cd "$1" && pwd)
version=0.3 branch=0.3.x
[ ! -d "$tck/tck/requirements" ] || version=1.0 branch=1.0-dev
read=$(sed -n "s/.*\`\([0-9a-f]\{7\}\)\` of \`$branch\`.*/\1/p" "$root/docs/conformance.md")
echo "$version: the suite's commit is $(git -C "$tck" rev-parse --short=7 HEAD 2>/dev/null || echo unknown), docs/conformance.md was read at $read"
tools=$root/.tools/tck
venv=$tools/$version

dependencies=$(python3 -c 'import sys, tomllib; print("\n".join(tomllib.load(open(sys.argv[1], "rb"))["project"]["dependencies"]))' "$tck/pyproject.toml")
if [ "$(cat "$venv/stamp" 2>/dev/null)" != "$dependencies" ]; then
	rm -rf "$venv"
	mkdir -p "$tools"
	python3 -m venv "$venv"
	echo "$dependencies" | "$venv/bin/pip" install --quiet --disable-pip-version-check -r /dev/stdin
	echo "$dependencies" >"$venv/stamp"
fi
(cd "$root" && go build -o "$tools/tcksut" ./internal/test/tcksut)

sut='' failed=0
trap '[ -z "$sut" ] || kill "$sut" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM

# run NAME FLAGS ARGUMENT...: the system under test with FLAGS, and the suite with ARGUMENT.
run() {
	name=$1 flags=$2
	shift 2
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	case $version in
	1.0) set -- --sut-host "http://127.0.0.1:$port" --transport jsonrpc,http_json "$@" ;;
	*)
		set -- --sut-url "http://localhost:$port" --transports jsonrpc "$@"
		flags="--card union --public-url http://0.0.0.0:$port $flags"
		;;
	esac
	# shellcheck disable=SC2086 # flags are words
	"$tools/tcksut" --addr "127.0.0.1:$port" $flags 2>"$tools/tcksut.log" &
	sut=$!
	until curl -fs -o /dev/null "http://127.0.0.1:$port/healthz"; do
		kill -0 "$sut" || exit 1
		sleep 0.1
	done
	(cd "$tck" && PATH="$venv/bin:$PATH" "$venv/bin/python" run_tck.py "$@") >"$tools/$version-$name.log" 2>&1 || failed=$((failed + 1))
	kill "$sut"
	wait "$sut" || true
	sut=
	echo "$version $name: $(tail -n 1 "$tools/$version-$name.log")"
}

if [ $version = 1.0 ]; then
	run plain ''
	run push --push
	run extension '--required-extension urn:a2a:tck:required-extension' -- -k TestCapabilityExtensionRequired
	run no-streaming --no-streaming -- -k TestCapabilityStreaming
else
	run mandatory '' --category mandatory
	run capabilities '' --category capabilities
	run capabilities-push --push --category capabilities
fi
[ $failed -eq 0 ] || echo "tck: the suite's words are in $tools/$version-*.log" >&2
exit $failed
