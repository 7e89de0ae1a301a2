#!/bin/sh
# Installs the pinned codex under .tools and prints the path of its binary as
# the last line. The platform package of @openai/codex alone is enough: it
# holds a static binary that needs no Node to run. npm takes only what has the
# checksum of image/codex/package-lock.json.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
version=$(cat "$root/appserver/CODEX_VERSION")

case "$(uname -s)-$(uname -m)" in
Linux-x86_64) platform=linux-x64 ;;
Linux-aarch64 | Linux-arm64) platform=linux-arm64 ;;
Darwin-x86_64) platform=darwin-x64 ;;
Darwin-arm64) platform=darwin-arm64 ;;
*)
	echo "codex: there is no codex $version for $(uname -s) on $(uname -m)" >&2
	exit 1
	;;
esac

# A codex of one's own is as good, if it is the pinned one.
if [ -n "${CODEX_BIN:-}" ] && [ "$("$CODEX_BIN" --version 2>/dev/null)" = "codex-cli $version" ]; then
	echo "$CODEX_BIN"
	exit 0
fi

link=$root/.tools/bin/codex
folder=$root/.tools/codex-$version-$platform

if [ "$("$link" --version 2>/dev/null)" != "codex-cli $version" ]; then
	if ! command -v npm >/dev/null 2>&1; then
		echo "codex: npm is needed to install @openai/codex $version: install Node.js with npm (Debian: apt-get install npm)," >&2
		echo "codex: or put a codex $version on this machine yourself and set CODEX_BIN to it" >&2
		exit 1
	fi
	mkdir -p "$folder" "$root/.tools/bin"
	cp "$root/image/codex/package.json" "$root/image/codex/package-lock.json" "$folder"
	(cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >&2
	if [ ! -d "$folder/node_modules/@openai/codex-$platform" ]; then
		echo "codex: npm has left out the package of codex: the registry has no such bytes as image/codex/package-lock.json says" >&2
		exit 1
	fi
	bin=$(ls "$folder/node_modules/@openai/codex-$platform"/vendor/*/bin/codex)
	ln -sfn "$bin" "$link"
	if [ "$("$link" --version)" != "codex-cli $version" ]; then
		echo "codex: $bin says it is $("$link" --version), not $version" >&2
		exit 1
	fi
fi
echo "$link"
