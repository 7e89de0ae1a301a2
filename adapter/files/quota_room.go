package files

import (
	"fmt"
	"slices"
	"time"
)

// A leaving file could go when look found it.
type leaving struct {
	name string
	peer bool
	at   time.Time // when the last task ended that names it, or it was written if none is known
}

// fresh is for how long look is believed that no further file of other agents can go, before
// one of the rest does. To look is to read the folder and all records.
const fresh = time.Second

// roomLocked makes room for so many bytes.
func (q *Quota) roomLocked(peer bool, bytes int64) error {
	for looked := false; !q.fitsLocked(peer, bytes); {
		if next := q.nextLocked(peer, bytes, looked); next != nil {
			q.leaveLocked(next)
			continue
		}
		if looked {
			return q.full()
		}
		if err := q.lookLocked(); err != nil {
			return err
		}
		looked = true
	}
	return nil
}

func (q *Quota) full() error {
	most := q.most()
	return fmt.Errorf("%w: %d MiB (RUNTIME_UPLOADS_MIB, or a quarter of the disk), those of other agents %d MiB of them; those of tasks that have not ended stay",
		ErrNoRoom, most>>20, most/peerShare>>20)
}

// fitsLocked reports whether there is room.
func (q *Quota) fitsLocked(peer bool, bytes int64) bool {
	return q.allLocked()+bytes <= q.most() && (!peer || q.inShareLocked(bytes))
}

// allLocked is how many bytes count.
func (q *Quota) allLocked() int64 {
	return q.used.peers + q.used.others + q.writing.peers + q.writing.others
}

// inShareLocked reports whether the share of other agents has room.
func (q *Quota) inShareLocked(bytes int64) bool {
	return q.used.peers+q.writing.peers+bytes <= q.most()/peerShare
}

// nextLocked takes the file off the lists that goes next, nil if there is none. One of the rest goes
// only if no other agent's can go, and for a file of another agent only if it stands in the
// share of theirs.
func (q *Quota) nextLocked(peer bool, bytes int64, looked bool) *leaving {
	none := looked || q.used.peers == 0 || time.Since(q.looked) < q.fresh
	most := q.most()
	lent := q.inShareLocked(bytes) && q.used.others+q.writing.others > most-most/peerShare
	for _, of := range []bool{true, false} {
		if list := q.leaving[of]; len(list) > 0 && (of || none && (!peer || lent)) {
			q.leaving[of] = list[1:]
			return list[0]
		}
	}
	return nil
}

// leaveLocked lets a file go, unless something has named it since look found it.
func (q *Quota) leaveLocked(one *leaving) {
	e := q.entries[one.name]
	if e == nil || e.holds > 0 || e.peer != one.peer {
		return
	}
	known, err := q.records.One(one.name)
	if err == nil && (known.Open || known.Ended.After(one.at)) {
		return
	}
	if err == nil {
		err = q.removeLocked(one.name)
	}
	if err != nil {
		q.log.Warn("a file of a message could not be removed to make room", "name", one.name, "err", err)
	}
}

// lookLocked finds the files that can go.
func (q *Quota) lookLocked() error {
	known, _, err := q.countLocked() // others may have tidied up
	if err != nil {
		return err
	}
	q.leaving, q.looked = map[bool][]*leaving{}, time.Now()
	for name, e := range q.entries {
		record := known[name]
		if e.holds > 0 || record.Open {
			continue
		}
		one := &leaving{name, e.peer, e.at}
		if !record.Ended.IsZero() {
			one.at = record.Ended
		}
		q.leaving[e.peer] = append(q.leaving[e.peer], one)
	}
	for _, list := range q.leaving {
		slices.SortFunc(list, func(a, b *leaving) int { return a.at.Compare(b.at) })
	}
	return nil
}
