package launch

import (
	"log/slog"
	"syscall"
)

// mostFiles is how many open files codex may have: two for each thread that is loaded, and those of
// its connections. A limit without an end has some programs close as many at their start.
const mostFiles = 1 << 16

// raiseOpenFiles has codex, and what it starts, be allowed as many open files as this process has, which
// has no more than that either. Go has raised its own limit, and gives children the one that it was
// started with, 1024 mostly, unless it is set.
func raiseOpenFiles(log *slog.Logger) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	if err == nil {
		limit.Cur = min(limit.Cur, mostFiles)
		err = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	}
	if err != nil {
		log.Warn("codex has no more open files than this was started with", "err", err)
	}
}
