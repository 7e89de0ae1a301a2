package appserver_test

import (
	"fmt"
	"strings"
	"sync"
)

// A wireText is a wire as a text.
type wireText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (w *wireText) add(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(&w.b, format+"\n", args...)
}

func (w *wireText) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

func (w *wireText) Started(pid int)      { w.add("started %d", pid) }
func (w *wireText) Sent(line []byte)     { w.add("-> %s", line) }
func (w *wireText) Received(line []byte) { w.add("<- %s", line) }
func (w *wireText) Dropped(size int64)   { w.add("dropped %d", size) }
func (w *wireText) Ended(end any)        { w.add("ended %+v", end) }
