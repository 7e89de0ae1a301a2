#!/bin/sh
# Writes the digests of the Dockerfile's bases, as their registry has them now, for the images
# of all platforms: into image/bases.lock, and that of Go's into the workflows, which run in
# it. It takes skopeo (Debian: apt-get install skopeo). With the word print they are shown and
# not written.
set -eu
cd "$(dirname "$0")/.."
command -v skopeo >/dev/null || {
	echo "bases: needs skopeo, which asks registries (Debian: apt-get install skopeo)" >&2
	exit 1
}
version() { sed -n "s/^ARG $1=//p" Dockerfile; }
suite=$(version DEBIAN)
lock=image/bases.lock
bases() {
	for base in "DEBIAN_DIGEST debian:$suite-slim" "GO_DIGEST golang:$(version GO)-$suite" "NODE_DIGEST node:$(version NODE_BUILD)-$suite-slim"; do
		name=${base#* }
		manifest=$(skopeo inspect --raw "docker://$name" && echo .)
		digest=$(printf %s "${manifest%.}" | sha256sum)
		echo "${base%% *} $name sha256:${digest%% *}"
	done
}
if [ "${1:-}" = print ]; then
	bases
	exit
fi
{
	sed -n '/^#/p' "$lock"
	bases
} >"$lock.new"
mv "$lock.new" "$lock"
go=$(sed -n 's/^GO_DIGEST \(.*\) /\1@/p' "$lock")
sed -i "s|image: golang:.*|image: $go|" .github/workflows/*.yml
cat "$lock"
