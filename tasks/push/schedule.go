package push

import (
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// How many posts run at the same time. One that waits costs little but for its body.
const (
	mostPosts    = 32
	mostRepeated = mostPosts / 2 // of what has failed before, or goes to a host that is slow
	mostLarge    = mostPosts / 8
	large        = 1 << 20 // bytes
)

// A schedule is what waits to be posted. It is not safe for concurrent use.
type schedule struct {
	lanes   map[laneKey]*lane
	senders map[Sender]*queue
	turns   int64 // given so far

	posts, repeated, large *share // in flight
	hosts                  hosts
}

// A queue is what waits of one sender.
type queue struct {
	sender Sender
	lanes  map[*lane]struct{}
	turn   int64 // the number of the last one, or when it came
}

type laneKey struct{ task, setting string }

// A lane is the deliveries of one setting, in their order.
type lane struct {
	laneKey
	queue *queue
	host  string // where the last one went, or the next will
	rows  []row
	held  []*share // by the first one, which is in flight; nil if it is not
	at    place    // that it is in flight to

	flight flight // of the first one; its sender owns it until it has landed
}

// A flight is a post of the first delivery of a lane.
type flight struct {
	row
	host      string // that it was posted to
	treatment treatment
}

// A row is a delivery without its body.
type row struct {
	id           int64
	tries        int // failed
	size         int
	due, created time.Time
}

func newSchedule() *schedule {
	return &schedule{
		lanes: map[laneKey]*lane{}, senders: map[Sender]*queue{},
		posts: newShare(mostPosts), repeated: newShare(mostRepeated), large: newShare(mostLarge), hosts: newHosts(),
	}
}

// add puts a delivery at the end of its lane. A new lane goes to a host.
func (s *schedule) add(d store.Delivery, from Sender, host string) {
	key := laneKey{d.Task, d.Target}
	l := s.lanes[key]
	if l == nil {
		l = &lane{laneKey: key, queue: s.queue(from), host: host}
		s.lanes[key] = l
		l.queue.lanes[l] = struct{}{}
	}
	l.rows = append(l.rows, row{d.ID, d.Tries, d.Size, d.Due, d.Created})
}

// queue is that of a sender. A new one comes behind all who have waited: else a peer under
// ever new names would always be the next.
func (s *schedule) queue(from Sender) *queue {
	q := s.senders[from]
	if q == nil {
		s.turns++
		q = &queue{sender: from, lanes: map[*lane]struct{}{}, turn: s.turns}
		s.senders[from] = q
	}
	return q
}

// next returns the lane to post of now, or nil and when to look again; the zero time
// means when something changes. The senders take turns; of the next one it is the lane
// that is the longest due.
func (s *schedule) next(now time.Time) (best *lane, later time.Time) {
	if s.posts.all >= mostPosts {
		return nil, later
	}
	for _, q := range s.senders {
		if !s.posts.room(q.sender, 1) || best != nil && !s.before(q, best.queue) {
			continue
		}
		l, soon := s.first(q, now)
		if l != nil {
			best = l
		}
		if later.IsZero() || !soon.IsZero() && soon.Before(later) {
			later = soon
		}
	}
	return best, later
}

// before reports whether it is the turn of a, and not of b: the user's comes before those
// of peers, then whose has fewer posts in flight, then whose last turn is longer ago.
func (s *schedule) before(a, b *queue) bool {
	if a.sender.Peer != b.sender.Peer {
		return b.sender.Peer
	}
	if n, m := s.posts.of[a.sender], s.posts.of[b.sender]; n != m {
		return n < m
	}
	return a.turn < b.turn
}

// first returns the lane of a sender that is the longest due of those there is room for,
// or nil and when the next is due.
func (s *schedule) first(q *queue, now time.Time) (best *lane, later time.Time) {
	for l := range q.lanes {
		if l.held != nil {
			continue
		}
		switch due := l.rows[0].due; {
		case due.After(now):
			if later.IsZero() || due.Before(later) {
				later = due
			}
		case best != nil && !due.Before(best.rows[0].due):
		case s.room(l, now):
			best = l
		}
	}
	return best, later
}

// room reports whether the first of a lane may run beside those in flight.
func (s *schedule) room(l *lane, now time.Time) bool {
	if !s.hosts.room(l.place(), now) {
		return false
	}
	for _, share := range s.shares(l, now) {
		if !share.room(l.queue.sender, 1) {
			return false
		}
	}
	return true
}

// shares are those that the first of a lane counts in.
func (s *schedule) shares(l *lane, now time.Time) []*share {
	in := append(make([]*share, 0, 3), s.posts)
	if l.rows[0].tries > 0 || s.hosts.isSlow(l.place(), now) {
		in = append(in, s.repeated)
	}
	if l.rows[0].size > large {
		in = append(in, s.large)
	}
	return in
}

func (l *lane) place() place { return place{l.host, l.queue.sender.Peer} }

// launch notes that the first of a lane is posted.
func (s *schedule) launch(l *lane, now time.Time) {
	s.turns++
	l.queue.turn = s.turns
	l.held, l.at, l.flight = s.shares(l, now), l.place(), flight{row: l.rows[0]}
	s.count(l, 1)
}

// land notes what became of it, and takes it off the schedule unless it is to be posted
// again, which it reports.
func (s *schedule) land(l *lane, to deliver.Settlement, now time.Time) (left bool) {
	s.count(l, -1)
	l.held = nil
	if l.flight.treatment != unknown {
		l.host = l.flight.host
		s.hosts.learn(l.place(), l.flight.treatment, now)
	}
	switch to.State {
	case deliver.PutOff:
		l.rows[0].tries, l.rows[0].due = to.Tries, to.Due
		return true
	case deliver.Untouched:
		l.rows[0].due = now
		return true
	}
	if l.rows = l.rows[1:]; len(l.rows) > 0 {
		return false
	}
	delete(s.lanes, l.laneKey)
	delete(l.queue.lanes, l)
	if len(l.queue.lanes) == 0 {
		delete(s.senders, l.queue.sender)
	}
	return false
}

func (s *schedule) count(l *lane, n int) {
	for _, share := range l.held {
		share.count(l.queue.sender, n)
	}
	s.hosts.count(l.at, n)
}
