#!/bin/sh
# Tries a newer version of a module that the program is built from, in a copy of this tree:
# try.sh MODULE[@VERSION]..., by itself the newest one. What is run are the tests of the packages
# that import it, with ALL=1 those end to end among them. This tree is left as it is.
set -eu
cd "$(dirname "$0")/.."
if [ $# -eq 0 ]; then
	echo "try: say which module: make try MODULE=example.org/module, or MODULE=example.org/module@v1.2.3" >&2
	exit 2
fi
export CODEX_BIN="${CODEX_BIN:-$PWD/.tools/bin/codex}"
mkdir -p .tools/tmp
copy=$(mktemp -d "$PWD/.tools/tmp/try-XXXXXX")
trap 'rm -rf "$copy"' EXIT
trap 'exit 130' INT TERM
git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$copy"
cd "$copy"
cp go.mod go.mod.before
export GOFLAGS="${GOFLAGS:-} -mod=mod"
for module; do
	case $module in *@*) ;; *) module=$module@latest ;; esac
	go get "$module"
done
if cmp -s go.mod go.mod.before; then
	echo "try: nothing is newer than what is pinned: $*"
	exit
fi
diff go.mod.before go.mod | grep '^[<>]' || true
go vet ./...

# What imports them. Another major version is another module.
go list -f '{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... >packages
for module; do
	awk -v module="${module%@*}" '{
		for (i = 2; i <= NF; i++) {
			rest = substr($i, length(module) + 1)
			if (index($i, module) == 1 && (rest == "" || rest ~ "^/" && rest !~ "^/v[0-9]+(/|$)")) { print $1; next }
		}
	}' packages
done | sort -u >importing
if [ "${ALL:-}" != 1 ]; then
	grep -v -e '/e2e$' -e '/e2e/' importing >quick || true
	mv quick importing
fi
if [ ! -s importing ]; then
	echo "try: no package imports it, and all of them build"
	exit
fi
# shellcheck disable=SC2046 # names of packages
go test -vet=off -short -timeout 25m $(cat importing)
