package executor

import "testing"

// TestFates walks every finding against all that may be known beside it.
func TestFates(t *testing.T) {
	flags := []bool{false, true}
	for _, state := range []FindingState{Absent, Lost, Broken, Refused, Concluded} {
		for i := range 1 << 7 {
			on := func(bit int) bool { return flags[i>>bit&1] }
			f := Finding{State: state, Tool: on(0), Repeated: on(1), Worked: on(2), Left: on(3)}
			known := past{tool: on(4), rerun: on(5), goesOn: on(6)}
			what, why := fateOf(f, known)
			runs := what == fateVanished || what == fateHeld || what == fateAgain
			switch {
			case runs && known.tool:
				t.Errorf("%+v, %+v: %s although a tool has run", f, known, what)
			case runs && state == Broken && (f.Tool || f.Repeated || known.rerun):
				t.Errorf("%+v, %+v: %s", f, known, what)
			case runs && state == Lost:
				t.Errorf("%+v, %+v: %s although nothing is known", f, known, what)
			case state == Concluded && what != fateDelivered:
				t.Errorf("%+v, %+v: %s although it has an end", f, known, what)
			case state == Broken && !f.Tool && !f.Repeated && !known.tool && !known.rerun && what != fateAgain:
				t.Errorf("%+v, %+v: %s although nothing was done", f, known, what)
			case state == Absent && !known.tool && !f.Worked && what != fateVanished:
				t.Errorf("%+v, %+v: %s although it never ran", f, known, what)
			case why == "":
				t.Errorf("%+v, %+v: %s for no reason", f, known, what)
			}
		}
	}
}
