package fleetsim_test

import (
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/mutation"
)

var mutate = flag.Bool("sim.mutations", false, "whether each mutation is to be found by the seeds")

// mutations are what the simulation has to find, by what is wrong then. A place that has changed needs its mutation changed.
func mutations() map[string]mutation.Fault {
	const machine, placer, queue, turn = "fleet/placement/machine.go", "fleet/placement/placer.go", "fleet/placement/queue.go", "fleet/placement/turn.go"
	return map[string]mutation.Fault{
		"all go to the first with room":                    {File: queue, Old: "(best == nil || m.emptier(best, t.of.hash))", New: "best == nil"},
		"large machines have as few as small ones":         {File: machine, Old: "m.placed*other.turns, other.placed*m.turns", New: "m.placed, other.placed"},
		"the order of reports decides between equals":      {File: machine, Old: "mix(m.hash^conversation), mix(other.hash^conversation)", New: "mix(m.hash^conversation), mix(m.hash^conversation)+1"},
		"the turns of a lost machine count for ever":       {File: turn, Old: "\tdelete(m.running, t)\n", New: "\tif m.state == Up {\n\t\tdelete(m.running, t)\n\t}\n"},
		"a machine that is back wakes no turn":             {File: placer, Old: "if m.hear(s) {\n\t\tp.changed(m)", New: "if m.hear(s) {\n\t\t_ = p"},
		"room that is reported wakes no turn":              {File: placer, Old: "\t} else {\n\t\tp.serve(m)\n\t}", New: "\t}"},
		"the end of a turn wakes no other":                 {File: queue, Old: "\tif m != nil {\n\t\tp.serve(m)\n\t}\n", New: ""},
		"the last that waits is the first served":          {File: queue, Old: "(first == nil || t.seq < first.seq)", New: "(first == nil || t.seq > first.seq)"},
		"a conversation goes where there is room":          {File: queue, Old: "\tcase on.state == Doubted, on.state == Awaited, on.fits(t):\n\t\treturn false\n", New: "\tcase on.fits(t) && on.hasRoom():\n\t\treturn false\n"},
		"a machine that is doubted is left":                {File: queue, Old: "case on.state == Doubted, on.state == Awaited,", New: "case on.state == Awaited,"},
		"a conversation whose files cannot be moved moves": {File: queue, Old: "return t.ask.Movable", New: "return true"},
		"a conversation stays on a machine that drains":    {File: queue, Old: "return t.ask.Movable", New: "return t.ask.Movable && !on.draining"},
		"a machine that drains is given turns":             {File: machine, Old: "m.state == Up && !m.draining", New: "m.state == Up"},
		"the turns of others do not count":                 {File: machine, Old: "m.others+len(m.running) < m.turns", New: "len(m.running) < m.turns"},
		"our turns count twice":                            {File: machine, Old: "max(0, s.Taken-s.Mine)", New: "s.Taken"},
		"one turn too many":                                {File: machine, Old: "m.others+len(m.running) < m.turns", New: "m.others+len(m.running) <= m.turns"},
		"what has moved counts on both machines":           {File: placer, Old: "\t\tfrom.placed--\n", New: "\t\tfrom.placed -= 0\n"},
		"labels do not count":                              {File: machine, Old: "m.takes() && t.ask.Needs.within(m.labels)", New: "m.takes()"},
		"a refusal is forgotten":                           {File: turn, Old: "t.on.refused = true", New: "t.on.refused = false"},
		"a refusal is kept":                                {File: machine, Old: "m.refused = Up, s.Draining, s.Trouble, false", New: "m.refused = Up, s.Draining, s.Trouble, m.refused"},
		"what a refusal has moved stays moved":             {File: turn, Old: "if t.moves && t.of.on == t.on {", New: "if t.moves && t.of == nil {"},
		"one that gives up is still waited for":            {File: turn, Old: "\t\tp.leave(t)\n\t\tt.stage = over", New: "\t\tt.stage = over"},
	}
}

// TestMutationsFit: each has its place in the program as it is.
func TestMutationsFit(t *testing.T) {
	for _, fault := range mutations() {
		fault.Fit(t)
	}
}

// TestMutations puts each back, and has the seeds find it: make sim-mutations.
func TestMutations(t *testing.T) {
	if !*mutate {
		t.Skip("make sim-mutations")
	}
	for what, fault := range mutations() {
		t.Run(strings.ReplaceAll(what, " ", "-"), func(t *testing.T) {
			out, err := fault.Test(t, "-run", "^TestSeeds$", "./internal/test/fleetsim", "-sim.seeds", fmt.Sprint(*seeds), "-sim.first", fmt.Sprint(*first))
			found := regexp.MustCompile(`SEED=(\d+)\n\s*([^\n]*)`).FindStringSubmatch(out)
			switch {
			case err == nil:
				t.Errorf("%d seeds find nothing", *seeds)
			case strings.Contains(out, "[build failed]"):
				t.Errorf("it is no program: %.600s", out)
			case found != nil:
				t.Logf("seed %s: %s", found[1], found[2])
			default:
				t.Logf("%v: %.600s", err, out)
			}
		})
	}
}
