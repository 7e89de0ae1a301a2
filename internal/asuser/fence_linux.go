package asuser

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// fenceLimit is what a try of a fence may take.
const fenceLimit = 5 * time.Second

// Fence returns a program with its arguments, and whatever is started through it has no way
// into the processes of its user that are outside: neither to their environment nor to their
// memory. It is for where there is no other user. What it takes of the kernel is not
// everywhere, so it is tried, and an error says why it cannot be had.
//
// The kernel lets a process look into another of its user that has no capability which it
// lacks itself, and stands in no other user namespace. So what has capabilities is started
// with less of them: without those that open every process (CAP_PERFMON and CAP_SYS_ADMIN do
// on newer kernels), and without one that containers have, too. What has none is started in
// a namespace of its own, in which it stays the user that it is and can become no other, and
// all other users' files are nobody's, which ssh takes amiss. So that is done only where it
// must be, and else nothing. Where mounts arrive, it has mounts of its own there, too.
func Fence(ctx context.Context, must func() bool) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, fenceLimit)
	defer cancel()
	if spares() {
		const less = "-sys_ptrace,-sys_admin,-perfmon,-mknod"
		return tried(ctx, "true", "setpriv", "--bounding-set="+less, "--inh-caps="+less, "--")
	}
	if !must() {
		return nil, nil
	}
	args := []string{"--user", "--map-current-user", "--"}
	if mountsArrive() {
		args = slices.Insert(args, 2, "--mount", "--propagation", "private")
	}
	// In it codex makes namespaces for its sandbox, which not every kernel lets it.
	return tried(ctx, "unshare --user --map-root-user --mount -- true", "unshare", args...)
}

// spares reports whether this process can start others with less capabilities than its own,
// and has one of those that are taken from them.
func spares() bool {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has [2]unix.CapUserData
	if err := unix.Capget(&head, &has[0]); err != nil {
		return false
	}
	const taken = 1<<unix.CAP_SYS_PTRACE | 1<<unix.CAP_SYS_ADMIN | 1<<unix.CAP_MKNOD
	return has[0].Effective&(1<<unix.CAP_SETPCAP) != 0 && has[0].Permitted&taken != 0
}

// systems are where a system has its own programs: what PATH names may be a command's.
var systems = []string{"/usr/bin", "/bin", "/run/current-system/sw/bin"} //nolint:gochecknoglobals // never changed

// system finds a program of the system.
func system(name string) (string, error) {
	for _, dir := range systems {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no %s in /usr/bin", name)
}

// tried returns a fence through which a command runs.
func tried(ctx context.Context, command, name string, args ...string) ([]string, error) {
	path, err := system(name)
	if err != nil {
		return nil, fmt.Errorf("%w: install util-linux", err)
	}
	fence := append([]string{path}, args...)
	cmd := exec.CommandContext(ctx, fence[0], slices.Concat(fence[1:], strings.Fields(command))...)
	cmd.Env = []string{"PATH=" + strings.Join(systems, ":")}
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(said))
	}
	return fence, nil
}
