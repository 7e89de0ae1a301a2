package linktest

import "time"

// state is what changes of an [Upstream]; [Upstream.update] is the one door to it.
type state struct {
	conns    map[*conn]struct{}
	refusing bool
	closed   bool
	flowing  chan struct{} // closed, unless all is stalled
	free     time.Time     // when the last byte has left that the uplink has to carry
	opened   int
	up, down int64
}

func newState() state {
	flowing := make(chan struct{})
	close(flowing)
	return state{conns: map[*conn]struct{}{}, flowing: flowing}
}

func (u *Upstream) update(change func(*state)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	change(&u.state)
}

// admit takes a connection, unless none is to be taken.
func (u *Upstream) admit(c *conn) (admitted bool) {
	u.update(func(s *state) {
		if admitted = !s.refusing && !s.closed; admitted {
			s.conns[c] = struct{}{}
			s.opened++
		}
	})
	return admitted
}

func (u *Upstream) forget(c *conn) {
	u.update(func(s *state) { delete(s.conns, c) })
}

// sentUp counts n bytes of a client, and says when they are at the endpoint.
func (u *Upstream) sentUp(n int, leave time.Time) (due time.Time) {
	u.update(func(s *state) {
		s.up += int64(n)
		if u.link.Uplink > 0 {
			if s.free.After(leave) {
				leave = s.free
			}
			leave = leave.Add(time.Duration(n) * time.Second / time.Duration(u.link.Uplink))
			s.free = leave
		}
	})
	return leave.Add(u.link.RoundTrip / 2)
}

// sentDown counts n bytes of the endpoint, and says when they are at the client.
func (u *Upstream) sentDown(n int) (due time.Time) {
	u.update(func(s *state) { s.down += int64(n) })
	return time.Now().Add(u.link.RoundTrip / 2)
}

func (u *Upstream) flow() (flowing <-chan struct{}) {
	u.update(func(s *state) { flowing = s.flowing })
	return flowing
}

// Traffic returns what has gone over the link so far.
func (u *Upstream) Traffic() (sum Traffic) {
	u.update(func(s *state) {
		sum = Traffic{Connections: s.opened, Open: len(s.conns), Up: s.up, Down: s.down}
	})
	return sum
}

// Refuse says whether connections that are opened from now on are reset before their first byte.
func (u *Upstream) Refuse(refuse bool) {
	u.update(func(s *state) { s.refusing = refuse })
}

// Stall says whether everything that is under way stays where it is. What has been sent
// meanwhile arrives when the link goes on.
func (u *Upstream) Stall(stall bool) {
	u.update(func(s *state) {
		select {
		case <-s.flowing:
			if stall {
				s.flowing = make(chan struct{})
			}
		default:
			if !stall {
				close(s.flowing)
			}
		}
	})
}

// Cut ends all connections at once, on both sides: what is under way is lost. It returns
// their number.
func (u *Upstream) Cut(how Ending) (cut int) {
	var all []*conn
	u.update(func(s *state) {
		for c := range s.conns {
			all = append(all, c)
		}
	})
	for _, c := range all {
		c.cut(how)
	}
	return len(all)
}
