package toolset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"sync"
	"time"
)

// given remembers what was delegated lately, for a minute.
type given struct {
	mu   sync.Mutex
	keys map[[sha256.Size]byte]dated
}

type dated struct {
	key string
	at  time.Time
}

// key is what the platform knows a delegation by. The minute of the clock is part of it,
// so that a process that has been restarted gives the same one; and within this process
// a minute is sixty seconds, also where the clock's begins anew in between.
func (g *given) key(what string, now time.Time) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	maps.DeleteFunc(g.keys, func(_ [sha256.Size]byte, d dated) bool { return now.Sub(d.at) >= time.Minute })
	id := sha256.Sum256([]byte(what))
	if d, ok := g.keys[id]; ok {
		return d.key
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d", what, now.Unix()/60))
	if g.keys == nil {
		g.keys = map[[sha256.Size]byte]dated{}
	}
	d := dated{hex.EncodeToString(sum[:])[:32], now}
	g.keys[id] = d
	return d.key
}
