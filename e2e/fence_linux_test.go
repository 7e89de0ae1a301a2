package e2e

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// fenced becomes the program, without what lets root look into every process: that is
// how it runs in a container, and as any other user.
func fenced(program string) {
	runtime.LockOSThread() // what is given up is given up by a thread
	for _, right := range []uintptr{unix.CAP_SYS_PTRACE, unix.CAP_PERFMON, unix.CAP_SYS_ADMIN} {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, right, 0, 0, 0); err != nil && os.Getuid() == 0 {
			panic(err)
		}
	}
	panic(syscall.Exec(program, append([]string{program}, os.Args[1:]...), os.Environ()))
}
