package preflight

import (
	"bytes"
	"context"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// X32 checks that the kernel takes no x32 system calls. The filter of codex's sandbox goes
// by the plain numbers (seen on 0.169.0): a call with the bit of x32 is none that it denies.
func X32() []Check { return []Check{x32Probe{filters, takesX32}.check()} }

// An x32Probe is how this thread learns of x32.
type x32Probe struct {
	filters func() string // the mode of seccomp as /proc has it, "0" for no filter; empty if not known
	takes   func() bool   // whether a call is taken
}

func (p x32Probe) check() Check {
	return Check{"x32", p.run}
}

// run asks the kernel only where no filter stands before it. A filter may kill for such a
// call, as systemd's for SystemCallArchitectures=native does: of a Go program it kills a
// thread, and the rest of it hangs. That would be so in a process made for the asking,
// too, and each time leave a line in the log of the system that looks like an attack.
func (p x32Probe) run(context.Context) Result {
	runtime.LockOSThread() // whose filter is read is who asks
	defer runtime.UnlockOSThread()
	switch mode := p.filters(); {
	case mode == "":
		return ok("not tried: whether a seccomp filter holds this process is not known")
	case mode != "0":
		return ok("not tried: a seccomp filter holds this process, and may end what tries")
	case !p.takes():
		return ok("the kernel takes no x32 system calls")
	}
	return warn("the kernel takes x32 system calls, which codex's sandbox does not filter: commands in it can connect to unix sockets outside (systemd's, Docker's, an SSH agent's)",
		"boot a kernel without CONFIG_X86_X32_ABI (Debian's: with syscall.x32=n), or run this by the unit in deploy/systemd, whose SystemCallArchitectures=native bars them")
}

// filters reads the mode of this thread.
func filters() string {
	status, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(status) {
		if mode, found := bytes.CutPrefix(line, []byte("Seccomp:")); found {
			return string(bytes.TrimSpace(mode))
		}
	}
	return ""
}

// x32Bit marks the number of a system call as x32's (__X32_SYSCALL_BIT).
const x32Bit = 0x40000000

// takesX32 makes the call that does the least.
func takesX32() bool {
	_, _, errno := unix.RawSyscall(unix.SYS_GETPID|x32Bit, 0, 0, 0)
	return errno == 0
}
