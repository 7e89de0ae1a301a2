#!/bin/sh
# Drives bin/runtime and the real codex, on the scripted model, with the clients
# of the official A2A SDKs, and of the MCP SDK for TypeScript, which also is the agent of a
# workspace of the platform's double. They are installed by name, at pinned versions,
# under .tools/interop. INTEROP_HEAVY=1 drives those that take long to install in their
# place: google-adk, crewai, beeai-framework, the command lines of the SDKs of Go and
# Rust, and the SDK of Java. SDK=newest drives the newest of each after the pinned, and says
# which versions that is. INTEROP_ALL=1 also tries the interfaces that the server
# has but the agent card does not offer. An argument chooses cases: those whose
# line contains it.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
tools=$root/.tools/interop
chosen=${1:-}
weight=light
[ -z "${INTEROP_HEAVY:-}" ] || weight=heavy
rounds=pinned
case ${SDK:-} in
"") ;;
newest) rounds="pinned newest" ;;
*)
	echo "interop: SDK is newest, or nothing, and not $SDK" >&2
	exit 2
	;;
esac
# shellcheck source=scripts/clients.sh
. "$root/scripts/clients.sh"

# suites_light and suites_heavy start the suites of the clients under $clients, all at a time.
suites_light() {
	suite js env INTEROP_MODULES="$clients/js" node "$root/interop/js/main.mjs" "$chosen"
	suite mcp env INTEROP_MCP_MODULES="$clients/mcp" node "$root/interop/mcp/main.mjs" "$chosen"
	suite mcp-agent agent
	for v in 0.2 0.3 1; do
		suite "python-$v" "$clients/python-$v/bin/python" "$root/interop/python/main.py" "$chosen"
	done
}

suites_heavy() {
	for v in adk-1:adk adk-2:adk crewai:crew beeai:bee; do
		suite "${v%:*}" env HOME="$tmp" "$clients/python-${v%:*}/bin/python" "$root/interop/heavy/${v#*:}.py" "$chosen"
	done
	suite go python3 "$root/interop/heavy/cli.py" go "$clients/go/a2a" "$chosen"
	suite rust python3 "$root/interop/heavy/cli.py" rust "$clients/rust/bin/a2acli" "$chosen"
	suite java java -cp "$clients/java/lib/*" "$root/interop/java/Interop.java" "$chosen"
}

# serve NAME [SETTING...]: starts a runtime; url is where it listens. Its pid is
# added to pids.
serve() {
	name=$1 dir=$tmp/$1
	shift
	mkdir -p "$dir/home" "$dir/state" "$dir/user" "$works/$name"
	: >"$dir/log"
	env -i PATH="$PATH" HOME="$dir/user" TMPDIR="${TMPDIR:-/tmp}" \
		CODEX_BIN="${CODEX_BIN:-$root/.tools/bin/codex}" CODEX_HOME="$dir/home" \
		RUNTIME_ADDR=127.0.0.1:0 RUNTIME_STATE_DIR="$dir/state" RUNTIME_WORKDIR="$works/$name" \
		RUNTIME_MODEL=scripted "$@" "$root/bin/runtime" serve 2>"$dir/log" &
	pid=$!
	pids="$pids $pid"
	tries=0
	while url=$(sed -n 's/.*"msg":"listening","addr":"\([^"]*\)".*/\1/p' "$dir/log" | head -n 1) && [ -z "$url" ]; do
		tries=$((tries + 1))
		if [ $tries -gt 200 ] || ! kill -0 "$pid" 2>/dev/null; then
			echo "interop: the runtime does not listen:" >&2
			cat "$dir/log" >&2
			exit 1
		fi
		sleep 0.1
	done
	url=http://$url
}

