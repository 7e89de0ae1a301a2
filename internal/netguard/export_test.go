package netguard

import "net"

// Local has a guard take other addresses for this machine's.
func (g *Guard) Local(local func() ([]net.Addr, error)) { g.local = local }
