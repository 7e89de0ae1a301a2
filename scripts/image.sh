#!/bin/sh
# Builds the image with docker, podman or buildah, whichever runs here. IMAGE is its name,
# PLATFORM another platform than this machine's (linux/arm64), BUILD_ARGS build arguments
# (NODE=1 PYTHON=1 T4=1), VERSION and REVISION what its labels say.
set -eu
cd "$(dirname "$0")/.."
image=${IMAGE:-workspace-template-codex:latest}
version=${VERSION:-dev}
revision=${REVISION:-$(git rev-parse HEAD 2>/dev/null || echo unknown)}

set -- --build-arg "VERSION=$version" --build-arg "REVISION=$revision" -t "$image"
[ -z "${PLATFORM:-}" ] || set -- "$@" --platform "$PLATFORM"
# Bases of other versions than the Dockerfile's have no digest here.
locked=yes
case " ${BUILD_ARGS:-} " in *" DEBIAN="* | *" GO="* | *" NODE_BUILD="*) locked= ;; esac
if [ "$locked" ] && grep -q '^[A-Z]' image/bases.lock; then
	while read -r argument _ digest; do
		case $argument in [A-Z]*) set -- "$@" --build-arg "$argument=@$digest" ;; esac
	done <image/bases.lock
else
	echo "image: the bases are what their names stand for today: make bases writes image/bases.lock" >&2
fi
for argument in ${BUILD_ARGS:-}; do
	set -- "$@" --build-arg "$argument"
done

if docker info >/dev/null 2>&1; then
	exec docker build "$@" .
fi
# Older ones of the others do not know by themselves where they are.
case "$(uname -m)" in x86_64) here=linux/amd64 ;; *) here=linux/arm64 ;; esac
set -- --build-arg "BUILDPLATFORM=$here" "$@"
if podman info >/dev/null 2>&1; then
	exec podman build --format docker "$@" .
elif command -v buildah >/dev/null 2>&1; then
	exec buildah build --format docker "$@" .
fi
echo "image: nothing here builds images: install docker, podman or buildah (Debian: apt-get install buildah)" >&2
exit 1
