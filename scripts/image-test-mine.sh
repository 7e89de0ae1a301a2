#!/bin/sh
# Builds the image as Debian's buildah does it without a daemon and without a registry of
# images, on stand-ins for its bases, and runs the tests of e2e/image on it. It needs root;
# what else it needs it installs with apt-get. What was built is kept for the next run, in
# IMAGE_STORE. SHORT=1 runs one tier as one user instead of all; BUILD_ARGS has build
# arguments (NODE=1 PYTHON=1 T4=1). FIRST_MINUTES=1 builds anew, with no caches, and has nothing
# tested but how long the first answer takes.
set -eu
cd "$(dirname "$0")/.."
fail() {
	echo "image-test: $*" >&2
	exit 1
}
if [ "$(id -u)" != 0 ] || [ "$(uname -s)" != Linux ]; then
	fail "containers are made by hand here, which takes Linux, and root"
fi

missing=
need() { # COMMAND PACKAGE
	command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}
need buildah buildah
need mmdebstrap mmdebstrap
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

# What a container that this runs in may keep from it.
unshare --mount --uts --ipc --net --pid --fork --kill-child sh -c 'mount --make-rprivate / && mount -t tmpfs probe /mnt' ||
	fail "this root may not make namespaces and mounts: it takes CAP_SYS_ADMIN (docker run --privileged)"
setpriv --reuid=65534 --regid=65534 --clear-groups unshare --user --map-root-user --mount true ||
	fail "users may not make namespaces here, which codex's sandbox does: look at the sysctls user.max_user_namespaces, kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns"

step() { echo "image-test: $(date +%H:%M:%S) $*" >&2; }

step "the scripts"
scripts="scripts/*.sh start.sh deploy/*.sh image/molecule-askpass image/bin/codex e2e/image/testdata/*.sh .ci/run"
# shellcheck disable=SC2086 # patterns
shellcheck $scripts
# shellcheck disable=SC2086
go tool -modfile=tools/go.mod shfmt -d $scripts

mkdir -p .tools/tmp
tmp=$(mktemp -d "$PWD/.tools/tmp/image-XXXXXX")
store=${IMAGE_STORE:-$PWD/.tools/image}
[ -z "${FIRST_MINUTES:-}" ] || store=$tmp/store
# What buildah sets down on its way is as large as a layer, and /var/tmp may be small.
BUILDAH="env TMPDIR=$tmp buildah --root $store/images --runroot $store/run"
export BUILDAH

# leave is run however the script ends.
leave() {
	status=$?
	trap - EXIT
	for pid in $building; do kill "$pid" 2>/dev/null || true; done
	$BUILDAH umount --all >/dev/null 2>&1 || true
	$BUILDAH rm --all >/dev/null 2>&1 || true
	umount "$store/images/overlay" 2>/dev/null || true
	rm -rf --one-file-system "$tmp"
	exit $status
}
building=
trap leave EXIT
trap 'exit 130' INT TERM

step "stand-ins for the bases"
scripts/standins.sh

# build NAME ARGUMENT...
build() {
	log=$tmp/$1.log
	shift
	$BUILDAH build --isolation chroot --pull=never --layers --format docker --build-arg "VERSION=${VERSION:-dev}" "$@" . >"$log" 2>&1 || {
		tail -n 40 "$log" >&2
		return 1
	}
}
# The stages at once. This machine's Go and caches are no part of the image: only the
# stages that are left behind see them, and npm looks at the checksum all the same.
step "the stages"
cache=$(npm config get cache 2>/dev/null) compiled=$(go env GOCACHE) modules=$(go env GOMODCACHE)
go test -c -o "$tmp/image.test" ./e2e/image &
building=$!
if [ -n "${FIRST_MINUTES:-}" ]; then
	wait "$building"
	building=
	cache=$tmp/npm compiled=$tmp/compiled modules=$tmp/modules
fi
began=$(date +%s)
mkdir -p "$compiled" "$modules" "$cache"
build program --target build -v "$(go env GOROOT):/usr/local/go:ro" -v "$modules:/go/pkg/mod" -v "$compiled:/go/cache" &
building="$building $!"
build codex --target codex --build-arg npm_config_cache=/cache -v "$cache:/cache" &
building="$building $!"
arguments=
for argument in ${BUILD_ARGS:-}; do arguments="$arguments --build-arg $argument"; done
# shellcheck disable=SC2086 # a list of words
build system $arguments --target system &
building="$building $!"
for pid in $building; do
	wait "$pid" || failed=yes
done
building=
[ -z "${failed:-}" ] || fail "the image cannot be built"
if [ -z "${SHORT:-}" ]; then
	case "$(uname -m)" in x86_64) other=arm64 ;; *) other=amd64 ;; esac
	step "the program and codex for $other"
	build other-program --target build --build-arg "TARGETARCH=$other" -v "$(go env GOROOT):/usr/local/go:ro" -v "$modules:/go/pkg/mod" -v "$compiled:/go/cache"
	build other-codex --target codex --build-arg "TARGETARCH=$other" --build-arg npm_config_cache=/cache -v "$cache:/cache"
fi
step "the image"
# shellcheck disable=SC2086
build image $arguments -t workspace-template-codex:latest
first=
[ -z "${FIRST_MINUTES:-}" ] || first="-test.v -test.run ^TestFirstMinutes$ -first-minutes -built $(($(date +%s) - began))s"

$BUILDAH inspect --type image workspace-template-codex:latest >"$tmp/inspect.json"
container=$($BUILDAH from --pull=never workspace-template-codex:latest)
root=$($BUILDAH mount "$container")
sizes=${IMAGE_SIZES:+$(realpath "$IMAGE_SIZES")} # a file for them, or nothing
step "the tests; the image has $(du -sxm "$root" | cut -f1) MB, the codex in it $(du -sm "$root/opt/codex" | cut -f1)"
cd e2e/image
# A network of their own, on which there is nothing else, and port 8000 is free. 10.9.9.9 is
# an address that others see.
# shellcheck disable=SC2086 # a list of words
unshare --net sh -euc 'ip link set lo up; ip address add 10.9.9.9/32 dev lo; exec "$@"' - \
	"$tmp/image.test" -test.v -test.run "^(TestMachines|TestWhatServes|TestCompose)$" ${SHORT:+-test.short} $first -test.timeout 10m -root "$root" -inspect "$tmp/inspect.json" -sizes "$sizes" -arguments "${BUILD_ARGS:-}"
step "done"
