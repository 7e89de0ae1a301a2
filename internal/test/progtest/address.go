package progtest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// Systems take the ports that nobody asks for by number from above these.
const (
	lowPort  = 10000
	highPort = 32000
)

// drawn has the ports that were given to a test of this process.
var drawn sync.Map

// FreeAddr returns an address on loopback that nothing listens on. Whoever listens on any
// port, or connects to somewhere, does not take it before the test does; another process
// that draws from these ports could, by chance.
func FreeAddr(tb testing.TB) string {
	tb.Helper()
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", lowPort+rand.IntN(highPort-lowPort))
		if _, known := drawn.LoadOrStore(addr, true); known {
			continue
		}
		var lc net.ListenConfig
		ln, err := lc.Listen(tb.Context(), "tcp", addr)
		if err != nil {
			continue // somebody is there
		}
		_ = ln.Close()
		return addr
	}
	tb.Fatal("no port is free")
	return ""
}
