package executor

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
)

// A customer is a job of the model test: what it has asked of the slots, and what came of it.
type customer struct {
	slot   *slot // nil while it is in the queue
	cancel context.CancelFunc
	taken  chan *slot // what take has returned
	told   int        // how often resume has called granted
	wants  int        // how often resume was called and has found no slot
}

// A shop does with slots what comes into its head.
type shop struct {
	t    *testing.T
	rand *rand.Rand
	s    *slots
	all  []*customer
	over int // slots that are held beyond the limit, but what other agents hold of the user's
	// peers is how many other agents hold.
	peers int
}

// users counts the user's jobs in a state.
func (m *shop) users(in slotState) (n int) {
	for _, j := range m.s.in[in] {
		if !j.peer {
			n++
		}
	}
	return n
}

func (m *shop) step() (did string) {
	c := &customer{}
	if i := m.rand.IntN(len(m.all) + 1); i < len(m.all) {
		c = m.all[i]
	}
	switch {
	case c.taken == nil:
		ctx, cancel := context.WithCancel(context.Background())
		c.cancel, c.taken = cancel, make(chan *slot, 1)
		m.all = append(m.all, c)
		peer := m.rand.IntN(2) == 0
		go func() {
			j, err := m.s.take(ctx, peer)
			if (j == nil) != (err != nil) {
				m.t.Errorf("take: %v, %v", j, err)
			}
			c.taken <- j
		}()
		return "take"
	case c.slot == nil:
		if m.rand.IntN(4) > 0 {
			return ""
		}
		c.cancel()
		return "cancel"
	}
	did = []string{"park", "park", "park", "resume", "resume", "resume", "seize", "regain", "release"}[m.rand.IntN(9)]
	switch did {
	case "park":
		c.slot.park()
	case "resume":
		if c.slot.state == slotReturning { // its turn asks once more, and replaces the first
			c.wants, c.told = 0, 0
		}
		before := c.told
		if got := c.slot.resume(func() { c.told++ }); !got {
			c.wants++
		} else if c.told > before {
			c.told = before
		}
	case "seize":
		if c.slot.seize(); c.slot.state != slotWorking {
			m.t.Errorf("a slot was seized, and it is %s", c.slot.state)
		}
		c.wants, c.told = 0, 0
	case "regain": // for as long as it likes
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- c.slot.regain(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-ended; (err == nil) != (c.slot.state == slotWorking) {
			m.t.Errorf("regain: %v, and it is %s", err, c.slot.state)
		}
		c.wants, c.told = 0, 0
	case "release":
		m.leave(c)
	}
	return did
}

func (m *shop) leave(c *customer) {
	c.slot.release()
	c.slot.release()
	c.cancel()
	m.all = slices.DeleteFunc(m.all, func(other *customer) bool { return other == c })
}

// settle lets those in that have got their slots, and those go that have given up.
func (m *shop) settle() {
	synctest.Wait()
	for _, c := range slices.Clone(m.all) {
		select {
		case c.slot = <-c.taken:
			if c.slot == nil {
				m.all = slices.DeleteFunc(m.all, func(other *customer) bool { return other == c })
			}
		default:
		}
	}
}

// wrong says which promise of the slots is broken, "" if none is.
func (m *shop) wrong(did string) string {
	now := m.s.standing()
	held, queued, away := now.Working+now.Asking, len(m.s.in[slotQueued]), now.Parked+now.Returning
	users := m.users(slotWorking) + m.users(slotAsking)
	peers := held - users
	share := max(1, now.Limit-1)
	over := max(0, users+min(peers, share)-now.Limit)
	defer func() { m.over, m.peers = over, peers }()
	inside := 0
	for _, c := range m.all {
		if c.slot != nil {
			inside++
			if returning := c.slot.state == slotReturning; c.wants > 0 && returning == (c.told > 0) {
				return fmt.Sprintf("a turn that is %s was told of its slot %d times", c.slot.state, c.told)
			}
			if c.slot.state != slotReturning {
				c.wants, c.told = 0, 0
			}
		}
	}
	switch {
	case inside != held+away || len(m.all) != inside+queued:
		return "a job is lost, or there twice"
	case held < now.Limit && m.s.nextLocked() != nil:
		return "a slot is free, and a job waits that may have it"
	case m.users(slotQueued)+m.users(slotReturning) > 0 && (held < now.Limit || now.Limit > 1 && users == 0):
		return "a slot is the user's, and a job of the user's waits"
	case now.Limit > 1 && peers > max(now.Limit-1, m.peers) && did != "seize":
		return "other agents leave none to the user"
	case away > m.s.most:
		return "too many wait without a slot"
	case now.Asking > 0 && away < m.s.most:
		return "a turn that asks holds a slot, and might do without"
	case m.users(slotReturning) > 0 && over == 0 && (m.users(slotAsking) > 0 || now.Asking > 0 && peers <= share):
		return "a turn that was answered waits for one that asks"
	case over > m.over && did != "seize":
		return "a slot was given away that is taken"
	case now.Full.IsZero() != (held < now.Limit):
		return "full is not what it says"
	}
	return ""
}

// TestSlotsKeepTheirPromises in any order of what jobs do.
func TestSlotsKeepTheirPromises(t *testing.T) {
	t.Parallel()
	for range 200 {
		seed := rand.Uint64()
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			m := &shop{t: t, rand: random, s: newSlots(1+random.IntN(4), 1+random.IntN(4), func() {})}
			var all []string
			for range 300 {
				did := m.step()
				m.settle()
				if all = append(all, did); did == "" {
					continue
				}
				if wrong := m.wrong(did); wrong != "" {
					t.Errorf("%s: %+v, seed %d, behind %v", wrong, m.s.standing(), seed, all)
					break
				}
			}
			for len(m.all) > 0 {
				if c := m.all[0]; c.slot != nil {
					m.leave(c)
				} else {
					c.cancel()
				}
				m.settle()
			}
			wantSlots(t, m.s, Slots{Limit: m.s.limit})
		})
	}
}
