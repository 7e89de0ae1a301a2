package placement_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/placement"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// TestInOrder: those that wait are served in their order, whatever they wait for.
func TestInOrder(t *testing.T) {
	f := fleetOf(t, 1)
	first := f.place("a")
	f.Load("b", "m1")
	turns := []*placement.Turn{first, f.place("c"), f.place("b"), f.placeWith("never", "gpu=yes"), f.place("d"), f.place("e")}
	given := turns[4]
	given.End() // it does not wait any more
	for i, turn := range turns {
		if i == 3 || i == 4 {
			continue
		}
		f.on(turn, "m1")
		for _, later := range turns[i+1:] {
			f.on(later, "")
		}
		turn.End()
		turn.End()
	}
	f.has("m1", 0, 4)
	if given.Machine() != "" || given.Waits().For != placement.Nothing || f.Where("d") != "" {
		t.Errorf("what was given up is on %q", f.Where("d"))
	}
}

// TestTurnsOfAConversation: one at a time.
func TestTurnsOfAConversation(t *testing.T) {
	f := fleetOf(t, 9)
	first, second, third := f.place("a"), f.place("a"), f.place("a")
	f.waits(second, placement.Behind, "", "a turn of the same conversation is not over")
	first.End()
	f.on(second, "m1")
	f.on(third, "")
	second.End()
	f.on(third, "m1")
	third.End()

	unfit, behind := f.placeWith("b", "gpu=yes"), f.place("b")
	f.waits(behind, placement.Behind, "", "a turn of the same conversation is not over")
	unfit.End()
	f.on(behind, "m1")
}

// TestLose: the turns of a machine that is lost are over, and those behind them go on elsewhere.
func TestLose(t *testing.T) {
	f := fleetOf(t, 2)
	first, other := f.place("a"), f.place("b")
	f.Report(wire.Status{Name: "m2", Turns: 3})
	second, stranded := f.place("a"), f.placeFixed("b")
	f.Forget("b")
	forgotten := f.place("c")
	f.on(forgotten, "m2")
	f.Lose("m1")
	f.on(first, "m1")
	f.on(second, "m2")
	if second.From() != "m1" {
		t.Errorf("it comes from %q", second.From())
	}
	f.on(stranded, "m2") // forgotten, it is on no machine
	f.has("m1", 0, 0)
	f.has("m2", 3, 3)
	first.End()
	other.End()
	f.has("m2", 3, 3)
	f.on(f.place("d"), "")
	f.Report(wire.Status{Name: "m1", Turns: 2, Taken: 2, Mine: 2}) // those of before, which it ends
	f.has("m1", 1, 1)
	f.on(f.place("e"), "m1")
}

// TestRemove: turns go on to their ends on a machine that has left, and then it is forgotten.
func TestRemove(t *testing.T) {
	f := fleetOf(t, 2)
	turn, waits := f.place("a"), f.placeFixed("a")
	f.Remove("m1")
	f.has("m1", 1, 1)
	turn.End()
	f.waits(waits, placement.Stranded, "m1", "m1, where the conversation works, is none of the machines any more, and its files cannot be moved")
	f.waits(f.place("b"), placement.Taker, "", "no machine takes turns: m1 is none of the machines any more")
	waits.End()
	f.Forget("a")
	if left := f.Machines(); len(left) != 0 {
		t.Errorf("left is %+v", left)
	}
	f.waits(f.place("c"), placement.Taker, "", "no machine is up")
	f.Lose("m1") // of which nothing is known
	f.Remove("m1")
	f.Doubt("m1")
	f.Forget("a")
}

// TestLoad: what the store has kept is waited for, and is given up when machines have had their time.
func TestLoad(t *testing.T) {
	f := fleetOf(t, 1)
	f.Load("a", "m2")
	f.Load("b", "m2")
	f.Load("c", "m3")
	turn, fixed := f.place("a"), f.placeFixed("b")
	f.waits(turn, placement.Taker, "m2", "m2, where the conversation works, has not been heard of since the start")
	f.waits(f.placeWith("d", "gpu=yes"), placement.Taker, "", "no machine with gpu=yes is up")
	f.Settle()
	f.on(turn, "m1")
	f.waits(fixed, placement.Stranded, "m2", "m2, where the conversation works, is none of the machines any more, and its files cannot be moved")
	f.Report(wire.Status{Name: "m2", Turns: 1})
	f.on(fixed, "m2")
	f.Forget("c")
	if n := len(f.Machines()); n != 2 {
		t.Errorf("%d machines are known", n)
	}
}

