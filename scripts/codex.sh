#!/bin/sh
# Installs a codex under .tools and prints the path of its binary as the last line: the pinned one, as
# .tools/bin/codex, or the one of VERSION, beside it. The platform package of @openai/codex alone is
# enough: it holds a static binary that needs no Node to run. npm takes only what has the checksum of
# image/codex/package-lock.json, or of appserver/CODEX_WINDOW; a version that stands in neither, such as
# the newest, is taken as the registry has it, and this says so.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
pinned=$(cat "$root/appserver/CODEX_VERSION")
version=${1:-$pinned}

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

# says is the version that a codex says it has. At that it makes its home, which is its user's alone.
says() { (umask 077 && "$1" --version); }

# A codex of one's own is as good, if it is that one.
if [ -n "${CODEX_BIN:-}" ] && [ "$(says "$CODEX_BIN" 2>/dev/null)" = "codex-cli $version" ]; then
	echo "$CODEX_BIN"
	exit 0
fi

if [ "$version" = "$pinned" ]; then
	link=$root/.tools/bin/codex
else
	link=$root/.tools/bin/codex-$version
fi
folder=$root/.tools/codex-$version-$platform

# lock writes what npm installs by: one package, with its checksum.
lock() {
	sum=$(sed -n "s/^$version .*\<$platform=\(sha512-[^ ]*\).*/\1/p" "$root/appserver/CODEX_WINDOW")
	if [ -z "$sum" ]; then
		sum=$(npm view "@openai/codex@$version-$platform" dist.integrity)
		[ -n "$sum" ] || {
			echo "codex: the registry has no codex $version for $platform" >&2
			exit 1
		}
		echo "codex: $version is not in appserver/CODEX_WINDOW: the registry's own checksum is taken, $sum" >&2
	fi
	package="\"@openai/codex-$platform\": \"npm:@openai/codex@$version-$platform\""
	echo "{\"name\": \"codex\", \"dependencies\": {$package}}" >"$folder/package.json"
	echo "{\"name\": \"codex\", \"lockfileVersion\": 3, \"packages\": {\"\": {\"name\": \"codex\", \"dependencies\": {$package}},
		\"node_modules/@openai/codex-$platform\": {\"name\": \"@openai/codex\", \"version\": \"$version-$platform\", \"integrity\": \"$sum\"}}}" \
		>"$folder/package-lock.json"
}

if [ "$(says "$link" 2>/dev/null)" != "codex-cli $version" ]; then
	if ! command -v npm >/dev/null 2>&1; then
		echo "codex: npm is needed to install @openai/codex $version: install Node.js with npm (Debian: apt-get install npm)," >&2
		echo "codex: or put a codex $version on this machine yourself and set CODEX_BIN to it" >&2
		exit 1
	fi
	mkdir -p "$folder" "$root/.tools/bin"
	if [ "$version" = "$pinned" ]; then
		cp "$root/image/codex/package.json" "$root/image/codex/package-lock.json" "$folder"
	else
		lock
	fi
	echo "codex: installing codex $version under .tools with npm: about 160 MB to fetch, 400 MB there" >&2
	(cd "$folder" && "$root/scripts/still.sh" "installing codex" npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error) >&2 || {
		echo "codex: npm could not install it; its words stand above. Is the network there? make codex tries again" >&2
		exit 1
	}
	if [ ! -d "$folder/node_modules/@openai/codex-$platform" ]; then
		echo "codex: npm has left out the package of codex: the registry has no such bytes as the lockfile says" >&2
		exit 1
	fi
	bin=$(ls "$folder/node_modules/@openai/codex-$platform"/vendor/*/bin/codex)
	ln -sfn "$bin" "$link"
	if [ "$(says "$link")" != "codex-cli $version" ]; then
		echo "codex: $bin says it is $(says "$link"), not $version" >&2
		exit 1
	fi
fi
echo "$link"
