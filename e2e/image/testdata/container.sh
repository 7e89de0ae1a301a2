#!/bin/sh
# Is a container, as Docker makes one: run it in new mount, process, host name and
# IPC namespaces.
#   container.sh IMAGE-ROOT SCRATCH TIER USER CONFIGS WORKSPACE ENVIRONMENT-AND-COMMAND...
# What is written outside of the volumes is gone with it. CONFIGS and WORKSPACE of - are
# none, a WORKSPACE that ends in :ro is read-only, and ! takes away the folder of the image.
# DOCKER_SOCKET is a socket of the host's to hand in, and MOUNTS further volumes: a line of /folder-of-the-host:/path each.
set -eu
image=$1 scratch=$2 tier=$3 user=$4 configs=$5 workspace=$6
shift 6

mount --make-rprivate /
mount -t tmpfs -o mode=755 container "$scratch"
mkdir "$scratch/upper" "$scratch/work" "$scratch/root"
root=$scratch/root
mount -t overlay -o "lowerdir=$image,upperdir=$scratch/upper,workdir=$scratch/work" container "$root"
hostname ws-container
printf '127.0.0.1 localhost ws-container machine\n' >"$root/etc/hosts"
printf 'ws-container\n' >"$root/etc/hostname"

mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -t tmpfs -o mode=755,nosuid dev "$root/dev"
for device in null zero full random urandom tty; do
	: >"$root/dev/$device"
	mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777,nosuid,nodev,noexec,size=64m shm "$root/dev/shm"
for link in fd:fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do
	ln -s "/proc/self/${link#*:}" "$root/dev/${link%%:*}"
done
ln -s pts/ptmx "$root/dev/ptmx"

[ "$configs" = - ] || mount --bind "$configs" "$root/configs"
case $workspace in
-) ;;
!) rmdir "$root/workspace" ;;
*) mount --bind "${workspace%:ro}" "$root/workspace" ;;
esac
case $workspace in *:ro) mount -o remount,bind,ro "$root/workspace" ;; esac
printf %s "${MOUNTS:-}" | while IFS=: read -r from to; do
	mkdir "$root$to"
	mount --bind "$from" "$root$to"
done
if [ "${DOCKER_SOCKET:-}" ]; then
	: >"$root/run/docker.sock"
	mount --bind "$DOCKER_SOCKET" "$root/run/docker.sock"
fi
[ "$tier" != 1 ] || mount -t tmpfs -o mode=1777,noexec,nosuid,size=64m tmp "$root/tmp"
[ "$tier" -gt 1 ] || mount -o remount,ro "$root"

# The old root is gone for good, as in a container: in a chroot nobody may make namespaces,
# and codex's sandbox is made of them.
cd "$root"
pivot_root . .
umount -l .
cd /workspace 2>/dev/null || cd /

# The capabilities that Docker leaves a container's root, or those of CAPABILITIES, which
# are without new privileges; another user has none.
may=+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap
if [ "$user" = root ]; then
	exec setpriv --bounding-set="-all,${CAPABILITIES:-$may}" --inh-caps=-all ${CAPABILITIES:+--no-new-privs} env -i "$@"
fi
exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs \
	--reuid="$user" --regid="$user" --clear-groups env -i "$@"
