package requests_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/requests"
)

const s = time.Second

// TestDecisions of a list are brought to their questions, once.
func TestDecisions(t *testing.T) {
	in(t, func(r *room) {
		r.ask("q1")
		r.ask("q2")
		r.decided("id-2", requests.Denied)
		r.pass(2 * s)
		r.decided("id-1", requests.Approved)
		r.pass(2 * s)
		if want := []string{"q2 request-id-2 false", "q1 request-id-1 true"}; !slices.Equal(r.given, want) {
			t.Errorf("given are %q", r.given)
		}
		looks := len(r.looks)
		if r.pass(time.Hour); len(r.left()) != 0 || len(r.closed) != 0 || len(r.looks) != looks {
			t.Errorf("left are %q, closed %q, %d looks", r.left(), r.closed, len(r.looks)-looks)
		}
	})
}

// TestLooksAtItsPace: often while people are there, and not when nothing is open.
func TestLooksAtItsPace(t *testing.T) {
	in(t, func(r *room) {
		if r.pass(time.Hour); len(r.looks) != 0 {
			t.Errorf("with nothing to look for there were %d looks", len(r.looks))
		}
		if r.ask("q"); len(r.puts) != 1 || len(r.looks) != 0 {
			t.Errorf("what is new was put up %d times, behind %d looks", len(r.puts), len(r.looks))
		}
		for _, c := range []struct {
			pass        time.Duration
			least, most int
		}{{2 * time.Minute, 58, 62}, {8 * time.Minute, 90, 98}, {time.Hour, 230, 245}} {
			before := len(r.looks)
			if r.pass(c.pass); len(r.looks)-before < c.least || len(r.looks)-before > c.most {
				t.Errorf("in %s there were %d looks", c.pass, len(r.looks)-before)
			}
		}
	})
}

// TestLapsedIsNobodysDecision: it is put up again while the question is open, and not without an end.
func TestLapsedIsNobodysDecision(t *testing.T) {
	in(t, func(r *room) {
		r.ask("q")
		for range 20 {
			r.decided(r.listed[len(r.listed)-1].ID, requests.Lapsed)
			r.pass(time.Minute)
		}
		if len(r.puts) != 12 || len(r.given) != 0 {
			t.Errorf("put up %d times, given %q", len(r.puts), r.given)
		}
		r.set(func() { clear(r.asked) })
		if r.pass(time.Minute); len(r.left()) != 0 || len(r.closed) != 0 {
			t.Errorf("left are %q, closed %q", r.left(), r.closed)
		}
	})
}

// TestSettledOtherwise: the buttons go where there is a way, and else what comes of them is known.
func TestSettledOtherwise(t *testing.T) {
	for _, sends := range []bool{false, true} {
		in(t, func(r *room) {
			r.sends = sends
			r.ask("q1")
			r.ask("q2")
			r.set(func() { delete(r.asked, "q1") })
			r.pass(16 * s)
			want := []string{"approvals/id-2"}
			if sends {
				want = []string{"requests/id-2"}
			}
			if !slices.Equal(r.left(), want) || slices.Equal(r.closed, []string{"id-1"}) == sends || r.rows[1].dead != sends {
				t.Errorf("left are %q, closed %q", r.left(), r.closed)
			}
			if sends && len(r.looks) != 0 {
				t.Errorf("there were %d looks at a list that is not kept", len(r.looks))
			}
		})
	}
}

// TestLostAnswer: what may have been put up is looked for; where no list is kept it is put up again.
func TestLostAnswer(t *testing.T) {
	for sends, puts := range map[bool]int{false: 1, true: 2} {
		in(t, func(r *room) {
			r.sends, r.lost = sends, 1
			r.ask("q")
			r.pass(10 * s)
			if len(r.puts) != puts || len(r.left()) != 1 || r.left()[0] == "" {
				t.Errorf("put up %d times, left are %q", len(r.puts), r.left())
			}
		})
	}
}

