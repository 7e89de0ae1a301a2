#!/bin/sh
# Writes an archive of directories of a runtime that serves, to stdout:
#
#   backup.sh STATE_DIR DIRECTORY... >backup.tar.gz
#
# STATE_DIR is RUNTIME_STATE_DIR; the directories are what to keep, STATE_DIR and
# CODEX_HOME among them. Meanwhile the runtime and all that it has started stand still,
# so that what is copied is what a kill at that moment would have left, which is what
# the runtime is made to start from. Callers wait; nothing of theirs is lost.
# It runs where the runtime runs: in a container by docker exec or kubectl exec.
set -eu

fail() {
	echo "backup: $*" >&2
	exit 1
}

[ $# -ge 2 ] || fail "usage: backup.sh STATE_DIR DIRECTORY... >backup.tar.gz"
[ ! -t 1 ] || fail "the archive goes to stdout: send it to a file"
[ -r /proc/locks ] || fail "this system does not tell who holds a lock: stop the runtime, and use tar"
lock=$1/state.lock
shift
[ -f "$lock" ] || fail "there is no $lock: give the runtime's RUNTIME_STATE_DIR"
for dir in "$@"; do
	case $dir in
	/*) [ -d "$dir" ] || fail "there is no directory $dir" ;;
	*) fail "$dir: give an absolute path" ;;
	esac
done

# The lock names its holder, and the kernel says whether that still holds it.
inode=$(ls -i "$lock")
inode=${inode%% *}
named=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' "$lock")
runtime=$(sed -n "s/.* FLOCK .* WRITE \($named\) [^ ]*:$inode .*/\1/p" /proc/locks)
if [ -z "$runtime" ] && ! flock -n "$lock" true; then
	fail "a runtime works on $lock, and cannot be seen from here: run this where it runs, in its container"
fi

parent() {
	sed -n 's/^PPid:[^0-9]*//p' "/proc/$1/status"
}

# Whoever is started by the runtime would stand still with it, for ever.
ancestor=$$
while [ "$ancestor" -gt 1 ]; do
	[ "$ancestor" != "$runtime" ] || fail "this was started by the runtime that it would stop: run it from outside"
	ancestor=$(parent "$ancestor")
done

stopped=
resume() {
	for pid in $stopped; do
		kill -CONT "$pid" 2>/dev/null || :
	done
	stopped=
}
trap resume EXIT
trap 'exit 1' HUP INT TERM PIPE

# still waits until no thread of a process runs any more: half a minute for all of them,
# since the runtime stands still meanwhile.
tries=0
still() {
	while grep -qs '^State:[^a-zA-Z]*[RSDI]' /proc/"$1"/task/*/status; do
		tries=$((tries + 1))
		[ "$tries" -lt 600 ] || fail "process $1 does not stop; nothing was changed"
		sleep 0.05
	done
}

children() {
	grep -ls "^PPid:[^0-9]*$1\$" /proc/[0-9]*/status | tr -dc '0-9\n' || :
}

# stop stops a process before it looks for its children: there will be no more.
stop() {
	stopped="$stopped $1"
	if ! kill -STOP "$1" 2>/dev/null; then
		[ ! -d "/proc/$1" ] || fail "process $1 cannot be stopped: run this as its user"
		return 0
	fi
	still "$1"
	for child in $(children "$1"); do
		stop "$child"
	done
}

if [ -n "$runtime" ]; then
	stop "$runtime"
else
	echo "backup: no runtime works on $lock, so none is stopped" >&2
fi
# Not the directories themselves: a volume's own is not the user's who restores into it,
# nor is what the file system keeps there.
cd /
for dir in "$@"; do
	shift
	for entry in ".$dir"/* ".$dir"/.[!.]* ".$dir"/..?*; do
		if [ "${entry##*/}" != lost+found ] && { [ -e "$entry" ] || [ -L "$entry" ]; }; then
			set -- "$@" "$entry"
		fi
	done
done
# Nor the lock: restored over a runtime that works, it would let another one in beside it.
tar --exclude=".$lock" -czf - "$@"
