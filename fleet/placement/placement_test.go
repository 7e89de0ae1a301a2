package placement_test

import (
	"fmt"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/placement"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A fleet is a placer, in short words.
type fleet struct {
	*testing.T
	*placement.Placer
}

// fleetOf has machines of so many turns: m1, m2, ...
func fleetOf(t *testing.T, turns ...int) fleet {
	f := fleet{t, placement.New()}
	for i, n := range turns {
		f.Report(wire.Status{Name: fmt.Sprint("m", i+1), Turns: n})
	}
	return f
}

func (f fleet) place(conversation string) *placement.Turn {
	return f.Place(placement.Ask{Conversation: conversation, Movable: true})
}

func (f fleet) placeFixed(conversation string) *placement.Turn {
	return f.Place(placement.Ask{Conversation: conversation})
}

func (f fleet) placeWith(conversation, needs string) *placement.Turn {
	f.Helper()
	labels, err := placement.ParseLabels(needs)
	if err != nil {
		f.Fatal(err)
	}
	return f.Place(placement.Ask{Conversation: conversation, Needs: labels, Movable: true})
}

// on wants a turn on a machine.
func (f fleet) on(t *placement.Turn, machine string) {
	f.Helper()
	if got := t.Machine(); got != machine {
		f.Errorf("the turn is on %q and not on %q: %s", got, machine, t.Waits().Text)
	}
}

// waits wants a turn to wait, for a reason and in these words.
func (f fleet) waits(t *placement.Turn, why placement.Cause, machine, text string) {
	f.Helper()
	if got := t.Waits(); t.Machine() != "" || got.For != why || got.Machine != machine || got.Text != text {
		f.Errorf("the turn is on %q, and waits for\n\t%d %q %s, not\n\t%d %q %s", t.Machine(), got.For, got.Machine, got.Text, why, machine, text)
	}
}

// told wants a turn to have been told of a change, or not.
func (f fleet) told(t *placement.Turn, want bool) {
	f.Helper()
	select {
	case <-t.Changed():
		if !want {
			f.Error("a change is told that is none")
		}
	default:
		if want {
			f.Error("a change is not told")
		}
	}
}

// has wants a machine to have so many turns of ours and conversations.
func (f fleet) has(machine string, running, placed int) {
	f.Helper()
	for _, m := range f.Machines() {
		if m.Name == machine {
			if m.Running != running || m.Placed != placed {
				f.Errorf("%s has %d turns and %d conversations, not %d and %d", machine, m.Running, m.Placed, running, placed)
			}
			return
		}
	}
	f.Errorf("%s is not known", machine)
}

// TestStays: a conversation stays on its machine while others are emptier, and waits for it if need be.
func TestStays(t *testing.T) {
	f := fleetOf(t, 1)
	first := f.place("a")
	f.on(first, "m1")
	f.told(first, true)
	f.Report(wire.Status{Name: "m2", Turns: 9})
	first.End()
	f.on(f.place("a"), "m1")
	f.Load("b", "m1")
	second := f.place("b")
	f.waits(second, placement.Room, "m1", "m1, where the conversation works, is full: 1 of 1")
	f.Doubt("m1")
	f.told(second, true)
	f.waits(second, placement.Taker, "m1", "m1, where the conversation works, has not been heard of for a moment")
	f.Report(wire.Status{Name: "m1", Turns: 2})
	f.on(second, "m1")
	f.told(second, true)
	if second.From() != "" {
		t.Errorf("it comes from %s", second.From())
	}
	f.has("m1", 2, 2)
}

// TestLeaves: with its next turn, if its files can be moved, where its machine takes none any more; else it waits there.
func TestLeaves(t *testing.T) {
	const there = "m1, where the conversation works, "
	for name, test := range map[string]struct {
		away func(fleet)
		why  placement.Cause
		text string
	}{
		"lost":     {func(f fleet) { f.Lose("m1") }, placement.Stranded, there + "is lost, and its files cannot be moved"},
		"left":     {func(f fleet) { f.Remove("m1") }, placement.Stranded, there + "is none of the machines any more, and its files cannot be moved"},
		"drains":   {func(f fleet) { f.Report(wire.Status{Name: "m1", Turns: 4, Draining: true}) }, placement.Taker, there + "drains, and the conversation's files cannot be moved"},
		"troubled": {func(f fleet) { f.Report(wire.Status{Name: "m1", Turns: 4, Trouble: "the disk is full"}) }, placement.Taker, there + "takes no turns: the disk is full, and the conversation's files cannot be moved"},
	} {
		t.Run(name, func(t *testing.T) {
			f := fleetOf(t, 4)
			f.place("a").End()
			f.placeFixed("b").End()
			f.Report(wire.Status{Name: "m2", Turns: 1})
			waits := f.placeFixed("b")
			f.on(waits, "m1")
			waits.End()
			f.Load("other", "m2")
			busy := f.place("other")
			waiting := f.place("c")
			f.on(waiting, "m1")
			waiting.End()

			test.away(f)
			if on := f.Where("a"); on != "m1" {
				t.Errorf("without a turn it has gone to %q", on)
			}
			moved, fixed := f.place("a"), f.placeFixed("b")
			f.waits(fixed, test.why, "m1", test.text)
			if w := moved.Waits(); w.For != placement.Room || w.Machine != "" {
				t.Errorf("the other waits for %+v", w)
			}
			busy.End()
			f.on(moved, "m2")
			if moved.From() != "m1" || f.Where("a") != "m2" {
				t.Errorf("it comes from %q and is on %q", moved.From(), f.Where("a"))
			}
			f.told(fixed, false)
			f.has("m1", 0, 2)
			f.Report(wire.Status{Name: "m1", Turns: 4})
			f.on(fixed, "m1")
		})
	}
}

// TestStaysWhenItsMachineComesBack: a turn that could have gone elsewhere, had there been room.
func TestStaysWhenItsMachineComesBack(t *testing.T) {
	f := fleetOf(t, 2)
	f.place("a").End()
	f.Report(wire.Status{Name: "m2", Turns: 1})
	f.on(f.place("b"), "m2")
	f.Lose("m1")
	turn := f.place("a")
	f.waits(turn, placement.Room, "", "the only machine is full: m2 1 of 1; m1 is lost")
	f.Doubt("m1") // which it is not
	f.told(turn, false)
	f.Report(wire.Status{Name: "m1", Turns: 1, Taken: 1})
	f.told(turn, true)
	f.waits(turn, placement.Room, "m1", "m1, where the conversation works, is full: 1 of 1")
	f.Report(wire.Status{Name: "m2", Turns: 9})
	f.waits(turn, placement.Room, "m1", "m1, where the conversation works, is full: 1 of 1")
	f.Report(wire.Status{Name: "m1", Turns: 1})
	f.on(turn, "m1")
}

// TestEmptiest: a new conversation goes to the machine with the fewest for what it can run, of those with room.
func TestEmptiest(t *testing.T) {
	f := fleetOf(t, 1, 3)
	for i := range 40 {
		f.place(fmt.Sprint("c", i)).End()
	}
	f.has("m1", 0, 10)
	f.has("m2", 0, 30)
	f.Report(wire.Status{Name: "m3", Turns: 4}) // those that join have the next ones, until it is even
	for i := range 41 {
		f.place(fmt.Sprint("d", i)).End()
	}
	if got := f.Machines()[2].Placed; got != 40 && got != 41 {
		t.Errorf("m3 has %d", got)
	}
	f.Report(wire.Status{Name: "m4", Turns: 2, Taken: 3, Mine: 1}) // full, by others
	if on := f.place("e").Machine(); on == "m4" {
		t.Error("a turn is on a machine that has no room")
	}
	f.Report(wire.Status{Name: "m4", Turns: 2, Taken: 1, Mine: 1}) // what is ours of it is counted here
	f.on(f.place("f"), "m4")
	f.on(f.place("g"), "m4")
	if on := f.place("h").Machine(); on == "m4" {
		t.Error("m4 has more turns than it may")
	}
}

// TestEqualMachines: the names decide, in each process and each version the same, and not the order of reports.
func TestEqualMachines(t *testing.T) {
	one, other := fleetOf(t), fleetOf(t)
	for i := range 8 {
		one.Report(wire.Status{Name: fmt.Sprint("m", i), Turns: 9})
		other.Report(wire.Status{Name: fmt.Sprint("m", 7-i), Turns: 9})
	}
	got, used := "", map[string]bool{}
	for i := range 8 {
		name := fmt.Sprint("conversation-", i)
		a, b := one.place(name), other.place(name)
		if a.Machine() != b.Machine() {
			t.Errorf("%s is on %s, and on %s", name, a.Machine(), b.Machine())
		}
		got += a.Machine() + " "
		used[a.Machine()] = true
		one.Forget(name)
		other.Forget(name)
		a.End()
		b.End()
	}
	if want := "m1 m6 m1 m4 m7 m6 m7 m6 "; got != want || len(used) < 4 {
		t.Errorf("they are on %s", got)
	}
}

// TestLabels: only machines that have what a turn needs, and a machine that has it no more is left.
func TestLabels(t *testing.T) {
	f := fleetOf(t, 9, 9)
	plain := f.placeWith("a", "gpu=yes")
	f.waits(plain, placement.Taker, "", "no machine with gpu=yes is up")
	f.on(f.placeWith("b", ""), f.Where("b")) // which holds no other up
	f.Report(wire.Status{Name: "m3", Turns: 1, Labels: map[string]string{"gpu": "no"}})
	f.told(plain, true)
	f.waits(plain, placement.Taker, "", "no machine with gpu=yes is up")
	gpu := map[string]string{"gpu": "yes", "zone": "a"}
	f.Report(wire.Status{Name: "m3", Turns: 1, Labels: gpu})
	f.on(plain, "m3")
	second := f.placeWith("c", "zone=a,gpu=yes")
	f.waits(second, placement.Room, "", "the only machine with gpu=yes,zone=a is full: m3 1 of 1")
	plain.End()
	f.on(second, "m3")
	second.End()
	gpu["gpu"] = "no" // of the caller, who may
	f.on(f.placeWith("a", "gpu=yes"), "m3")
	f.Report(wire.Status{Name: "m3", Turns: 2})
	f.waits(f.Place(placement.Ask{Conversation: "c", Needs: placement.Labels{"zone": "a"}}), placement.Taker, "m3",
		"m3, where the conversation works, is not one with zone=a, and the conversation's files cannot be moved")
	f.Report(wire.Status{Name: "m4", Turns: 1, Labels: map[string]string{"zone": "a"}})
	f.Load("d", "m3")
	f.on(f.placeWith("d", "zone=a"), "m4")
}
