#!/bin/sh
# Says what has moved of all that is pinned here: what, the version that is pinned, the newest
# one, and what to do. Each is asked for by the client of its own registry, as this machine has
# it set up. What could not be asked has a line that says why, and makes the exit code 1.
# docs/fidelity.md is the page to it.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

# ask COMMAND...: what it answers, or a line "not asked: WHY".
ask() {
	if ! command -v "$1" >/dev/null 2>&1; then
		echo "not asked: needs $1"
	elif "$@" >"$tmp/answer" 2>"$tmp/why" && [ -s "$tmp/answer" ]; then
		cat "$tmp/answer"
	else
		why=$(grep -v '^[[:space:]]*$' "$tmp/why" | tail -n 1 | cut -c1-120)
		echo "not asked: $1 says: ${why:-nothing}"
	fi
}

# row WHAT PINNED NEWEST TODO
row() {
	case $3 in
	"") line "$1" "$2" - "not asked: the answer is not understood" && echo "$1" >>"$tmp/unasked" ;;
	"not asked: "*) line "$1" "$2" - "$3" && echo "$1" >>"$tmp/unasked" ;;
	"$2") line "$1" "$2" "$3" "" ;;
	*) line "$1" "$2" "$3" "$4" && echo "$1" >>"$tmp/moved" ;;
	esac
}
line() { printf '%-44s | %-21s | %-21s | %s\n' "$@" >>"$tmp/table"; }

# The newest of a series is the newest that begins with it.
npm_newest() { # NAME[@SERIES]
	ask npm view "$1" version | sed "s/.*'\(.*\)'/\1/" | sort -V | tail -n 1
}
pip_newest() { # NAME SERIES
	ask python3 -m pip index versions "$1" | awk -v series="$2" '
		/^not asked/ { print; exit }
		sub(/^Available versions: /, "") { n = split($0, v, ", "); for (i = 1; i <= n; i++) if (index(v[i], series) == 1) { print v[i]; exit } }'
}

codex() {
	pin=$(cat appserver/CODEX_VERSION)
	row codex "$pin" "$(npm_newest @openai/codex)" "make compat VERSION=latest, then make pin VERSION=…"
	lock=image/codex/package-lock.json
	sed -n 's/.*"integrity": "\(.*\)".*/\1/p' "$lock" | sort >"$tmp/locked"
	sed -n 's/.*: "npm:@openai.codex@\(.*\)".*/\1/p' image/codex/package.json | while read -r version; do
		ask npm view "@openai/codex@$version" dist.integrity </dev/null
	done | sort >"$tmp/served"
	bytes="other bytes"
	if cmp -s "$tmp/locked" "$tmp/served"; then bytes="as locked"; fi
	bytes=$(grep -m 1 '^not asked' "$tmp/served" || echo "$bytes")
	row "codex, the bytes of $(basename "$lock")" "as locked" "$bytes" "build nothing before it is known why the registry has other bytes"
}

# pinned_js NAME: its version in a package.json.
pinned_js() { sed -n "s|.*\"$1\": \"\(.*@\)*\([0-9][^\"]*\)\".*|\2|p" "$2"; }

sdks() {
	try="make interop SDK=newest, then interop/"
	js=interop/js/package.json mcp=interop/mcp/package.json
	row "A2A, JavaScript 0.3" "$(pinned_js a2a-sdk-0.3 $js)" "$(npm_newest @a2a-js/sdk@0.3)" "${try}js"
	row "A2A, JavaScript" "$(pinned_js a2a-sdk-1 $js)" "$(npm_newest @a2a-js/sdk)" "${try}js"
	row "MCP, JavaScript" "$(pinned_js @modelcontextprotocol/sdk $mcp)" "$(npm_newest @modelcontextprotocol/sdk)" "${try}mcp"
	for client in "a2a-sdk 0.2. python/requirements-0.2.txt" "a2a-sdk 0.3. python/requirements-0.3.txt" "a2a-sdk - python/requirements-1.txt" \
		"google-adk 1. heavy/requirements-adk-1.txt" "google-adk - heavy/requirements-adk-2.txt" \
		"crewai - heavy/requirements-crewai.txt" "beeai-framework - heavy/requirements-beeai.txt"; do
		# shellcheck disable=SC2086 # words
		set -- $client
		case $3 in heavy/*) try="make interop INTEROP_HEAVY=1 SDK=newest, then interop/" ;; esac
		row "Python, $1 ${2%[.-]}" "$(sed -n "s/^$1==//p" "interop/$3")" "$(pip_newest "$1" "${2#-}")" "$try$3"
	done
	row "A2A, Rust, a2a-cli" "$(sed -n 's/^rust_pin=//p' scripts/clients.sh)" \
		"$(ask cargo info a2a-cli | sed -n '/^not asked/p; s/^version: \([^ ]*\).*/\1/p')" "make interop INTEROP_HEAVY=1 SDK=newest, then scripts/clients.sh"
	java=$(sed -n 's|.*<a2a>\(.*\)</a2a>.*|\1|p' interop/java/pom.xml)
	row "A2A, Java" "$java" "$(java_newest "$java")" "what is new in it; then interop/java"
}

