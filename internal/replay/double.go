package replay

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"sync"
)

// A double is where the relays connect to. Its goroutines end with close.
type double struct {
	socket string
	listen net.Listener
	inbox  *inbox
	wg     sync.WaitGroup

	mu    sync.Mutex // guards links
	links []*link
}

// A link is the line to one relay.
type link struct{ net.Conn }

func newDouble(ctx context.Context, dir string, in *inbox) (*double, error) {
	socket := filepath.Join(dir, "s")
	listen, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	d := &double{socket: socket, listen: listen, inbox: in}
	d.wg.Go(d.accept)
	return d, nil
}

func (d *double) accept() {
	for {
		conn, err := d.listen.Accept()
		if err != nil {
			return // it was closed
		}
		l := &link{conn}
		d.mu.Lock()
		d.links = append(d.links, l)
		d.mu.Unlock()
		d.inbox.put(connected{l})
		d.wg.Go(func() { d.read(l) })
	}
}

// read tells the player what the program says.
func (d *double) read(l *link) {
	lines := bufio.NewReaderSize(l, 1<<16)
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			d.inbox.put(hungUp{l})
			return
		}
		var e envelope
		if json.Unmarshal(text, &e) == nil {
			d.inbox.put(heard{l, e})
		}
	}
}

// say writes a line of codex's. A relay that is gone hears nothing.
func (l *link) say(line []byte) {
	_, _ = l.Write(append(append(make([]byte, 0, len(line)+1), line...), '\n'))
}

// end has the relay end like codex did.
func (l *link) end(code int) { l.say(fmt.Appendf(nil, "%c%d", controlMark, code)) }

// close ends all links. The program should be gone.
func (d *double) close() {
	_ = d.listen.Close()
	d.mu.Lock()
	for _, l := range d.links {
		_ = l.Close()
	}
	d.mu.Unlock()
	d.wg.Wait()
}
