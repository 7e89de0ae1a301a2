#!/bin/sh
# Starts the runtime in a container. Started as root it makes the volumes the agent's and
# becomes the agent; started as anybody else it leaves things as they are. It works with
# what is there: a read-only root, no /workspace. Secrets, those of secrets.d included, are
# the program's business. As the command runtime it is for docker exec: the other
# subcommands, such as doctor, run as the same user with the same directories.
set -eu
trap 'exit 143' TERM # as process 1 it would hear nothing
agent=agent
configs=${CONFIGS_DIR:-/configs}
serves=yes
case "${*:-serve}" in serve | channel) ;; *) serves= ;; esac

say() { # LEVEL MESSAGE [NAME VALUE]...: a line of JSON, like those of the program
	line="{\"time\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\",\"level\":\"$1\",\"msg\":\"$2\""
	shift 2
	while [ $# -gt 1 ]; do
		# Of values the characters that would end the string, or the line, are left out.
		line="$line,\"$1\":\"$(printf %s "$2" | tr -d '\000-\037\042\134\177')\""
		shift 2
	done
	echo "$line}" >&2
}

# own DIRECTORY TEST...: gives the agent what find's TEST finds. Links are not followed, and
# other file systems not entered.
own() {
	dir=$1
	shift
	[ -d "$dir" ] && [ -w "$dir" ] || return 0
	find "$dir" -xdev "$@" -execdir chown -h "$agent:" '{}' + 2>/dev/null ||
		say WARN "some files could not be given to the agent" directory "$dir" fix "look at who owns them, or start the container as user 1000"
}

if [ "$(id -u)" = 0 ]; then
	if [ "$serves" ]; then
		mkdir -p "$configs" 2>/dev/null || true
		own "$configs" ! -user "$agent"
		# Files of other people's are theirs: /workspace may be a directory of the host.
		own /workspace -user root
	fi
	groups=$(id -G "$agent" | tr ' ' ',')
	# Tier 4 hands in the host's docker, under whatever group it has there.
	if [ -S /var/run/docker.sock ] && command -v docker >/dev/null; then
		groups=$groups,$(stat -c %g /var/run/docker.sock)
	fi
	as_agent() { setpriv --reuid="$agent" --regid="$agent" --groups="$groups" "$@"; }
	if ! as_agent true 2>/dev/null; then
		say ERROR "the container may not change users" fix "start it as user 1000, or leave it SETUID and SETGID"
		exit 1
	fi
	# A platform's agent works there, whoever on the host has lent the directory.
	if [ "$serves" ] && [ "${WORKSPACE_ID:-}" ] && [ -d /workspace ] && ! as_agent test -w /workspace && chmod a+rwx /workspace 2>/dev/null; then
		say INFO "everybody may write into a directory that is not the agent's" directory /workspace
	fi
	export HOME=/home/agent USER="$agent" LOGNAME="$agent"
	exec setpriv --reuid="$agent" --regid="$agent" --groups="$groups" "$0" "$@"
fi

# instead NAME NOW OTHER: sets NAME to OTHER, made if need be, if NOW cannot be written.
instead() {
	if [ -d "$2" ] && [ -w "$2" ]; then return 0; fi
	if mkdir -p "$3" 2>/dev/null; then
		export "$1=$3"
		[ -z "$serves" ] || say INFO "a directory cannot be written, another is used" directory "$2" "$1" "$3"
	fi
}

kept=$(dirname "${RUNTIME_STATE_DIR:-$configs/.runtime}")
if [ "$serves" ] && [ "$(stat -c %d "$kept" 2>/dev/null)" = "$(stat -c %d /)" ]; then
	say WARN "what is kept goes with the container" directory "$kept" fix "mount a volume there"
fi
[ -w "$configs" ] || say WARN "nothing can be kept" directory "$configs" fix "give it to user $(id -u), or start the container as root"
instead HOME "${HOME:-/}" "$configs/.home"
instead TMPDIR "${TMPDIR:-/tmp}" "$configs/.tmp"
[ -n "${RUNTIME_WORKDIR:-}" ] || instead RUNTIME_WORKDIR /workspace "$configs/workspace"
# The platform makes this by docker exec, which would make it root's.
if [ "$serves" ] && [ "${WORKSPACE_ID:-}" ]; then
	mkdir -p "${RUNTIME_WORKDIR:-/workspace}/.molecule/chat-uploads" 2>/dev/null || true
fi

# names prints the names of the environment; of values not even their lines.
names() { env -0 | grep -zE '^[A-Za-z_][A-Za-z0-9_]*=' | cut -z -d= -f1 | sort -z | tr '\0' ' '; }
# secrets prints the names of the files that the program reads; Kubernetes mounts links to them.
secrets() { find "$configs/secrets.d" -maxdepth 1 -xtype f -name '[A-Za-z_]*' ! -name '*[!A-Za-z0-9_]*' -printf '%f\n' 2>/dev/null | sort | tr '\n' ' '; }
[ -z "$serves" ] || say INFO "starting" uid "$(id -u)" environment "$(names)" secrets "$(secrets)"

# What serves has tini above it, for what its commands leave behind. It is no more root's
# than the rest: without CAP_KILL root's could not tell the program to stop.
if [ "$serves" ] && command -v tini >/dev/null; then
	exec tini -s -- molecule-runtime "$@"
fi
exec molecule-runtime "$@"
