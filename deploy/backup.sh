#!/bin/sh
# Writes an archive of directories of a runtime that serves, to stdout:
#
#   backup.sh STATE_DIR DIRECTORY... >backup.tar.gz
#
# STATE_DIR is RUNTIME_STATE_DIR; the directories are what to keep, STATE_DIR and
# CODEX_HOME among them. Meanwhile the runtime and all that it has started stand still,
# so that what is copied is what a kill at that moment would have left, which is what
# the runtime is made to start from. Callers wait; nothing of theirs is lost.
# It runs where the runtime runs: in a container by docker exec or kubectl exec. After
# BACKUP_LIMIT seconds (600) all goes on and it gives up, whatever it waits for, so that
# nothing stands still for longer than that.
set -eu

fail() {
	echo "backup: $*" >&2
	exit 1
}

# plain refuses a path that is not spelled as it stands in the archive.
plain() {
	case $1 in
	*//* | */./* | */../*) fail "$1: give a path without //, /./ and /../" ;;
	esac
}

[ $# -ge 2 ] || fail "usage: backup.sh STATE_DIR DIRECTORY... >backup.tar.gz"
[ ! -t 1 ] || fail "the archive goes to stdout: send it to a file"
tar --version 2>/dev/null | grep -q GNU || fail "this takes GNU tar, which says what it could not read"
[ -r /proc/locks ] || fail "this system does not tell who holds a lock: stop the runtime, and use tar"
limit=${BACKUP_LIMIT:-600}
case $limit in
0* | *[!0-9]*) fail "BACKUP_LIMIT, $limit, is no number of seconds" ;;
esac
lock=${1%/}/state.lock
shift
[ -f "$lock" ] || fail "there is no $lock: give the runtime's RUNTIME_STATE_DIR"
plain "$lock"
holding=$(cd "${lock%/*}" && pwd -P)
inside=
for dir in "$@"; do
	case $dir in
	/*) [ -d "$dir" ] || fail "there is no directory $dir" ;;
	*) fail "$dir: give an absolute path" ;;
	esac
	plain "${dir%/}/"
	here=$(cd "$dir" && pwd -P)
	case $holding/ in
	"${here%/}"/*)
		case $lock in
		"${dir%/}"/*) inside=yes ;; # so that it has one name here, by which it is left out
		*) fail "$dir holds STATE_DIR by another name than that has: name both alike" ;;
		esac
		;;
	esac
	shift
	set -- "$@" ".$dir" # as it is named in the archive
done

[ -n "$inside" ] || fail "STATE_DIR is to be one of the directories, or to lie in one, and be named as that is"

# The lock names its holder, and the kernel says whether that still holds it.
signed=$(cat "$lock")
inode=$(ls -i "$lock")
inode=${inode%% *}
named=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' "$lock")
runtime=
for try in 1 2 3 4 5 6 7 8 9 10; do
	runtime=$(sed -n "s/.* FLOCK .* WRITE \($named\) [^ ]*:$inode .*/\1/p" /proc/locks)
	if [ -n "$runtime" ] || flock -n "$lock" true; then
		break
	fi
	# The list is read piece by piece, and lacks what others that come and go push from one to the next.
	[ "$try" -lt 10 ] || fail "a runtime works on $lock, and cannot be seen from here: run this where it runs, in its container"
	sleep 0.1
done

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
copying=
guard=
resume() {
	[ -z "$copying" ] || kill "$copying" 2>/dev/null || :
	release
	unguard "$guard"
	guard='' stopped=''
}
trap resume EXIT
trap 'exit 1' HUP INT TERM PIPE
trap 'fail "it takes longer than $limit s, for which nothing is to stand still: look for what is large or of many files, or set BACKUP_LIMIT"' ALRM

release() {
	for pid in $stopped; do
		kill -CONT "$pid" 2>/dev/null || :
	done
}

seconds() {
	sed 's/[. ].*//' /proc/uptime
}
end=$(($(seconds) + limit))

