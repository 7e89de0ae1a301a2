#!/bin/sh
# Builds the image as Debian's buildah does it without a daemon and without a registry of
# images, on stand-ins for its bases, and runs the tests of e2e/image on it. It needs root;
# what else it needs it installs with apt-get. What was built is kept for the next run, in
# IMAGE_STORE.
set -eu
cd "$(dirname "$0")/.."
if [ "$(id -u)" != 0 ] || [ "$(uname -s)" != Linux ]; then
	echo "image-test: containers are made by hand here, which takes Linux, and root" >&2
	exit 1
fi

missing=
need() { # COMMAND PACKAGE
	command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}
need buildah buildah
need debootstrap debootstrap
need ip iproute2
need nsenter util-linux
need shellcheck shellcheck
need npm npm
[ -e /etc/ssl/certs/ca-certificates.crt ] || missing="$missing ca-certificates"
if [ -n "$missing" ]; then
	apt-get update -qq
	# shellcheck disable=SC2086 # a list of words
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
fi

step() { echo "image-test: $(date +%H:%M:%S) $*" >&2; }

step "the scripts"
scripts="scripts/*.sh start.sh image/molecule-askpass e2e/image/testdata/*.sh .ci/run"
# shellcheck disable=SC2086 # patterns
shellcheck $scripts
# shellcheck disable=SC2086
go tool -modfile=tools/go.mod shfmt -d $scripts

mkdir -p .tools/tmp
tmp=$(mktemp -d "$PWD/.tools/tmp/image-XXXXXX")
store=${IMAGE_STORE:-$PWD/.tools/image}
BUILDAH="buildah --root $store/images --runroot $store/run"
export BUILDAH

# leave is run however the script ends.
leave() {
	status=$?
	trap - EXIT
	$BUILDAH umount --all >/dev/null 2>&1 || true
	$BUILDAH rm --all >/dev/null 2>&1 || true
	umount "$store/images/overlay" 2>/dev/null || true
	rm -rf --one-file-system "$tmp"
	exit $status
}
trap leave EXIT
trap 'exit 130' INT TERM

step "stand-ins for the bases"
scripts/standins.sh

# build ARGUMENT...
build() {
	$BUILDAH build --isolation chroot --pull-never --layers --format docker --build-arg "VERSION=${VERSION:-dev}" \
		-t workspace-template-codex:latest "$@" . >"$tmp/log" 2>&1 || {
		tail -n 40 "$tmp/log" >&2
		exit 1
	}
}
step "the program"
# With this machine's caches. They are no part of the image: only this stage sees them.
mkdir -p "$(go env GOCACHE)" "$(go env GOMODCACHE)"
build --target build -v "$(go env GOMODCACHE):/go/pkg/mod" -v "$(go env GOCACHE):/go/cache"
step "the image"
build

$BUILDAH inspect --type image workspace-template-codex:latest >"$tmp/inspect.json"
container=$($BUILDAH from --pull-never workspace-template-codex:latest)
root=$($BUILDAH mount "$container")
sizes=${IMAGE_SIZES:+$(realpath "$IMAGE_SIZES")} # a file for them, or nothing
step "the tests; the image has $(du -sxm "$root" | cut -f1) MB, the codex in it $(du -sm "$root/opt/codex" | cut -f1)"
go test -c -o "$tmp/image.test" ./e2e/image
cd e2e/image
# A network of their own, on which there is nothing else, and port 8000 is free.
unshare --net sh -euc 'ip link set lo up; exec "$@"' - \
	"$tmp/image.test" -test.v -test.timeout 10m -root "$root" -inspect "$tmp/inspect.json" -sizes "$sizes"
step "done"