// TestNextProcess goes on where the one before was ended, wherever that was.
func TestNextProcess(t *testing.T) {
	for name, c := range map[string]struct {
		before func(r *room) // the end
		puts   int
		given  []string
		closed []string
	}{
		"before-the-request": {func(r *room) { r.set(func() { r.puts, r.listed = nil, nil; r.rows[1].Target = "" }) }, 1, []string{"q request-id-1 true"}, nil},
		"before-its-note":    {func(r *room) { r.set(func() { r.rows[1].Target = "" }) }, 1, []string{"q request-id-1 true"}, nil},
		"while-it-is-up":     {func(*room) {}, 1, []string{"q request-id-1 true"}, nil},
		"settled-meanwhile":  {func(r *room) { r.set(func() { clear(r.asked) }) }, 1, nil, []string{"id-1"}},
		"settled-unnoted":    {func(r *room) { r.set(func() { clear(r.asked); r.rows[1].Target = "" }) }, 1, nil, []string{"id-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(r *room) {
				r.ask("q")
				r.stop()
				r.pass(s)
				c.before(r)
				r.run()
				r.pass(20 * s)
				if len(r.asked) > 0 {
					r.decided("id-1", requests.Approved)
					r.pass(20 * s)
				}
				if len(r.puts) != c.puts || !slices.Equal(r.given, c.given) || !slices.Equal(r.closed, c.closed) || len(r.left()) != 0 {
					t.Errorf("put up %d times, given %q, closed %q, left %q", len(r.puts), r.given, r.closed, r.left())
				}
			})
		})
	}
}

type refused struct{ error }

func (refused) Permanent() bool { return true }

// TestPlatformThatWillNot: what may pass is tried again, more and more slowly; what does not is left at words.
func TestPlatformThatWillNot(t *testing.T) {
	in(t, func(r *room) {
		r.refuse = errors.New("503")
		r.ask("q")
		if r.pass(time.Hour); len(r.puts)+len(r.looks) < 50 || len(r.puts)+len(r.looks) > 100 {
			t.Errorf("in an hour %d tries and %d looks", len(r.puts), len(r.looks))
		}
		r.set(func() { r.refuse = nil })
		if r.pass(2 * time.Minute); len(r.left()) != 1 || r.left()[0] == "" {
			t.Errorf("left are %q", r.left())
		}
		r.set(func() { r.refuse = errors.New("401") })
		r.decided(r.listed[0].ID, requests.Approved)
		if r.pass(time.Minute); len(r.given) != 0 {
			t.Errorf("given are %q", r.given)
		}
		r.set(func() { r.refuse = nil })
		if r.pass(2 * time.Minute); len(r.given) != 1 {
			t.Errorf("given are %q", r.given)
		}
		r.set(func() { r.refuse = refused{errors.New("403")} })
		r.ask("q2")
		puts := len(r.puts)
		if r.pass(time.Hour); len(r.puts) != puts || len(r.left()) != 0 {
			t.Errorf("%d tries after a refusal, left are %q", len(r.puts)-puts, r.left())
		}
	})
}

// TestSlowPlatform is not waited for without an end, and the board ends at once when it is told to.
func TestSlowPlatform(t *testing.T) {
	in(t, func(r *room) {
		r.takes = time.Hour
		r.ask("q")
		r.pass(2 * time.Minute)
		if len(r.puts) != 1 || len(r.looks) < 2 {
			t.Errorf("%d tries, %d looks", len(r.puts), len(r.looks))
		}
		at := time.Now()
		if r.stop(); time.Since(at) != 0 {
			t.Errorf("the end took %s", time.Since(at))
		}
	})
}

// TestDecisionThatCannotBeGiven is given when it can be, also by the next process.
func TestDecisionThatCannotBeGiven(t *testing.T) {
	in(t, func(r *room) {
		r.unable = errors.New("the engine stops")
		r.ask("q")
		r.decided("id-1", requests.Approved)
		r.pass(10 * s)
		r.stop()
		r.set(func() { r.unable = nil })
		r.run()
		if r.pass(20 * s); !slices.Equal(r.given, []string{"q request-id-1 true"}) || len(r.left()) != 0 {
			t.Errorf("given are %q, left %q", r.given, r.left())
		}
	})
}