# java_newest PINNED. Those before a release are none.
java_newest() {
	ask mvn -B -f interop/java/pom.xml versions:display-dependency-updates '-Dmaven.version.ignore=(?i).*[.-](alpha|beta|cr|rc|m)[0-9.-]*' |
		awk -v pinned="$1" '/^not asked/ { print; exit } / -> / { print $NF; exit } /No dependencies .* have newer/ { print pinned; exit }'
}

# modules FOLDER TRY: the direct requirements of a module, and its tools. Those of A2A have a line
# each, the others if they have moved.
modules() {
	newest='{{with .Update}}{{.Version}}{{else}}{{with .Error}}not asked: go says: {{printf "%.60q" .Err}}{{else}}{{.Version}}{{end}}{{end}}'
	(
		cd "$1"
		ask go list -m -f '{{if not (or .Main .Indirect)}}{{.Path}}{{else}}-{{end}}' all >"$tmp/required"
		if ! grep '^not asked' "$tmp/required"; then
			go list -find -f '{{.Module.Path}}' tool 2>/dev/null >>"$tmp/required" || true
			# shellcheck disable=SC2046 # names
			ask go list -m -u -e -f "{{.Path}} {{.Version}} $newest" $(sort -u "$tmp/required" | grep -v '^-$')
		fi
	) >"$tmp/modules"
	while read -r name version newest; do
		todo=$(echo "$2" | sed "s|NAME|$name|g")
		case $name in
		not) row "the modules of $1" - "$name $version $newest" "" ;;
		github.com/a2aproject/*) row "$name" "$version" "$newest" "$todo" ;;
		*) [ "$version" = "$newest" ] || row "$name" "$version" "$newest" "$todo" ;;
		esac
	done <"$tmp/modules"
}

go_itself() {
	pin=$(sed -n 's/^ARG GO=//p' Dockerfile)
	row "Go: Dockerfile, go.mod, workflows" "$pin" "$(ask go list -m -f '{{.Version}}' go@latest | sed 's/^\([0-9]*\.[0-9]*\)\..*/\1/')" \
		"GO in Dockerfile, go in each go.mod, then make bases test-all"
}

# debian: whether the suite of the image is still Debian's stable one.
debian() {
	suite=$(sed -n 's/^ARG DEBIAN=//p' Dockerfile)
	archive=$(ask apt-cache policy | awk -v suite="$suite" '
		/^not asked/ { print; exit }
		$0 ~ "o=Debian,a=[a-z]*,n=" suite ",l=Debian," { sub(/.*,a=/, ""); sub(/,.*/, ""); print; exit }')
	case $archive in
	stable) newest=$suite ;;
	"not asked: "*) newest=$archive ;;
	"") newest="not asked: apt knows no $suite here" ;;
	*) newest="$suite is $archive" ;;
	esac
	row "Debian: Dockerfile" "$suite" "$newest" "DEBIAN in Dockerfile, then make bases image-test"
}

bases() {
	sed -n 's/^[A-Z_]* \([a-z].*\) sha256:\(.\{12\}\).*/\1 \2/p' image/bases.lock >"$tmp/bases"
	ask skopeo --version | grep '^not asked' >"$tmp/now" || ask scripts/bases.sh print >"$tmp/now"
	while read -r name digest; do
		newest=$(sed -n "/^not asked/p; s/^[A-Z_]* $name sha256:\(.\{12\}\).*/\1/p" "$tmp/now")
		row "$name" "$digest" "$newest" "make bases"
	done <"$tmp/bases"
}

actions() {
	sed -n 's/.*uses: \([^@]*\)@[0-9a-f]* # \(v.*\)/\1 \2/p' .github/workflows/*.yml | sort -u >"$tmp/actions"
	while read -r name version; do
		row "$name" "$version" "$(ask gh api "repos/$name/releases/latest" --jq .tag_name </dev/null)" \
			"what is new in it; its commit: gh api repos/$name/commits/TAG --jq .sha"
	done <"$tmp/actions"
}

tck() {
	for branch in 1.0-dev 0.3.x; do
		row "A2A's conformance suite, $branch" "$(sed -n "s/.*\`\([0-9a-f]\{7\}\)\` of \`$branch\`.*/\1/p" docs/conformance.md)" \
			"$(ask gh api "repos/a2aproject/a2a-tck/commits/$branch" --jq .sha | sed 's/^\([0-9a-f]\{7\}\)[0-9a-f]*$/\1/')" "scripts/tck.sh, then docs/conformance.md"
	done
}

line what pinned newest "what to do"
codex
sdks
modules . "make try MODULE=NAME, then go get NAME"
modules interop/go "make interop INTEROP_HEAVY=1 SDK=newest, then go get NAME in interop/go"
modules tools "go get NAME in tools, then make lint check-deploy"
modules deploy/check "go get NAME in deploy/check, then make check-deploy"
go_itself
debian
bases
actions
tck
cat "$tmp/table"
if [ -e "$tmp/unasked" ]; then
	echo "moved: $(grep -c . "$tmp/unasked") could not be asked: see their lines" >&2
	exit 1
fi
[ -e "$tmp/moved" ] || echo "nothing has moved"
