package store

import (
	"fmt"
	"os"
	"time"
)

// What the writer does when nobody waits for it: it moves the log into the
// database and forgets what is too old, each in short steps.
const (
	quiet      = 250 * time.Millisecond // without a commit, before a look at the log
	quietShort = 2 * time.Millisecond   // the same, when manyCommits wait for it
	quietMost  = time.Second            // from a commit to a look, quiet or not
	sweepEvery = time.Minute
	sweepPause = time.Millisecond      // between two steps of a sweep
	sweepShare = 4 * time.Millisecond  // the same, when there were commits between the two before
	sweepLate  = 10 * time.Millisecond // a step waits for a quiet moment, at most

	manyCommits = 16

	// Pages in the log at which it is moved into the database: at a look, and
	// whoever waits. A thousand take about 10 ms.
	restPages  = 256
	forcePages = 16 << 20 / pageSize

	// Of a new database. What a commit costs is mostly its pages, a dozen of
	// which are touched by accepting a message.
	pageSize = 2048
)

// upkeep says when the writer does what. A look at the log waits for a pause, so
// that it does not stand in the way of a turn; but not for ever, as there may be none.
type upkeep struct {
	look    time.Time // at the log; zero means that there was no commit since the last
	most    time.Time // the latest look may be
	commits int       // since the last look
	sweep   time.Time // the next step of retention
	swept   bool      // retention has done something that is not in the database file yet
	seen    int       // Store.commits at the last step of retention
	warned  bool      // that the log cannot be moved
	unheld  bool      // it was said that the disk keeps no room
}

// changed notes a commit, and reports whether a look comes sooner than whoever waits
// for it knows: there was none set, or it was one for few commits.
func (u *upkeep) changed() (sooner bool) {
	now := time.Now()
	first := u.look.IsZero()
	if first {
		u.most, u.commits = now.Add(quietMost), 0
	}
	u.commits++
	u.look = now.Add(quiet)
	if u.commits >= manyCommits {
		u.look = now.Add(quietShort)
	}
	if u.most.Before(u.look) {
		u.look = u.most
	}
	return first || u.commits == manyCommits
}

// next is when there is something to do.
func (u *upkeep) next() time.Time {
	if !u.look.IsZero() && u.look.Before(u.sweep) {
		return u.look
	}
	return u.sweep
}

// rest waits for an operation, and does a step of upkeep when it is time.
func (s *Store) rest(next time.Time) {
	timer := time.NewTimer(time.Until(next))
	defer timer.Stop()
	select {
	case <-s.queue.wake:
	case <-timer.C:
		s.turn.Lock()
		defer s.turn.Unlock()
		s.step(time.Now())
	}
}

// step does one thing that takes a few milliseconds at most.
func (s *Store) step(now time.Time) {
	if look := s.upkeep.look; !look.IsZero() && !now.Before(look) {
		s.upkeep.look = time.Time{}
		s.checkpoint(restPages)
		return
	}
	if now.Before(s.upkeep.sweep) { // a commit has put the look off
		return
	}
	s.forgetSome(now)
}

// catchUp does a step of retention for which a load without a quiet moment leaves no time.
func (s *Store) catchUp() {
	if now := time.Now(); now.Sub(s.upkeep.sweep) >= sweepLate {
		s.forgetSome(now)
	}
}

// forgetSome does a step of retention, and says when the next is to be.
func (s *Store) forgetSome(now time.Time) {
	more, err := s.conn.readCatalog()
	if err == nil && !more {
		more, err = s.sweepOnce()
	}
	if err != nil {
		s.logger.Warn("cannot forget old tasks, will try again", "path", s.path, "err", explain(s.path, err))
	}
	s.upkeep.sweep = now.Add(sweepEvery)
	if !more && s.upkeep.swept {
		s.checkpoint(1) // the file gets shorter with it
	}
	if !more {
		s.holdRoom()
	}
	s.upkeep.swept = more
	if more {
		s.upkeep.sweep = time.Now().Add(sweepPause)
		if s.upkeep.seen != s.commits {
			s.upkeep.sweep = time.Now().Add(sweepShare)
		}
		s.upkeep.seen = s.commits
		s.upkeep.changed()
		s.relieve()
	}
}

// keepAge notes how old what is kept has grown, where that is due.
func (s *Store) keepAge() {
	if s.ageing == nil {
		return
	}
	if now := time.Now(); s.ageing.isDue(now) {
		if err := s.conn.keepAge(s.ageing.note(now)); err != nil {
			s.logger.Debug("how old what is kept has grown could not be written down", "err", err)
		}
	}
}

// sweepOnce does a step of retention in a transaction of its own.
func (s *Store) sweepOnce() (more bool, err error) {
	s.keepAge()
	_ = s.Replaced() // where no message asks, the log is put aside all the same
	now, aged := s.now(), s.aged()
	outcomes, err := s.transact([]*operation{{level: relaxed, run: func(c *conn) (err error) {
		more, err = c.sweep(s.retention, now, aged)
		return err
	}}})
	if err != nil {
		return false, err
	}
	return more, outcomes[0]
}

// relieve keeps the log bounded under a load that leaves no time for a look. To ask
// for its size costs as much as a small statement: after few commits it is not asked.
func (s *Store) relieve() {
	if s.upkeep.commits < manyCommits {
		return
	}
	if info, err := os.Stat(s.path + "-wal"); err == nil && info.Size() >= forcePages*pageSize {
		s.checkpoint(forcePages)
	}
}

// checkpoint moves the log into the database if it has at least so many pages
// that are not there yet.
func (s *Store) checkpoint(least int) {
	var busy, logged, moved int
	err := s.conn.get("PRAGMA wal_checkpoint(NOOP)", nil, &busy, &logged, &moved)
	if err == nil && logged-moved >= least {
		err = s.conn.get("PRAGMA wal_checkpoint(PASSIVE)", nil, &busy, &logged, &moved)
	}
	if err != nil && !s.upkeep.warned {
		s.logger.Warn("cannot move the log into the database, it will grow", "path", s.path, "err", explain(s.path, err))
	}
	s.upkeep.warned = err != nil
}

// holdRoom has room on the disk for what runs, if there is more than is left free for that. Some
// file systems have no such thing; there only what is left free is, which anybody can take.
func (s *Store) holdRoom() {
	if s.disk.room(ballastSize) != nil {
		return
	}
	err := s.ballast.hold()
	if err != nil && !s.upkeep.unheld {
		s.logger.Info("the disk keeps no room for the state database: if it gets full, what ends then may run again after a kill", "path", s.path, "err", err)
	}
	s.upkeep.unheld = err != nil
}

// finish ends the connection with everything in the database file.
func (s *Store) finish() error {
	defer s.ballast.release()
	if s.ageing != nil { // what is not noted is made good by the next process, by a day at most
		_ = s.conn.keepAge(s.ageing.note(time.Now()))
	}
	if err := s.conn.script("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		_ = s.conn.close()
		return fmt.Errorf("close the store: %w", explain(s.path, err))
	}
	if err := s.conn.close(); err != nil {
		return fmt.Errorf("close the store: %w", explain(s.path, err))
	}
	return nil
}
