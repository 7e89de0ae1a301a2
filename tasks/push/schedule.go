package push

import (
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// How many posts run at the same time.
const (
	mostPosts    = 8
	mostOfHost   = 2
	mostRepeated = mostPosts / 2
)

// A schedule is what waits to be posted. It is not safe for concurrent use.
type schedule struct {
	lanes     map[laneKey]*lane
	flying    int
	repeating int // of those in flight
	hosts     map[string]int
}

type laneKey struct{ task, setting string }

// A lane is the deliveries of one setting, in their order.
type lane struct {
	laneKey
	host string
	rows []row
	busy bool // the first one is in flight
}

// A row is a delivery without its body.
type row struct {
	id           int64
	tries        int // failed
	due, created time.Time
}

func newSchedule() *schedule {
	return &schedule{lanes: map[laneKey]*lane{}, hosts: map[string]int{}}
}

// add puts a delivery at the end of its lane. host is asked when there is no such lane.
func (s *schedule) add(d store.Delivery, host func() string) {
	key := laneKey{d.Task, d.Target}
	l := s.lanes[key]
	if l == nil {
		l = &lane{laneKey: key, host: host()}
		s.lanes[key] = l
	}
	l.rows = append(l.rows, row{d.ID, d.Tries, d.Due, d.Created})
}

// next returns the lane to post of now, the longest due first, or nil and when
// to look again; the zero time means when something changes.
func (s *schedule) next(now time.Time) (best *lane, later time.Time) {
	if s.flying >= mostPosts {
		return nil, later
	}
	for _, l := range s.lanes {
		if l.busy || s.hosts[l.host] >= mostOfHost || l.rows[0].tries > 0 && s.repeating >= mostRepeated {
			continue
		}
		due := l.rows[0].due
		switch {
		case due.After(now):
			if later.IsZero() || due.Before(later) {
				later = due
			}
		case best == nil || due.Before(best.rows[0].due):
			best = l
		}
	}
	return best, later
}

// launch notes that the first of a lane is posted.
func (s *schedule) launch(l *lane) row {
	l.busy = true
	s.count(l, 1)
	return l.rows[0]
}

// land notes that it has been, and takes it off the schedule unless it is to be
// posted again.
func (s *schedule) land(l *lane, left bool, due time.Time) {
	s.count(l, -1)
	l.busy = false
	if left {
		l.rows[0].tries++
		l.rows[0].due = due
		return
	}
	if l.rows = l.rows[1:]; len(l.rows) == 0 {
		delete(s.lanes, l.laneKey)
	}
}

func (s *schedule) count(l *lane, n int) {
	s.flying += n
	if l.rows[0].tries > 0 {
		s.repeating += n
	}
	if s.hosts[l.host] += n; s.hosts[l.host] == 0 {
		delete(s.hosts, l.host)
	}
}
