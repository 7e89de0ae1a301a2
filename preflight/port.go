package preflight

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"syscall"
)

// Port checks that addr can be listened on. It is for before the start; a
// runtime that listens finds its own port taken.
func Port(addr string) Check {
	return Check{"port", func(ctx context.Context) Result {
		var config net.ListenConfig
		l, err := config.Listen(ctx, "tcp", addr)
		switch {
		case err == nil:
			_ = l.Close()
			return ok(addr + " is free")
		case errors.Is(err, syscall.EADDRINUSE):
			return fail(addr+" is in use", "stop what listens there (another runtime?), or set RUNTIME_ADDR to another port")
		case errors.Is(err, syscall.EADDRNOTAVAIL):
			return fail(addr+" is not an address of this machine", "set RUNTIME_ADDR to one that is, such as 127.0.0.1:8000")
		case errors.Is(err, fs.ErrPermission):
			return fail(addr+" may not be used by this user", "set RUNTIME_ADDR to a port above 1023")
		}
		return fail(err.Error(), "set RUNTIME_ADDR to an address of this machine and a free port")
	}}
}