// TestJournalThatCannotBeRead: nothing is done twice meanwhile.
func TestJournalThatCannotBeRead(t *testing.T) {
	in(t, func(r *room) {
		r.ask("q")
		r.set(func() { r.ill = errors.New("the disk is ill") })
		r.decided("id-1", requests.Approved)
		r.pass(time.Minute)
		r.set(func() { r.ill = nil })
		if r.pass(time.Minute); !slices.Equal(r.given, []string{"q request-id-1 true"}) || len(r.puts) != 1 || len(r.left()) != 0 {
			t.Errorf("given are %q, put up %d times, left %q", r.given, len(r.puts), r.left())
		}
	})
}

// TestLostAnswerBehindALapsed: of several for one question the newest counts.
func TestLostAnswerBehindALapsed(t *testing.T) {
	in(t, func(r *room) {
		r.ask("q")
		r.set(func() { r.lost = 1 })
		r.decided("id-1", requests.Lapsed)
		r.pass(20 * s)
		if want := []string{"approvals/id-2"}; len(r.puts) != 2 || !slices.Equal(r.left(), want) {
			t.Errorf("put up %d times, left are %q", len(r.puts), r.left())
		}
	})
}

// TestSentOneThatLapsed is put up again when the engine has said that it is up nowhere.
func TestSentOneThatLapsed(t *testing.T) {
	in(t, func(r *room) {
		r.sends = true
		r.ask("q")
		_ = r.AimDelivery(t.Context(), 1, "")
		r.board.Wake()
		if r.pass(s); len(r.puts) != 2 || !slices.Equal(r.left(), []string{"requests/id-2"}) {
			t.Errorf("put up %d times, left are %q", len(r.puts), r.left())
		}
	})
}

// TestPressWhileOthersHang: it is not behind all that the platform does not take.
func TestPressWhileOthersHang(t *testing.T) {
	in(t, func(r *room) {
		r.ask("q")
		r.set(func() { r.hangs = time.Hour })
		for i := range 16 {
			r.ask(fmt.Sprint("hangs", i))
		}
		r.decided("id-1", requests.Approved)
		if r.pass(25 * s); !slices.Equal(r.given, []string{"q request-id-1 true"}) {
			t.Errorf("given are %q", r.given)
		}
		r.pass(10 * time.Minute)
		puts := map[string]bool{}
		for _, q := range r.put {
			puts[q] = true
		}
		if len(puts) != 17 {
			t.Errorf("of 17 requests %d were tried", len(puts))
		}
	})
}

// TestPushedOutOfTheList: one that is not listed any more is put up again, and its old buttons go; one that is
// missed for a moment is not.
func TestPushedOutOfTheList(t *testing.T) {
	in(t, func(r *room) {
		r.ask("q")
		all := r.listed
		r.set(func() { r.listed = nil })
		r.pass(30 * s)
		r.set(func() { r.listed = all })
		if r.pass(40 * s); len(r.puts) != 1 {
			t.Errorf("put up %d times", len(r.puts))
		}
		r.set(func() { r.listed = nil })
		if r.pass(90 * s); len(r.puts) != 2 || !slices.Equal(r.closed, []string{"id-1"}) {
			t.Errorf("put up %d times, closed %q", len(r.puts), r.closed)
		}
		r.decided("id-2", requests.Approved)
		if r.pass(20 * s); !slices.Equal(r.given, []string{"q request-id-2 true"}) || len(r.left()) != 0 {
			t.Errorf("given are %q, left %q", r.given, r.left())
		}
	})
	in(t, func(r *room) { // as where each is pushed out
		r.ask("q")
		for range 60 {
			r.set(func() { r.listed = nil })
			r.pass(time.Minute)
		}
		if len(r.puts) != 12 {
			t.Errorf("put up %d times", len(r.puts))
		}
	})
}
