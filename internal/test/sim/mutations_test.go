package sim_test

import (
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/mutation"
)

var mutate = flag.Bool("sim.mutations", false, "whether each mutation is to be found by the seeds")

// A change puts back a fault that this program has had, or could have: old becomes new, once, in a file.
type change struct{ what, file, old, new string }

// mutations are what the simulation has to find. A place that has changed needs its mutation changed.
func mutations() []change {
	return []change{
		{
			"a turn in which a tool has run is run again", "executor/fate.go",
			"case f.Tool, known.tool, f.Repeated, known.rerun:", "case f.Repeated, known.rerun:",
		},
		{
			"a turn that has ended is not given its end", "executor/fate.go",
			"case f.State == Refused, f.State == Concluded:", "case f.State == Refused:",
		},
		{
			"what was cut off by our own death is begun anew", "tasks/recover.go",
			"if m := r.recovered; m.Attempt > 0 {", "if m := r.recovered; m.Attempt > 99 {",
		},
		{
			"what an earlier process has accepted is taken up in another order", "tasks/recover.go",
			"cmp.Compare(a.recovered.Seq, b.recovered.Seq)", "cmp.Compare(b.recovered.Seq, a.recovered.Seq)",
		},
		{
			"a message whose way into the turn is not known is sent again", "executor/steered.go",
			"case s.stage == stageOffered:", "case s.stage == stageOffered, s.stage == stageSent:",
		},
		{
			"a message that a turn has not taken goes behind all others", "executor/places.go",
			"return waiting.seq > s.seq })", "return false })",
		},
		{
			"those that wait are not told that turns are started again", "executor/hold.go",
			"close(h.changed)", "_ = h.changed",
		},
		{
			"a turn that was answered waits behind the queue for ever", "executor/slots.go",
			"[][]*slot{s.in[slotReturning], s.in[slotQueued]}", "[][]*slot{s.in[slotQueued]}",
		},
		{
			"a message that comes twice is two", "tasks/send.go",
			"known, err := e.known(ctx, in)", "known, err := store.Message{}, error(store.ErrUnknown)",
		},
		{
			"a slot is not given back", "executor/queue.go",
			"defer j.slot.release()", "defer func() {}()",
		},
		{
			"the end of a turn that our own stop has cut is the message's", "executor/ends.go",
			"if errors.Is(cause, ErrShutdown) {", "if cause == nil {",
		},
		{
			"an attempt is made that is not written down", "executor/journal.go",
			"return e.cfg.Journal.Begin(ctx, next)", "return nil",
		},
		{
			"the journal is believed to have what it has refused", "internal/insist/insist.go",
			"if err == nil {", "if err == nil || !told {",
		},
		{
			"a turn that is refused behind a tool is run again", "executor/weigh.go",
			"return !tools && (", "return (",
		},
		{
			"a message whose turn cannot be looked up is run again", "executor/cut.go",
			"return interrupted(soFar(t), true, cutWords(cause)), nil", "return nil, nil",
		},
		{
			"jobs begin while the runtime stops", "executor/drain.go",
			"if e.drain.on || e.closed {", "if e.closed {",
		},
		{
			"a cancel does not reach the turn", "executor/attempt.go",
			"of.Input, of.Trace = input, e.trace(j)", "of.Input, of.Trace, of.Ctx = input, e.trace(j), context.WithoutCancel(j.ctx)",
		},
		{
			"a timer counts while the turn waits for an answer", "executor/timers.go",
			"t.since, t.due = time.Time{}, time.Time{}", "t.since = time.Time{}; return",
		},
		{
			"a cancel is taken back by a crash", "tasks/cancel.go",
			"t.save(store.Change{Head: &row})", "_ = row",
		},
		{
			"a message that a void turn has had is not sent to the next one", "executor/steer.go",
			"case s.stage == stageTaken && j.goOn:", "case s.stage == stageTaken:",
		},
		{
			"a tool that an earlier process has seen is forgotten", "tasks/recover.go",
			"ThreadID: m.Thread, Tool: m.Tool}", "ThreadID: m.Thread}",
		},
		{
			"a message runs again as often as that is asked for", "tasks/send.go",
			"!interrupted {\n\t\treturn v, err", "!interrupted && err != nil {\n\t\treturn v, err",
		},
		{
			"a message that the scheduler has no room for is not taken back", "tasks/send.go",
			"\t\te.withdraw(ctx, t, r)\n", "",
		},
		{
			"an answer is kept without its question", "tasks/question.go",
			"AnsweredBy: by,", `AnsweredBy: "",`,
		},
		{
			"the start of a tool is not written down", "tasks/run.go",
			"Attempt: r.attempt, Tool: true}}", "Attempt: r.attempt}}",
		},
	}
}

func (m change) fault() mutation.Fault { return mutation.Fault{File: m.file, Old: m.old, New: m.new} }

// TestMutationsFit: each has its place in the program as it is.
func TestMutationsFit(t *testing.T) {
	for _, m := range mutations() {
		m.fault().Fit(t)
	}
}

// TestMutations puts each back, and has the seeds find it. It takes minutes: make sim-mutations.
func TestMutations(t *testing.T) {
	if !*mutate {
		t.Skip("make sim-mutations")
	}
	for _, m := range mutations() {
		t.Run(strings.ReplaceAll(m.what, " ", "-"), func(t *testing.T) {
			out, err := m.fault().Test(t, "-run", "^TestSeeds$", "./internal/test/sim", "-sim.seeds", fmt.Sprint(*seeds), "-sim.first", fmt.Sprint(*first))
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
