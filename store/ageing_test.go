package store

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestAged: what ended by another clock, or long before this process, is not too old by that.
func TestAged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		now := time.Now()
		for name, c := range map[string]struct{ newest, want time.Time }{
			"nothing is kept":         {time.Time{}, now},
			"a moment ago":            {now.Add(-time.Hour), now},
			"long ago":                {now.Add(-400 * day), now.Add(-399 * day)},
			"the clock has been back": {now.Add(400 * day), now},
		} {
			if got := ageing(now, c.newest)(); !got.Equal(c.want) {
				t.Errorf("%s: things are as old as at %v, want %v", name, got, c.want)
			}
		}
		aged := ageing(now, now.Add(-400*day))
		time.Sleep(31 * day)
		if got, want := aged(), now.Add(-368*day); !got.Equal(want) {
			t.Errorf("a month later things are as old as at %v, want %v", got, want)
		}
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

// TestUsedByAClockThatIsBehind leaves a conversation as it was last used.
func TestUsedByAClockThatIsBehind(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now})
	use := func() time.Time {
		must(t, s.do(t.Context(), "use", relaxed, func(c *conn) error { return c.useThread("c", "t", "", "", nanos(clock.Now())) }))
		all, err := s.UsedLast(t.Context(), 1)
		must(t, err)
		return all[0].Used
	}
	before := use()
	clock.advance(-40 * 24 * time.Hour)
	if got := use(); !got.Equal(before) {
		t.Errorf("it was used at %v, want %v", got, before)
	}
	clock.advance(-400 * 24 * time.Hour) // the clock was ahead then
	if got := use(); !got.Before(before) {
		t.Errorf("it was used at %v, and this is believed over a year", got)
	}
}
