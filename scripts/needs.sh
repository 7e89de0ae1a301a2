#!/bin/sh
# Looks whether programs that make run and make build need are here, and says what is missing, all at
# once and before anything is fetched or built: needs.sh go npm. Before the first build it says how
# long that takes.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
lacking=
lack() {
	echo "make: $*" >&2
	lacking=yes
}

# A Go that is too old fetches the one that go.mod asks for, where it may and is not too old for that.
go_is_here() {
	want=$(sed -n 's/^go 1\.\([0-9]*\).*/\1/p' "$root/go.mod")
	have=$(cd / && GOTOOLCHAIN=local go version 2>/dev/null | sed -n 's/.*go1\.\([0-9]*\).*/\1/p')
	if [ -z "$have" ]; then
		lack "there is no Go in PATH, and the program is built with Go 1.$want: https://go.dev/doc/install"
	elif [ "$have" -ge "$want" ]; then
		return
	elif [ "$have" -lt 21 ] || [ "$(cd / && go env GOTOOLCHAIN)" = local ]; then
		lack "$(command -v go) is Go 1.$have, and the program is built with Go 1.$want or newer: https://go.dev/doc/install"
	else
		echo "make: this is Go 1.$have: it fetches Go 1.$want first" >&2
	fi
}

npm_is_here() {
	[ -z "${CODEX_BIN:-}" ] && [ ! -e "$root/.tools/bin/codex" ] || return 0
	command -v npm >/dev/null 2>&1 ||
		lack "there is no npm in PATH, which codex is installed with: install Node.js with npm (Debian: apt-get install npm), or set CODEX_BIN to a codex $(cat "$root/appserver/CODEX_VERSION")"
}

for program; do
	case $program in go) go_is_here ;; npm) npm_is_here ;; esac
done
[ -z "$lacking" ] || exit 1
[ $# -gt 1 ] || [ -e "$root/bin/runtime" ] ||
	echo "make: building bin/runtime: the first time Go fetches and compiles all that it is made of, which takes a minute or two" >&2
