package store

import (
	"testing"
	"testing/synctest"
	"time"
)

const day = 24 * time.Hour

// TestAged: what a clock is set to has nothing grow old.
func TestAged(t *testing.T) {
	right := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		clock        func(days int) time.Duration // how wrong it is
		behind, most time.Duration                // of what is right, after 40 days; and at any time
	}{
		"right":               {func(int) time.Duration { return 0 }, 0, 0},
		"ahead for a while":   {func(days int) time.Duration { return map[bool]time.Duration{days == 3: 400 * day}[true] }, -2 * time.Hour, 0},
		"behind at first":     {func(days int) time.Duration { return map[bool]time.Duration{days < 1: -20 * day}[true] }, 0, 20 * day},
		"far behind at first": {func(days int) time.Duration { return map[bool]time.Duration{days < 1: -20_000 * day}[true] }, 62 * day, 20_000 * day},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgeing(right.Add(c.clock(0)), age{wall: right, at: right})
			most := time.Duration(0)
			for hours := range 40 * 24 {
				now := right.Add(time.Duration(hours+1) * time.Hour)
				a.step(now.Add(c.clock(hours/24)), time.Hour)
				most = max(most, now.Sub(a.at))
			}
			if got := right.Add(40 * day).Sub(a.at); got > c.behind+day || most > c.most+day || got < -25*time.Hour {
				t.Errorf("in the end it is %v behind, and was by %v", got, most)
			}
		})
	}
}

// TestAgedOverRestarts: however often a process starts by a clock that is far ahead, a day counts; and one
// that is started each day grows old.
func TestAgedOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		right := time.Now()
		noted := age{wall: right, at: right}
		for range 100 {
			now := time.Now().Add(400 * day)
			noted = newAgeing(now, noted).note(now)
			time.Sleep(time.Minute)
		}
		if old := noted.at.Sub(right); old > 26*time.Hour {
			t.Errorf("after a hundred starts it is %v older", old)
		}
		began := time.Now().Round(0)
		noted = age{wall: began, at: began}
		inTurn := func(days int) {
			for range days {
				a := newAgeing(time.Now(), noted)
				time.Sleep(23 * time.Hour)
				noted = a.note(time.Now())
				time.Sleep(time.Hour)
			}
		}
		inTurn(40)
		if old := noted.at.Sub(began); old < 39*day {
			t.Errorf("after forty days it is %v older", old)
		}
		noted = newAgeing(time.Unix(100, 0), noted).note(time.Unix(100, 0)) // a board that has no clock yet
		inTurn(40)
		if late := time.Since(noted.at); late > 70*day {
			t.Errorf("forty days after one start without a clock it is %v behind", late)
		}
	})
}

// TestAgedWhileAsleep: the time in which a machine sleeps counts.
func TestAgedWhileAsleep(t *testing.T) {
	if sinceBoot() == 0 {
		t.Skip("this system does not tell how long it has slept")
	}
	now := time.Now()
	a := newAgeing(now, age{wall: now, at: now.Add(-10 * day)})
	before := a.at
	a.awake -= 16 * time.Hour // as if so much had passed since
	if got := a.now().Sub(before); got < 16*time.Hour || got > 33*time.Hour {
		t.Errorf("after sixteen hours of sleep it is %v older", got)
	}
}

// TestFirstStartWithAClockThatIsAhead: what an earlier version has kept grows old from when it was used.
func TestFirstStartWithAClockThatIsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{Dir: t.TempDir()}
		s, err := Open(t.Context(), cfg)
		must(t, err)
		run(t, s, 0)
		must(t, s.do(t.Context(), "forget the age", relaxed, func(c *conn) error {
			s.ageing = nil
			_, err := c.exec("DELETE FROM ageing")
			return err
		}))
		must(t, s.Close())
		time.Sleep(40 * day)
		s, err = Open(t.Context(), cfg)
		must(t, err)
		must(t, s.Sweep(t.Context()))
		equal(t, rows(t, s, "tasks"), map[string]int64{"tasks": 1})
		must(t, s.Close())
	})
}

// TestStartWithAClockThatIsAhead keeps what is kept, until so much time has passed.
func TestStartWithAClockThatIsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		cfg := Config{Dir: dir, Retention: Retention{Age: 36 * time.Hour}}
		s, err := Open(t.Context(), cfg)
		must(t, err)
		run(t, s, 0)
		must(t, s.Close())
		time.Sleep(40 * time.Hour)
		s, err = Open(t.Context(), cfg)
		must(t, err)
		defer s.Close()
		must(t, s.Sweep(t.Context()))
		equal(t, rows(t, s, "tasks"), map[string]int64{"tasks": 1})
		time.Sleep(13 * time.Hour)
		must(t, s.Sweep(t.Context()))
		equal(t, rows(t, s, "tasks"), map[string]int64{"tasks": 0})
	})
}

// TestUsedByAClockThatWasAhead: when a conversation was used last is what the clock has said last.
func TestUsedByAClockThatWasAhead(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now})
	use := func() {
		must(t, s.do(t.Context(), "use", relaxed, func(c *conn) error { return c.useThread("c", "t", "", "", nanos(clock.Now())) }))
	}
	clock.advance(60 * day)
	use()
	clock.advance(-60 * day)
	use()
	clock.advance(2 * time.Hour)
	idle, err := s.IdleConversations(t.Context(), clock.Now(), 10)
	must(t, err)
	equal(t, idle, []UsedConversation{{"c", "t", clock.Now().Add(-2 * time.Hour).UTC()}})
	must(t, s.ForgetConversation(t.Context(), "c", idle[0].Used))
	clock.advance(60 * day)
	use()
	clock.advance(-60 * day)
	must(t, s.ForgetConversation(t.Context(), "c", time.Time{}))
}
