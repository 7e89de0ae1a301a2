#!/bin/sh
# Starts the runtime in a container. Started as root it makes the volumes the agent's, who
# codex and its commands run as, and becomes the runtime's own user; started as anybody else
# it leaves things as they are. It works with what is there: a read-only root, no
# /workspace. Secrets, those of secrets.d included, are the program's business. As the
# command runtime it is for docker exec: the other subcommands, such as doctor, run as the
# same users with the same directories.
set -eu
trap 'exit 143' TERM # as process 1 it would hear nothing
# What is run here, as root or as the runtime's user, is looked for where no command of codex's
# writes. The program has the PATH that it was given.
given=${PATH-}
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
agent=agent
keeper=runtime # who keeps the state and the tokens

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

# systems LIST [names]: whether all the paths of a list are the system's folders, or in them, where the
# agent writes nothing. Names alone, which are looked for there, are no paths. Nothing is run for this.
systems() {
	case ":$1:" in */..* | *//*) return 1 ;; esac
	[ "${2-}" ] || case ":$1:" in *[:\;\ ][:\;\ ]*) return 1 ;; esac # where one is, or nowhere
	of=$IFS IFS=':; ' all=yes
	set -f
	for part in $1; do
		case $part/ in
		/usr/* | /bin/* | /sbin/* | /lib/* | /lib64/* | /opt/*) ;;
		*/?* | /) all= ;;
		*) [ "${2-}" ] || all= ;;
		esac
	done
	set +f
	IFS=$of
	[ "$all" ]
}

# What the loader takes from elsewhere is in every process of root's, and by the next start a command
# of the agent can have put it there. In this one it is already.
for name in LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT; do
	names=names
	[ $name != LD_LIBRARY_PATH ] || names=
	eval "value=\${$name-}"
	if [ "$value" ] && ! systems "$value" $names && [ "$(unset LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT && id -u)" = 0 ]; then
		unset LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT
		say ERROR "libraries would be taken from elsewhere than the system's folders" "$name" "$value" fix "let it name places in /usr, /lib and /opt only, or set it where the agent's commands begin"
		exit 1
	fi
done

# trim VALUE: without blanks and line ends around it, which come from files.
trim() { printf %s "$1" | sed -e 's/^[[:space:]]*//' -e 's/[[:space:]]*$//'; }
# path PATH DEFAULT: the same without dots, and without slashes that say nothing: one at the end has a
# link there followed.
path() {
	named=$(trim "$1")
	realpath -ms -- "${named:-$2}"
}
configs=$(path "${CONFIGS_DIR:-}" /configs)
serves=yes
case "${*:-serve} " in *" -h "* | *" --help "*) serves= ;; "serve "* | "channel " | "channel -"* | "channel run "* | "machine " | "machine -"* | "machine run "*) ;; *) serves= ;; esac

# becomes PROGRAM ARGUMENT...: is the program from here on, which has the PATH that was given.
becomes() {
	program=$(command -v "$1")
	shift
	export PATH="$given"
	exec "$program" "$@"
}

# led PATH: whether a link leads there that is not root's. What it leads to is not given to anybody.
led() {
	part=$1
	while part=$(dirname "$part") && [ "$part" != / ]; do
		if [ -L "$part" ] && [ "$(stat -c %u "$part")" != 0 ]; then return 0; fi
	done
	return 1
}

# own USER DIRECTORY TEST...: gives a user what find's TEST finds. Links are not followed, and
# other file systems not entered. Commands can have left folders in folders without end: those far
# down are the agent's anyway.
own() {
	who=$1 dir=$2
	shift 2
	[ -d "$dir" ] && [ -w "$dir" ] || return 0
	if led "$dir"; then
		say WARN "a link leads to a directory, whose files are left as they are" directory "$dir" fix "put a directory in the place of the link"
		return 0
	fi
	find "$dir" -maxdepth 64 -xdev "$@" -execdir chown -h "$who" '{}' + 2>/dev/null ||
		say WARN "some files could not be given to $who" directory "$dir" fix "look at who owns them, or start the container as user 1000"
}

# alone has find leave out what has another name, too: by that it may be a file that another user
# is to have alone. A command can have made one while there was one user.
alone="( ! -type f -o -links 1 )"