# guarded has a process of its own let go on what is stopped when the time is up, since this shell may
# wait then for what does not end, and at once when this shell was killed: later, a number may be
# another process's. It knows what was stopped when it began.
guarded() {
	before=$guard
	(
		trap '' HUP
		trap 'trap - EXIT; exit' USR1
		trap release EXIT # where nothing more can be started, it cannot rest, and ends
		while guards && [ "$(seconds)" -lt "$end" ]; do
			rest
		done
		! guards || kill -ALRM $$ || :
		release
		trap - EXIT
		while guards; do # so that it is this one still that unguard ends
			rest
		done
	) >/dev/null 2>&1 &
	guard=$!
	unguard "$before"
}

# guards tells whether this process is yet a child of the script's, which a guard is until that has ended.
guards() {
	while read -r field value; do
		[ "$field" != PPid: ] || break
	done </proc/self/status
	[ "$value" = $$ ]
}

# rest can be interrupted by a signal, which a program that the shell runs itself cannot.
rest() {
	sleep 1 &
	wait $! || :
}

# unguard waits, so that no guard lets go on what the next backup has stopped. USR1 ends a guard also
# before that has a trap for it, since the script has none.
unguard() {
	[ -n "$1" ] || return 0
	kill -USR1 "$1" 2>/dev/null || :
	wait "$1" 2>/dev/null || :
}

# states are where the system says how the threads of some processes are.
states() {
	for pid in $1; do
		printf '%s\n' "/proc/$pid"/task/*/status
	done
}

# moving are those of some processes that run, or may yet. One that the system does not interrupt
# runs nothing more once it is to stop, which is said of it until others of its process have: one
# that has called vfork waits for its child, which may never end.
moving() {
	states "$1" | xargs grep -s -e '^State:' -e '^S[ih][gd]Pnd:' /dev/null | awk -F ':[ \t]*' '
		{ split($1, path, "/"); pid = path[3] }
		$2 == "State" { state = substr($3, 1, 1) }
		$2 == "SigPnd" { due = $3 }
		$2 != "ShdPnd" { next }
		state ~ /[Tt]/ { stands[pid] }
		state ~ /[RSI]/ { runs[pid] }
		state == "D" && $3 " " due !~ /[4-7c-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]( |$)/ { waits[pid] }
		END {
			for (pid in waits) if (!(pid in stands)) runs[pid]
			for (pid in runs) print pid
		}'
}

# still waits until some processes run no more: half a minute for all of them, since the runtime
# stands still meanwhile.
tries=0
still() {
	while running=$(moving "$1") && [ -n "$running" ]; do
		tries=$((tries + 1))
		[ "$tries" -lt 600 ] || fail "a process does not stop, so nothing was changed: $(named "${running%%[!0-9]*}")"
		sleep 0.05
	done
}

named() {
	echo "$1 $(sed -n 's/^Name:[^a-zA-Z0-9]*//p' "/proc/$1/status" | tr -cd '[:print:]')" # a command chooses it
}

# standing lists what is stopped for awk, which takes no argument of more than 128 KiB.
standing() {
	for pid in $stopped; do
		echo "stopped $pid"
	done
}

# children are those of processes that are stopped which are not stopped.
children() {
	{
		standing
		printf '%s\n' /proc/[0-9]*/status | xargs grep -s '^PPid:' /dev/null
	} | awk -F '[/: \t]+' '
		$1 == "stopped" { stands[$2]; next }
		$NF in stands && !($3 in stands) { print $3 }'
}

# stop stops a process, and then its children: there will be no more. A command may start one
# after the other, each of which ends, for ever: those are let be in the end, since nothing but
# commands has such children.
stop() {
	fresh=$1
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
		stopped="$stopped $fresh"
		guarded
		for pid in $fresh; do
			kill -STOP "$pid" 2>/dev/null || [ ! -d "/proc/$pid" ] || fail "process $(named "$pid") cannot be stopped: run this as its user"
		done
		still "$fresh"
		fresh=$(children)
		[ -n "$fresh" ] || break
	done
	# What writes to a disk is not interrupted, and has soon written.
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		states "$stopped" | xargs grep -qs '^State:[^a-zA-Z]*D' || break
		sleep 0.05
	done
}

