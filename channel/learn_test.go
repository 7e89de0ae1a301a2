package channel_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestAnswersOfAnEarlierChannel has the state lost after three answers that were
// acknowledged: what comes then is answered, and nothing before it.
func TestAnswersOfAnEarlierChannel(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d, c := &desk{}, &clerk{}
		r := open(t, first, d, c)
		d.put("", "one")
		d.put("peer", "two")
		d.put("", "three")
		time.Sleep(time.Minute)
		r.stop()
		d.put("", "four")
		told, letters := len(d.told()), len(d.letters())
		c = &clerk{}
		r = open(t, second, d, c)
		defer r.stop()
		d.put("", "five")
		time.Sleep(time.Minute)
		if given := c.texts(); !slices.Equal(given, []string{"four", "five"}) {
			t.Errorf("given: %q", given)
		}
		if told := d.told()[told:]; !slices.Equal(told, []string{"re: four", "re: five"}) || len(d.letters()) != letters {
			t.Errorf("the user was told %q, the peer %d things", told, len(d.letters())-letters)
		}
		if acks := d.acks(); acks[len(acks)-1] != int64(look(d, func() int { return len(d.rows) })) {
			t.Errorf("acknowledged: %v", acks)
		}
	})
}

// TestUnknownAcknowledgements: nothing is answered while it may be known, and all of it
// where it cannot be.
func TestUnknownAcknowledgements(t *testing.T) {
	for name, c := range map[string]struct {
		err   error // of the first three times
		times int
		asked int
		given int
	}{
		"outage":  {unavailable(), 3, 4, 1},
		"broken":  {unavailable(), 1000, 4, 3},
		"unheard": {fmt.Errorf("x: %w", platform.ErrUnsupported), 1, 1, 3},
		"refused": {&platform.Error{Op: "x", Status: 400}, 1, 1, 3},
		"token":   {&platform.Error{Op: "x", Status: 401}, 2, 3, 1},
		"page":    {&platform.Error{Op: "x", Status: 302}, 1000, 4, 3},
		"silent":  {errors.New("no answer"), 1000, 16, 3},
		"tokens":  {&platform.Error{Op: "x", Status: 401}, 1000, 16, 3},
		"odd":     {fmt.Errorf("x: %w", platform.ErrNotUnderstood), 1, 1, 3},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			d := &desk{acked: []int64{2}}
			d.fail = func(op string) error {
				if op != "acknowledged" {
					return nil
				}
				if asked++; asked <= c.times {
					return c.err
				}
				return nil
			}
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				for _, text := range []string{"one", "two", "three"} { // they are there at the start, which asks
					d.put("", text)
				}
				r := open(t, dir, d, &clerk{})
				defer func() { r.stop() }()
				time.Sleep(time.Hour)
				if given := r.clerk.texts(); len(given) != c.given || given[len(given)-1] != "three" {
					t.Errorf("given: %q", given)
				}
				if n := look(d, func() int { return asked }); n != c.asked {
					t.Errorf("asked %d times", n)
				}
			})
		})
	}
}

// TestAcknowledgedBeyondTheInbox: a number above all rows drains what is there at the
// start, and nothing that comes later.
func TestAcknowledgedBeyondTheInbox(t *testing.T) {
	d, c := &desk{acked: []int64{999}}, &clerk{}
	d.put("", "before")
	within(t, d, c, func(t *testing.T, r *room) {
		time.Sleep(time.Minute)
		r.desk.put("", "after")
		time.Sleep(time.Minute)
		if given := c.texts(); !slices.Equal(given, []string{"after"}) {
			t.Errorf("given: %q", given)
		}
	})
}

// TestFileOfAnEarlierChannel is fetched: a message that is not acknowledged may name it.
func TestFileOfAnEarlierChannel(t *testing.T) {
	within(t, &desk{acked: []int64{1}}, &clerk{}, func(t *testing.T, r *room) {
		r.desk.put("", "", func(row *platform.Row) {
			row.Method, row.RequestBody = "chat_upload_receive", []byte(`{"uri":"platform-pending:ws-1/1","name":"a.txt"}`)
		})
		time.Sleep(time.Minute)
		if n := r.clerk.asked.Load(); n != 1 {
			t.Errorf("fetched %d times", n)
		}
	})
}
