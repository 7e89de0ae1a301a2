#!/bin/sh
# Makes stand-ins for the base images of the Dockerfile, under their own names, for
# machines without a registry of images: Debian by mmdebstrap; on it npm's Node.js; and for
# Go's image the place of Go alone, which whoever builds mounts there. BUILDAH is the
# command that they are made with.
set -eu
: "${BUILDAH:?is the buildah to use}"
suite=$(sed -n 's/^ARG DEBIAN=//p' Dockerfile)
go=$(sed -n 's/^ARG GO=//p' Dockerfile)
node=$(sed -n 's/^ARG NODE_BUILD=//p' Dockerfile)
base=debian:$suite-slim
tmp=$(mktemp -d "$PWD/.tools/tmp/standins-XXXXXX")
trap 'rm -rf "$tmp"' EXIT

there() { $BUILDAH inspect --type image "$1" >/dev/null 2>&1; }

# commit CONTAINER NAME
commit() {
	$BUILDAH commit -q --rm "$1" "$2" >/dev/null
	echo "standins: $2" >&2
}

# Both come over the network, so they come at once.
fetch_node() {
	there "node:$node-$suite-slim" && return
	case "$(uname -m)" in x86_64) cpu=x64 ;; *) cpu=arm64 ;; esac
	npm install --prefix "$tmp/node" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error "node-linux-$cpu@$node" npm@10
	mkdir -p "$tmp/local/bin" "$tmp/local/lib/node_modules"
	mv "$tmp/node/node_modules/node-linux-$cpu/bin/node" "$tmp/local/bin/"
	mv "$tmp/node/node_modules/npm" "$tmp/local/lib/node_modules/"
	ln -s ../lib/node_modules/npm/bin/npm-cli.js "$tmp/local/bin/npm"
}
(fetch_node) >"$tmp/node.log" 2>&1 &
fetching=$!

if ! there "$base"; then
	if ! mmdebstrap --variant=minbase --dpkgopt=force-unsafe-io "$suite" "$tmp/base.tar" >"$tmp/log" 2>&1; then
		tail -n 20 "$tmp/log" >&2
		exit 1
	fi
	container=$($BUILDAH from scratch)
	$BUILDAH add -q "$container" "$tmp/base.tar" / >/dev/null
	rm "$tmp/base.tar"
	$BUILDAH config --cmd bash --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
	commit "$container" "$base"
fi

# The stages that build reach their registries by TLS, with the certificates of this machine.
certificates=/etc/ssl/certs/ca-certificates.crt

if ! there "golang:$go-$suite"; then
	container=$($BUILDAH from "$base")
	$BUILDAH add -q "$container" "$certificates" "$certificates" >/dev/null
	$BUILDAH config --env PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		--env GOTOOLCHAIN=local --env GOPATH=/go "$container"
	commit "$container" "golang:$go-$suite"
fi

if ! wait "$fetching"; then
	cat "$tmp/node.log" >&2
	exit 1
fi
if [ -d "$tmp/local" ]; then
	container=$($BUILDAH from "$base")
	$BUILDAH add -q "$container" "$tmp/local" /usr/local >/dev/null
	$BUILDAH add -q "$container" "$certificates" "$certificates" >/dev/null
	$BUILDAH config --env NODE_EXTRA_CA_CERTS="$certificates" "$container"
	commit "$container" "node:$node-$suite-slim"
fi