# share makes of a volume what two users need: the state and what the runtime goes by is the
# runtime's alone, the agent reads the secrets that are there for it, and the rest that
# root has brought is the agent's. A file among the secrets that has another name, too, is not
# opened to the agent: by that name it may be a token.
share() {
	state=$(path "${RUNTIME_STATE_DIR:-}" "$configs/.runtime") home=$(path "${CODEX_HOME:-}" "$configs/.codex")
	for dir in "$state" "$home"; do
		[ -d "$dir" ] || (umask 077 && mkdir -p "$dir") 2>/dev/null || true
	done
	own "$keeper:" "$configs" -maxdepth 0 ! -user "$keeper"
	own "$keeper:" "$configs" -mindepth 1 -maxdepth 1 -type f '(' -name config.yaml -o -name '.*' ')' ! -user "$keeper"
	own "$keeper:" "$state" ! -user "$keeper"
	own "$keeper:$agent" "$configs/secrets.d" '(' ! -user "$keeper" -o ! -group "$agent" ')'
	# shellcheck disable=SC2086 # a list of words
	own "$agent:" "$home" ! -user "$agent" $alone
	# The token that the operator has brought, and folders of root's that lead to it.
	token=$(path "${MOLECULE_WORKSPACE_TOKEN_FILE:-}" /) at=
	case $token in "$configs"/*) at=$token ;; *) token= ;; esac
	while [ "$at" ] && [ "$at" != "$configs" ]; do
		own "$keeper:" "${at%/*}" -mindepth 1 -maxdepth 1 -user root ! -type l -name "$(basename "$at" | sed 's/[][*?\\]/\\&/g')"
		at=${at%/*}
	done
	# What the platform brings meanwhile is the runtime's all the same.
	# shellcheck disable=SC2086 # likewise
	own "$agent:" "$configs" -user root $alone ! -path "$configs/config.yaml" ! -path "$configs/.auth_token" ! -path "$configs/.platform_inbound_secret"
	# shellcheck disable=SC2016 # the arguments are those of this shell
	as_keeper sh -c '
		chmod 755 "$1"; chmod 700 "$2"
		for file in "$1/.auth_token" "$1/.platform_inbound_secret" ${4:+"$4"}; do [ ! -f "$file" ] || chmod 600 "$file"; done
		[ ! -d "$1/secrets.d" ] || find "$1/secrets.d" -user "$3" "(" -type d -exec chmod 750 "{}" + -o -type f -links 1 -exec chmod 640 "{}" + ")"
	' - "$configs" "$state" "$keeper" "$token" 2>/dev/null || say WARN "the modes of some files could not be set" directory "$configs"
}

# regain gives the agent the rights of the owner of a directory, which one of its commands can
# have taken: else another would be used from now on.
regain() {
	if [ "$serves" ] && as_agent test -d "$1" && as_agent test -O "$1" && ! { as_agent test -w "$1" && as_agent test -x "$1"; }; then
		as_agent chmod u+rwx "$1" 2>/dev/null && say WARN "the owner's rights to a directory had been taken, and are given back" directory "$1"
	fi
	return 0
}

# lend makes /workspace a place where the agent can work, as WORKSPACE_GIVE has it. It may
# be a directory of the host: what is in it belongs to others, and stays theirs.
lend() {
	give=$(trim "${WORKSPACE_GIVE:-}")
	case ${give:-directory} in
	directory) own "$agent:" /workspace -maxdepth 0 -user root ;;
	all) own "$agent:" /workspace -user root ;;
	nothing) return 0 ;;
	*)
		say WARN "WORKSPACE_GIVE is none of its words, and counts as nothing" WORKSPACE_GIVE "$give" fix "set it to nothing, directory or all"
		return 0
		;;
	esac
	regain /workspace
	# A platform's agent works there, whoever on the host has lent the directory.
	if [ "${WORKSPACE_ID:-}" ] || [ "$give" = all ] && [ -d /workspace ] && ! as_agent test -w /workspace && chmod a+rwx /workspace 2>/dev/null; then
		say INFO "everybody may write into a directory that is not the agent's" directory /workspace
	fi
}

as_agent() { "$@"; }
apart=
if [ "$(id -u)" = 0 ]; then
	groups=$(id -G "$agent" | tr ' ' ',')
	# Tier 4 hands in the host's docker, under whatever group it has there.
	if [ -S /var/run/docker.sock ] && command -v docker >/dev/null; then
		groups=$groups,$(stat -c %g /var/run/docker.sock)
	fi
	# Beside it commands of the agent may run, which read what its processes have: it has
	# nothing of this environment, with every secret of the container, and nothing of the terminal
	# that root may sit at, in whose place they would type.
	as_agent() { env -i PATH="$PATH" setsid -w setpriv --reuid="$agent" --regid="$agent" --groups="$groups" "$@" </dev/null >/dev/null 2>&1; }
	# Of root's rights it has those to become the agent.
	as_keeper() {
		setpriv --reuid="$keeper" --regid="$keeper" --clear-groups \
			--inh-caps=-all,+setuid,+setgid --ambient-caps=-all,+setuid,+setgid "$@"
	}
	if ! as_agent true; then
		say ERROR "the container may not change users" fix "start it as user 1000, or leave it SETUID and SETGID"
		exit 1
	fi
	# One user does where the agent is root in all but name, and where a process of codex's
	# needs the workspace's token. By its numbers, too, the agent is the agent.
	case $(trim "${CODEX_USER-$agent}") in
	"$agent" | "$(id -u "$agent")" | "$(id -u "$agent"):$(id -g "$agent")") two=yes ;;
	'') two= ;;
	*)
		say ERROR "CODEX_USER is not the user whom this image has for codex" CODEX_USER "$CODEX_USER" fix "set it to $agent, or to nothing, which has all be one user's"
		exit 1
		;;
	esac
	if [ "$two" ] && [ "${RUNTIME_TOOLS:-}" != mcp ] && ! command -v sudo >/dev/null && as_keeper true 2>/dev/null; then
		apart=yes
	fi
	if [ "$serves" ]; then
		mkdir -p "$configs" 2>/dev/null || true
		if [ "$apart" ]; then share; else own "$agent:" "$configs" ! -user "$agent"; fi
		lend
	fi
	export HOME=/home/agent USER="$agent" LOGNAME="$agent"
	if [ -z "$apart" ]; then
		becomes setpriv --reuid="$agent" --regid="$agent" --groups="$groups" "$0" "$@"
	fi
	export CODEX_USER="$agent"
fi

# instead NAME NOW OTHER: sets NAME to OTHER, made if need be, if the agent cannot write NOW.
instead() {
	regain "$2"
	if as_agent test -d "$2" && as_agent test -w "$2"; then return 0; fi
	if [ "$apart" ] && [ -L "$3" ]; then # a command may have left it, and root would follow
		say WARN "a directory is a link, and is not used" directory "$3" fix "put a directory in its place"
		return 0
	fi
	if [ -d "$3" ] || mkdir -p "$3" 2>/dev/null; then
		if [ "$apart" ] && [ "$1" = TMPDIR ]; then
			chmod 1777 "$3" && chown -h "$keeper:" "$3" # of both
		elif [ "$apart" ]; then
			chown -h "$agent:" "$3"
		fi
		export "$1=$3"
		[ -z "$serves" ] || say INFO "a directory cannot be written, another is used" directory "$2" "$1" "$3"
	fi
}

# What follows is done once: as root for both users, or as the only one.
if [ "$(id -un 2>/dev/null)" != "$keeper" ]; then
	kept=$(dirname "${RUNTIME_STATE_DIR:-$configs/.runtime}")
	if [ "$serves" ] && [ "$(stat -c %d "$kept" 2>/dev/null)" = "$(stat -c %d /)" ]; then
		say WARN "what is kept goes with the container" directory "$kept" fix "mount a volume there"
	fi
	[ -w "$configs" ] || say WARN "nothing can be kept" directory "$configs" fix "give it to user $(id -u), or start the container as root"
	instead HOME "${HOME:-/}" "$configs/.home"
	instead TMPDIR "${TMPDIR:-/tmp}" "$configs/.tmp"
	[ -n "${RUNTIME_WORKDIR:-}" ] || instead RUNTIME_WORKDIR /workspace "$configs/workspace"
	# The platform makes this by docker exec, which would make it root's. A link there may have
	# been left by a command; the runtime removes it.
	if [ "$serves" ] && [ "${WORKSPACE_ID:-}" ] && [ ! -L "${RUNTIME_WORKDIR:-/workspace}/.molecule" ]; then
		as_agent mkdir -p "${RUNTIME_WORKDIR:-/workspace}/.molecule/chat-uploads" 2>/dev/null || true
	fi
fi
# The agent's git takes what the host has lent for the agent's own. Nobody else's does: what git runs is
# what a repository says, and commands write those. So no git is run here either.
[ -z "$serves" ] || export GIT_CONFIG_SYSTEM="${GIT_CONFIG_SYSTEM:-/etc/gitconfig.agent}"
if [ "$apart" ]; then
	[ -z "$serves" ] || systems "$given" || say WARN "PATH leads elsewhere than to the system's folders, and what root calls by name in this container with it" PATH "$given" fix "call programs by their full paths in a docker exec, if the agent can write there"
	becomes setpriv --reuid="$keeper" --regid="$keeper" --clear-groups \
		--inh-caps=-all,+setuid,+setgid --ambient-caps=-all,+setuid,+setgid "$0" "$@"
fi

# names prints the names of the environment; of values not even their lines.
names() { env -0 | grep -zE '^[A-Za-z_][A-Za-z0-9_]*=' | cut -z -d= -f1 | sort -z | tr '\0' ' '; }
# secrets prints the names of the files that the program reads; Kubernetes mounts links to them.
secrets() { find "$configs/secrets.d" -maxdepth 1 -xtype f -name '[A-Za-z_]*' ! -name '*[!A-Za-z0-9_]*' -printf '%f\n' 2>/dev/null | sort | tr '\n' ' '; }
[ -z "$serves" ] || say INFO "starting" uid "$(id -u)" environment "$(names)" secrets "$(secrets)"

# What serves has tini above it, for what its commands leave behind. It is no more root's
# than the rest: without CAP_KILL root's could not tell the program to stop.
if [ "$serves" ] && command -v tini >/dev/null; then
	becomes tini -s -- "$(command -v molecule-runtime)" "$@"
fi
becomes molecule-runtime "$@"