# leased is the first process that is stopped and has a lease on a file: others cannot read that,
# and it does not give it back while it stands still.
leased() {
	{
		standing
		cat /proc/locks
	} | awk '
		$1 == "stopped" { stands[$2] }
		$2 == "LEASE" && $5 in stands { print $5; exit }'
}

# alone fails beside another backup: what that one has stopped goes on at its end, while this one
# copies. Two that begin in one moment do not see each other here: stood does. A lock would tell
# them apart, but every user that can open a file can lock it, and keep the operator from every backup.
alone() {
	[ -n "$(moving "$runtime")" ] || fail "the runtime stands still already: wait for the end of another backup, or have it go on (kill -CONT $runtime)"
}

# writers are those that write what is copied: the runtime and its codex, by whatever starts that. The
# user of either can let it go on. Commands can write what they write at any time.
writers() {
	echo "$runtime"
	for pid in $stopped; do
		printf '%s\n' "/proc/$pid/status"
	done | xargs grep -s '^PPid:' /dev/null | awk -F '[/: \t]+' -v runtime="$runtime" '$NF == runtime { print $3 }'
	for pid in $stopped; do
		printf '%s\n' "/proc/$pid/cmdline"
	done | xargs grep -lzxs app-server /dev/null | cut -d/ -f3 || :
}

# switches counts how often the threads of the writers have left a processor, which they do not while
# they stand still, and says how they are.
switches() {
	states "$writing" | xargs grep -s -e '^State:' -e ctxt_switches /dev/null | awk -F '[: \t]+' '
		$2 == "State" { state[$1] = $3; next }
		{ left[$1] = left[$1] "," $NF }
		END { for (thread in state) print thread, state[thread], left[thread] }'
}

# stood tells whether the writers have stood still since their switches were counted: not if one runs
# now, nor if it ran in between and was stopped again, or has ended. One that waited for the disk then
# has stopped since.
stood() {
	[ -z "$(moving "$writing")" ] && {
		echo "$counted"
		echo now
		switches
	} | awk '
		$1 == "now" { now = 1; next }
		!now { was[$1] = $2 == "D" ? "" : $3; next }
		{ is[$1] = $3 }
		END {
			for (thread in was) if (!(thread in is) || was[thread] != "" && was[thread] != is[thread]) exit 1
		}'
}

if [ -n "$runtime" ]; then
	alone
	stop "$runtime"
	writing=$(writers)
	counted=$(switches)
	holder=$(leased)
	[ -z "$holder" ] || fail "process $(named "$holder") has a lease on a file, which keeps that from being read: end it; nothing was changed"
else
	echo "backup: no runtime works on $lock, so none is stopped" >&2
	guarded
fi

# names lists what lies in directories, for tar to read: commands choose the names, and how many
# there are. Not the directories themselves: a volume's own is not the user's who restores into
# it, nor is what the file system keeps there. Where not all can be listed tar is to fail.
names() {
	find -H "$@" -mindepth 1 -maxdepth 1 ! -name lost+found -print0 || printf '%s\0' "./(not all could be listed)"
}

cd /
# Nor the lock: restored over a runtime that works, it would let another one in beside it. What a
# file does not have of the disk it does not have of the archive: a command can make one of any length.
names "$@" | tar --sparse --no-wildcards --exclude=".$lock" --no-unquote --null -T - -czf - &
copying=$!
status=0
wait "$copying" || status=$?
copying=
[ -z "$runtime" ] || stood || fail "something let the runtime go on, or its codex, while it was copied, or ended one of them: what was written is no whole archive"
[ -n "$runtime" ] || [ "$(cat "$lock")" = "$signed" ] || fail "a runtime has begun while it was copied: what was written is no whole archive, make another one"
resume
case $status in
0) ;;
1) echo "backup: files changed while they were read, by commands that have left the runtime's processes; the rest is as it was" >&2 ;;
*) fail "tar failed ($status): what was written is no whole archive" ;;
esac
