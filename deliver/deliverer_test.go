package deliver_test

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
)

func TestMakesWhatIsDueWhenItIs(t *testing.T) {
	in(t, 4, func(p *post, d *deliverer) {
		p.put("a", 0)
		p.put("b", time.Minute)
		p.put("c", 2*time.Hour)
		d.Wake()
		d.Wake()
		pass(3 * time.Hour)
		if !slices.Equal(p.sent, []string{"a", "b", "c"}) || !slices.Equal(p.at, []time.Duration{0, time.Minute, 2 * time.Hour}) {
			t.Errorf("made %v at %v", p.sent, p.at)
		}
	})
}

func TestSoManyAtATime(t *testing.T) {
	for most, took := range map[int]time.Duration{1: 4 * time.Second, 3: 2 * time.Second, 9: time.Second, 0: time.Second} {
		in(t, most, func(p *post, d *deliverer) {
			p.takes = time.Second
			for _, key := range []string{"a", "b", "c", "d"} {
				p.put(key, 0)
			}
			d.Wake()
			pass(time.Minute)
			if p.highest != min(cmp.Or(most, 4), 4) || len(p.at) != 4 || p.at[3]+time.Second != took {
				t.Errorf("with %d: %d at a time, made at %v", most, p.highest, p.at)
			}
			if most == 1 && !slices.IsSorted(p.sent) {
				t.Errorf("made in the order %v", p.sent)
			}
		})
	}
}

// TestRoom: what there is no room for waits until something ends, and holds nothing else up.
func TestRoom(t *testing.T) {
	in(t, 0, func(p *post, d *deliverer) {
		p.takes = time.Second
		p.room = func(key string) bool { return key != "b" || len(p.ended["a"]) > 0 }
		for _, key := range []string{"a", "b", "c"} {
			p.put(key, 0)
		}
		d.Wake()
		pass(time.Minute)
		if !slices.Equal(p.at, []time.Duration{0, 0, time.Second}) || p.sent[2] != "b" {
			t.Errorf("made %v at %v", p.sent, p.at)
		}
		for _, key := range slices.Collect(maps.Keys(p.rows)) {
			if ended := p.ended[key]; len(ended) != 1 || ended[0].State != deliver.Sent {
				t.Errorf("of %s the room was told %v", key, ended)
			}
		}
	})
}

// TestTriesAgain by the curve, or as late as the receiver asks, until it arrives.
func TestTriesAgain(t *testing.T) {
	in(t, 1, func(p *post, d *deliverer) {
		waits := []time.Duration{0, 0, time.Minute, 0, time.Hour}
		p.answer = func(try int) deliver.Outcome {
			if try > len(waits) {
				return deliver.Outcome{Verdict: deliver.Arrived}
			}
			return deliver.Outcome{Verdict: deliver.Again, Err: errNot, Wait: waits[try-1]}
		}
		p.put("a", 0)
		d.Wake()
		pass(time.Hour)
		const s = time.Second
		want := []time.Duration{0, s, 3 * s, 63 * s, 71 * s, 671 * s} // an hour is more than is waited for
		if !slices.Equal(p.at, want) || p.row("a").state != deliver.Sent {
			t.Errorf("tried at %v, and then it was %+v", p.at, p.row("a"))
		}
	})
}

// TestEnds: what is refused ends at once, what may pass after a day, and some tries; what is
// insisted on never does.
func TestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		verdict deliver.Verdict
		age     time.Duration // before the first try
		state   deliver.State
		after   time.Duration // at most
	}{
		"refused":       {deliver.Refused, 0, deliver.Dead, 0},
		"unneeded":      {deliver.Dropped, 0, deliver.Unneeded, 0},
		"for-a-day":     {deliver.Again, 0, deliver.Dead, 24 * time.Hour},
		"not-for-less":  {deliver.Again, 0, deliver.PutOff, 23*time.Hour + 50*time.Minute},
		"some-tries":    {deliver.Again, 48 * time.Hour, deliver.Dead, 256 * time.Second},
		"and-not-fewer": {deliver.Again, 48 * time.Hour, deliver.PutOff, 250 * time.Second},
		"insisted-on":   {deliver.Insist, 48 * time.Hour, deliver.PutOff, 48 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, 1, func(p *post, d *deliverer) {
				p.answer = func(int) deliver.Outcome { return deliver.Outcome{Verdict: c.verdict, Err: errNot} }
				p.set(func() { p.rows["a"] = row{created: time.Now().Add(-c.age)} })
				d.Wake()
				pass(c.after)
				tries := len(p.at)
				if r := p.row("a"); r.state != c.state {
					t.Errorf("after %s and %d tries it is %+v", c.after, tries, r)
				}
				if pass(time.Hour); c.state != deliver.PutOff && len(p.at) != tries {
					t.Error("it is tried when it has ended")
				}
			})
		})
	}
}