// TestRefused: a turn that a machine refuses is asked for again, in its place, and what it had moved is where it was.
func TestRefused(t *testing.T) {
	f := fleetOf(t, 2)
	first := f.place("a")
	again := first.Refused()
	f.has("m1", 0, 0)
	later := f.place("b")
	f.waits(again, placement.Room, "", "the only machine is full: m1 has refused a turn")
	if again.Refused() != again {
		t.Error("one that waits is not refused")
	}
	f.Report(wire.Status{Name: "m1", Turns: 2, Taken: 1})
	f.on(again, "m1")
	f.on(later, "")
	first.End()
	f.has("m1", 1, 1)

	f.Report(wire.Status{Name: "m2", Turns: 1}) // later has it
	f.on(later, "m2")
	later.End()
	again.End()
	f.Lose("m1")
	moved := f.place("a")
	f.on(moved, "m2")
	back := moved.Refused()
	f.waits(back, placement.Room, "", "the only machine is full: m2 has refused a turn; m1 is lost")
	if f.Where("a") != "m1" {
		t.Errorf("it is on %s", f.Where("a"))
	}
	f.Report(wire.Status{Name: "m1", Turns: 1})
	f.on(back, "m1")
	stays := back.Refused()
	f.waits(stays, placement.Room, "m1", "m1, where the conversation works, has refused a turn")
}

// TestRefusedByOneThatLeft: also when the machine that it comes from was forgotten meanwhile.
func TestRefusedByOneThatLeft(t *testing.T) {
	f := fleetOf(t, 1)
	f.place("a").End()
	f.Report(wire.Status{Name: "m2", Turns: 1})
	f.Remove("m1")
	moved := f.place("a")
	f.on(moved, "m2")
	f.waits(moved.Refused(), placement.Room, "", "the only machine is full: m2 has refused a turn; m1 is none of the machines any more")
	f.has("m1", 0, 1)
}

// TestRefusedMakesRoomByAnEnd: a turn of ours that ends on a machine that has refused another makes room for it.
func TestRefusedMakesRoomByAnEnd(t *testing.T) {
	f := fleetOf(t, 2)
	runs := f.place("a")
	again := f.place("b").Refused()
	f.on(again, "")
	runs.End()
	f.on(again, "m1")
}

// TestWords: long lists are cut.
func TestWords(t *testing.T) {
	f := fleetOf(t, 1, 1, 1)
	for i := range 3 {
		f.place(fmt.Sprint("c", i))
	}
	turn := f.place("more")
	f.waits(turn, placement.Room, "", "all 3 machines are full: m1 1 of 1, m2 1 of 1, m3 1 of 1")
	for i := range 10 {
		f.Report(wire.Status{Name: fmt.Sprint("n", i), Turns: 4, Draining: true})
	}
	if text := turn.Waits().Text; !strings.HasSuffix(text, "; n0 drains, n1 drains, n2 drains, n3 drains, n4 drains and 5 more") {
		t.Error(text)
	}
}

// TestParseLabels and what may be joined.
func TestParseLabels(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a=b": "a=b", " b=2, a=1,a=1": "a=1,b=2", "k=": "k=", "k=a=b": "k=a=b",
		"a": `the label "a" is not key=value`, "=a": `the label "=a" is not key=value`, "a=1,a=2": "the label a has two values, 1 and 2",
		strings.Repeat("k", 200) + "=1": "more than 128 bytes",
	} {
		got, err := placement.ParseLabels(text)
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && got.String() != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// TestJoin: a sender narrows, and does not widen.
func TestJoin(t *testing.T) {
	operator := placement.Labels{"zone": "a", "gpu": "yes"}
	for _, test := range []struct {
		sender placement.Labels
		want   string
	}{
		{nil, "gpu=yes,zone=a"},
		{placement.Labels{"cpu": "big", "zone": "a"}, "cpu=big,gpu=yes,zone=a"},
		{placement.Labels{"gpu": "no"}, "a machine with gpu=no is asked for, and only those with gpu=yes are used here"},
		{placement.Labels{"gpu": ""}, "a machine with gpu= is asked for, and only those with gpu=yes are used here"},
		{placement.Labels{"": "x"}, "a label has no name"},
		{placement.Labels{"a\n": "x"}, `the label "a\n=x" has a character that labels cannot have`},
		{placement.Labels{"a=b": "x"}, `the label "a=b=x" has a character that labels cannot have`},
	} {
		got, err := placement.Join(operator, test.sender)
		if err != nil && err.Error() != test.want || err == nil && got.String() != test.want {
			t.Errorf("%v: %v, %v", test.sender, got, err)
		}
	}
	if operator.String() != "gpu=yes,zone=a" {
		t.Errorf("the operator's have become %s", operator)
	}
}

// TestRemoveWithTurns: a machine that has left is known while turns run on it, and then no more; one that is lost, too.
func TestRemoveWithTurns(t *testing.T) {
	f := fleetOf(t, 2)
	turn := f.place("a")
	f.place("b")
	f.Remove("m1")
	f.Forget("a")
	f.Forget("b")
	f.has("m1", 2, 0)
	f.Report(wire.Status{Name: "m1", Turns: 2, Taken: 2, Mine: 2}) // it is there again
	f.on(f.place("c"), "")
	turn.End()
	f.has("m1", 2, 1)
	f.Remove("m1")
	f.Lose("m1")
	f.Forget("c")
	if left := f.Machines(); len(left) != 0 {
		t.Errorf("left is %+v", left)
	}
}
