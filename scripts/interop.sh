#!/bin/sh
# Drives bin/runtime and the real codex, on the scripted model, with the clients
# of the official A2A SDKs, and of the MCP SDK for TypeScript. They are installed by name, at pinned versions,
# under .tools/interop. INTEROP_HEAVY=1 drives those that take long to install in their
# place: google-adk, crewai, beeai-framework, the command lines of the SDKs of Go and
# Rust, and the SDK of Java. INTEROP_ALL=1 also tries the interfaces that the server
# has but the agent card does not offer. An argument chooses cases: those whose
# line contains it.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
tools=$root/.tools/interop
chosen=${1:-}
weight=light
[ -z "${INTEROP_HEAVY:-}" ] || weight=heavy

need() {
	if ! command -v "$1" >/dev/null 2>&1; then
		echo "interop: $1 is needed: install $2 (Debian: apt-get install $3)" >&2
		exit 1
	fi
}

# installed STAMP FILE...: whether STAMP was written for these files as they are.
installed() {
	stamp=$1
	shift
	[ "$(cat "$stamp" 2>/dev/null)" = "$(cat "$@" | cksum)" ]
}

# install_node NAME: the packages of interop/NAME.
install_node() {
	folder=$tools/$1
	set -- "$root/interop/$1/package.json" "$root/interop/$1/package-lock.json"
	installed "$folder/stamp" "$@" && return
	mkdir -p "$folder"
	cp "$@" "$folder"
	(cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >&2
	cat "$@" | cksum >"$folder/stamp"
}

# install_python FOLDER NAME: a virtual environment for interop/FOLDER/requirements-NAME.txt.
install_python() {
	venv=$tools/python-$2
	requirements=$root/interop/$1/requirements-$2.txt
	installed "$venv/stamp" "$requirements" && return
	rm -rf "$venv"
	if ! python3 -m venv "$venv" >&2; then
		echo "interop: python3 cannot make a virtual environment (Debian: apt-get install python3-venv)" >&2
		exit 1
	fi
	"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements" >&2
	cksum <"$requirements" >"$venv/stamp"
}

# install_heavy: the clients that take minutes to install.
install_heavy() {
	need go "Go 1.26" golang
	need cargo "Rust 1.85 or newer" cargo
	need mvn "Maven, with Java 17 or newer" "maven openjdk-17-jdk-headless"
	for v in adk-1 adk-2 crewai beeai; do install_python heavy $v; done
	(cd "$root/interop/go" && go build -o "$tools/go/a2a" github.com/a2aproject/a2a-go/v2/cmd/a2a) >&2
	[ -x "$tools/rust/bin/a2acli" ] || cargo install --quiet --locked --root "$tools/rust" --version 0.4.5 a2a-cli >&2
	installed "$tools/java/stamp" "$root/interop/java/pom.xml" && return
	mkdir -p "$tools/java"
	mvn -q -B -f "$root/interop/java/pom.xml" dependency:copy-dependencies -DoutputDirectory="$tools/java/lib" >&2
	cksum <"$root/interop/java/pom.xml" >"$tools/java/stamp"
}

# suites_light and suites_heavy start the suites, all at a time.
suites_light() {
	suite js node "$root/interop/js/main.mjs" "$chosen"
	suite mcp node "$root/interop/mcp/main.mjs" "$chosen"
	for v in 0.2 0.3 1; do
		suite "python-$v" "$tools/python-$v/bin/python" "$root/interop/python/main.py" "$chosen"
	done
}

suites_heavy() {
	for v in adk-1:adk adk-2:adk crewai:crew beeai:bee; do
		suite "${v%:*}" env HOME="$tmp" "$tools/python-${v%:*}/bin/python" "$root/interop/heavy/${v#*:}.py" "$chosen"
	done
	suite go python3 "$root/interop/heavy/cli.py" go "$tools/go/a2a" "$chosen"
	suite rust python3 "$root/interop/heavy/cli.py" rust "$tools/rust/bin/a2acli" "$chosen"
	suite java java -cp "$tools/java/lib/*" "$root/interop/java/Interop.java" "$chosen"
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
if [ "$weight" = heavy ]; then
	install_heavy
else
	install_node js
	install_node mcp
	for v in 0.2 0.3 1; do install_python python $v; done
fi

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

export INTEROP_TOKEN=interop-token INTEROP_ALL="${INTEROP_ALL:-}" INTEROP_MODULES="$tools/js" INTEROP_MCP_MODULES="$tools/mcp" \
	INTEROP_RUNTIME="$root/bin/runtime" PYTHONDONTWRITEBYTECODE=1
serve open
export INTEROP_URL="$url"
serve guarded RUNTIME_TOKEN="$INTEROP_TOKEN"
export INTEROP_GUARDED_URL="$url"

"suites_$weight"

failed=0
: >"$tmp/all"
for s in $suites; do
	name=${s#*:}
	code=0
	wait "${s%%:*}" || code=$?
	cat "$tmp/$name.out"
	cat "$tmp/$name.out" >>"$tmp/all"
	# 0 and 1 are told by the lines; anything else is a suite that broke.
	if [ $code -gt 1 ] || { [ $code -eq 1 ] && ! grep -q '^FAIL' "$tmp/$name.out"; }; then
		echo "FAIL $name: the suite ended with exit code $code"
		failed=$((failed + 1))
	fi
done
suites=

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