# agent is the suite of an MCP host that is the agent of a workspace, with a platform of its own. It ends its shell.
agent() {
	dir=$(mktemp -d "$tmp/platform-XXXXXX")
	"$tools/fakeplatform" -addr 127.0.0.1:0 -configs "$dir/configs" >"$dir/said" &
	platform=$!
	trap 'kill "$platform"' EXIT
	trap 'exit 130' TERM
	tries=0
	while ! grep -q PLATFORM_URL "$dir/said" && [ $tries -lt 200 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	code=0
	env INTEROP_MCP_MODULES="$clients/mcp" INTEROP_TMP="$dir" INTEROP_TOKEN_FILE="$dir/configs/.auth_token" \
		INTEROP_PLATFORM_URL="$(sed -n 's/.*export PLATFORM_URL=//p' "$dir/said")" \
		INTEROP_WORKSPACE="$(sed -n 's/.*WORKSPACE_ID=\([^ ]*\) .*/\1/p' "$dir/said")" \
		node "$root/interop/mcp/agent.mjs" "$chosen" || code=$?
	exit $code
}

# stop ends what serve has started, by its id, and reports whether all of it
# ended well. One that does not end within 20 s is killed.
stop() {
	well=0
	for pid in $pids; do
		kill -TERM "$pid" 2>/dev/null || true
		(
			tries=0
			while kill -0 "$pid" 2>/dev/null; do
				tries=$((tries + 1))
				[ $tries -le 200 ] || kill -KILL "$pid" 2>/dev/null || true
				sleep 0.1
			done
		) &
		guard=$!
		wait "$pid" || well=1
		wait "$guard" || true
	done
	pids=
	return $well
}

# leave is run however the script ends.
leave() {
	status=$?
	trap - EXIT
	for s in $suites; do kill -TERM "${s%%:*}" 2>/dev/null || true; done
	stop || true
	rm -rf "$tmp" "$works"
	exit $status
}

# suite NAME COMMAND...: runs one in the background; its lines go to a file.
suite() {
	name=$1
	shift
	"$@" >"$tmp/$name.out" 2>&1 &
	suites="$suites $!:$name"
}

need node "Node.js 20 or newer" nodejs
need npm "Node.js with npm" npm
need python3 "Python 3.11 or newer" "python3 python3-venv"
need go "Go 1.26" golang
"install_$weight"
(cd "$root" && go build -o "$tools/fakeplatform" ./internal/fake/fakeplatform/cmd)
case $rounds in *newest) "newest_$weight" ;; esac

pids='' suites=''
# For a home below the temp directory codex creates no sandbox.
scratch=$root/.tools/tmp
case $root/ in
"${TMPDIR:-/tmp}"/* | /tmp/*) scratch=${XDG_CACHE_HOME:-$HOME/.cache}/molecule-codex-runtime/test ;;
esac
mkdir -p "$scratch"
tmp=$(mktemp -d "$scratch/interop-XXXXXX")
works=$(mktemp -d) # in no repository: several suites write there at a time (docs/reliability.md)
trap leave EXIT
trap 'exit 130' INT TERM

export INTEROP_TOKEN=interop-token INTEROP_ALL="${INTEROP_ALL:-}" \
	INTEROP_RUNTIME="$root/bin/runtime" PYTHONDONTWRITEBYTECODE=1
serve open
export INTEROP_URL="$url"
serve guarded RUNTIME_TOKEN="$INTEROP_TOKEN"
export INTEROP_GUARDED_URL="$url"

failed=0
: >"$tmp/all"
for round in $rounds; do
	clients=$tools
	[ "$round" = pinned ] || clients=$tools/$round
	"suites_$weight"
	for s in $suites; do
		name=${s#*:}
		code=0
		wait "${s%%:*}" || code=$?
		if [ "$round" != pinned ]; then
			sed -E "s/^(ok  |FAIL|skip) /\1 $round: /" "$tmp/$name.out" >"$tmp/told"
			mv "$tmp/told" "$tmp/$name.out"
		fi
		cat "$tmp/$name.out"
		cat "$tmp/$name.out" >>"$tmp/all"
		# 0 and 1 are told by the lines; anything else is a suite that broke.
		if [ $code -gt 1 ] || { [ $code -eq 1 ] && ! grep -q '^FAIL' "$tmp/$name.out"; }; then
			echo "FAIL $round: $name: the suite ended with exit code $code"
			failed=$((failed + 1))
		fi
	done
	suites=
done

if ! stop; then
	echo "FAIL the runtime did not end well on SIGTERM"
	failed=$((failed + 1))
fi
passed=$(grep -c '^ok ' "$tmp/all" || true)
failed=$((failed + $(grep -c '^FAIL' "$tmp/all" || true)))
if [ $failed -gt 0 ]; then
	echo "interop: the last lines of the runtime's log:" >&2
	tail -n 20 "$tmp/open/log" >&2
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ "$passed" -gt 0 ]
