package appserver

import (
	"bytes"
	"errors"
	"io"
)

// read reads the child's stdout to its end. It never waits for anybody.
func (c *Client) read() {
	lines := newLineReader(c.proc.stdout, c.cfg.MaxLine)
	names := newMethods()
	for {
		line, err := lines.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				c.log.Warn("reading from codex failed", "err", err)
			}
			return
		}
		if line.tooLong {
			c.wire.Dropped(line.size)
			c.lost(line)
			continue
		}
		c.wire.Received(line.text)
		c.route(line, names)
	}
}

// route sends one line where it belongs.
func (c *Client) route(line rawLine, names methods) {
	e, ok := scanEnvelope(line.text)
	switch {
	case !ok:
		c.noise(line.text)
	case e.method != nil && e.id != nil:
		c.ask(e)
	case e.method != nil:
		c.tell(e, line.owned, names)
	case e.id != nil && (e.result != nil || e.err != nil):
		c.settle(e)
	default:
		c.noise(line.text)
	}
}

// noise skips a line that is no message: launchers and shells print on the
// child's stdout too. It is told by its length, as it may hold anything.
func (c *Client) noise(text []byte) {
	if len(bytes.TrimSpace(text)) == 0 {
		return
	}
	c.stats.noise.Add(1)
	c.log.Debug("a line of codex was no message", "bytes", len(text))
}

// tell routes a notification.
func (c *Client) tell(e envelope, owned bool, names methods) {
	n := Notification{Method: names.name(e.method), Params: e.params}
	if e.threadID == nil && n.Method == "thread/started" {
		e.threadID = scanPath(e.params, "thread", "id")
	}
	if !owned {
		n.Params = bytes.Clone(e.params)
	}
	var q *queue
	if e.threadID != nil {
		if q = c.router.find(e.threadID); q != nil {
			n.ThreadID = q.threadID
		} else {
			n.ThreadID = string(e.threadID)
		}
	}
	if q != nil && n.Method == NoteTurnStarted {
		c.cfg.OnTurn(n)
	}
	c.router.deliver(q, n)
}

// lost tells the owner of a line that was too long to be read.
func (c *Client) lost(line rawLine) {
	c.stats.long.Add(1)
	e := line.owner()
	c.log.Warn("a line of codex was too long and has been dropped", "bytes", line.size, "method", string(e.method), "thread_id", string(e.threadID))
	switch {
	case e.method != nil && e.id != nil:
		c.refuse(e.id, CodeInternal, "the request was too long to be read")
	case e.method == nil && e.id != nil:
		c.settleLost(e.id, line.size)
	default:
		note := OverflowNote{Method: string(e.method), Bytes: line.size}
		if e.threadID == nil {
			c.router.deliverAll(note) // whosever it was, that one must look
			return
		}
		c.router.deliver(c.router.find(e.threadID), overflow(string(e.threadID), note))
	}
}

// settleLost fails the call whose answer was too long.
func (c *Client) settleLost(rawID []byte, size int64) {
	id, _ := parseID(rawID)
	p := c.calls.take(id)
	if p == nil {
		c.stats.late.Add(1)
		return
	}
	p.err = &TooLongError{Bytes: size}
	c.stream.put(madeUpAnswer(id, "too long"))
}