// TestJournalThatTakesNothing: what came of a try is noted as soon as that can be, and
// nothing is sent twice meanwhile, or at once where that is asked for.
func TestJournalThatTakesNothing(t *testing.T) {
	in(t, 4, func(p *post, d *deliverer) {
		ill := errors.New("the disk is full")
		p.set(func() { p.ill = ill })
		p.put("a", 0)
		d.Wake()
		pass(time.Minute)
		if err := d.Now(context.Background(), "a", "a"); !errors.Is(err, ill) {
			t.Errorf("it is noted: %v", err)
		}
		p.set(func() { p.ill = nil })
		pass(time.Second)
		if len(p.sent) != 1 || p.row("a").state != deliver.Sent {
			t.Errorf("sent %v, and it is %+v", p.sent, p.row("a"))
		}
	})
}

func TestJournalThatForgets(t *testing.T) {
	in(t, 1, func(p *post, d *deliverer) {
		p.put("a", 0)
		p.answer = func(int) deliver.Outcome {
			delete(p.rows, "a")
			return deliver.Outcome{Verdict: deliver.Arrived}
		}
		d.Wake()
		pass(time.Minute)
		if len(p.sent) != 1 || len(p.ended["a"]) != 1 {
			t.Errorf("sent %v, ended %v", p.sent, p.ended)
		}
	})
}

// TestJournalThatCannotBeRead is asked again each second, for lists and for what is in them.
func TestJournalThatCannotBeRead(t *testing.T) {
	in(t, 1, func(p *post, d *deliverer) {
		p.put("a", 0)
		p.set(func() { p.unread = errNot })
		d.Wake()
		pass(10*time.Second + time.Millisecond)
		p.answer = func(try int) deliver.Outcome {
			if try < 4 {
				return deliver.Outcome{Err: errNot}
			}
			return deliver.Outcome{Verdict: deliver.Arrived}
		}
		p.set(func() { p.unread = nil })
		pass(time.Minute)
		const s = time.Second
		if !slices.Equal(p.at, []time.Duration{11 * s, 12 * s, 13 * s, 14 * s}) || p.row("a").tries != 0 {
			t.Errorf("tried at %v, and then it was %+v", p.at, p.row("a"))
		}
	})
}

// TestNow tries what waits for its time, and waits for a try that is under way.
func TestNow(t *testing.T) {
	in(t, 1, func(p *post, d *deliverer) {
		p.takes = time.Minute
		p.answer = func(int) deliver.Outcome { return deliver.Outcome{Verdict: deliver.Refused, Err: errNot} }
		p.put("a", 0)
		d.Wake()
		synctest.Wait()
		var asking sync.WaitGroup
		asking.Go(func() {
			if err := d.Now(context.Background(), "a", "a"); err != nil {
				t.Error(err)
			}
		})
		short, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := d.Now(short, "a", "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who has no time is told %v", err)
		}
		asking.Wait()
		if !slices.Equal(p.at, []time.Duration{0, time.Minute}) || p.highest != 1 {
			t.Errorf("tried at %v, %d at a time", p.at, p.highest)
		}
	})
}

// TestStopLeavesAMoment for what is under way, and no more; what is cut off is as it was.
func TestStopLeavesAMoment(t *testing.T) {
	for takes, want := range map[time.Duration]deliver.State{time.Second: deliver.Sent, time.Hour: deliver.Untouched} {
		var p *post
		in(t, 1, func(bubble *post, d *deliverer) {
			p = bubble
			p.takes = takes
			p.put("a", 0)
			d.Wake()
			synctest.Wait()
		})
		if r := p.rows["a"]; r.state != want || r.tries != 0 {
			t.Errorf("a delivery of %s is %+v", takes, r)
		}
	}
}

// TestArrivesBehindTheEnd: what has arrived is noted, though the try was cut off.
func TestArrivesBehindTheEnd(t *testing.T) {
	var p *post
	in(t, 1, func(bubble *post, d *deliverer) {
		p = bubble
		p.takes, p.deaf = time.Minute, true
		p.put("a", 0)
		d.Wake()
		synctest.Wait()
	})
	if r := p.rows["a"]; r.state != deliver.Sent {
		t.Errorf("it is %+v", r)
	}
}

func TestCurve(t *testing.T) {
	for failures, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		if got := (deliver.Curve{Longest: 5 * time.Minute}).After(failures, 0); got != want*time.Second {
			t.Errorf("after %d failures %s, want %d s", failures, got, want)
		}
		low, high := want*time.Second*8/10, want*time.Second*12/10
		if got := deliver.Usual().After(failures, 0); got < low || got > high {
			t.Errorf("after %d failures %s, want %d s or about that", failures, got, want)
		}
	}
	exact := deliver.Curve{Longest: time.Minute}
	for asked, want := range map[time.Duration]time.Duration{time.Second: time.Minute, 2 * time.Minute: 2 * time.Minute, time.Hour: deliver.LongestAsked} {
		if got := exact.After(1<<30, asked); got != want {
			t.Errorf("asked for %s: %s, want %s", asked, got, want)
		}
	}
}
