package readiness

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexfit"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/resident"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// Gauges tell when they are asked what nobody counts: how the child is, and whether a
// turn would run.
type Gauges struct {
	ready *Readiness

	maxTurns, slots, full, questions, bytes, threads, memory, childUp, codex, since, isReady, checks *prometheus.Desc
}

// NewGauges returns those of a readiness.
func NewGauges(ready *Readiness) *Gauges {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("molecule_codex_"+name, help, labels, nil)
	}
	return &Gauges{
		ready:     ready,
		maxTurns:  desc("turns_max", "Turns that may run at the same time (RUNTIME_MAX_TURNS)."),
		slots:     desc("turn_slots", "The slots that turns run in, turns_max of them, by state: working, asking (held by a turn that waits for answers, for RUNTIME_MAX_QUESTIONS others do so without one) or free.", "state"),
		full:      desc("turn_slots_full_seconds", "For how long every slot has been taken and none was given to another turn, whether the turns work or wait for answers; 0 while one is free."),
		questions: desc("questions_open", "Questions of codex that wait for an answer."),
		bytes:     desc("queue_bytes", "Memory of the messages whose turns have not ended, of RUNTIME_MAX_QUEUE_MIB."),
		threads:   desc("threads_loaded", "Threads that are loaded in codex."),
		memory:    desc("child_memory_bytes", "Resident memory, of codex and of the commands that it runs; on Linux only.", "of"),
		childUp:   desc("child_up", "1 while codex runs and has answered."),
		codex:     desc("codex_info", "1, for the codex that runs: its version, and whether this runtime was tried with it.", "version", "tried"),
		since:     desc("child_state_seconds", "How long codex has been in the state that it is in, up or not."),
		isReady:   desc("ready", "1 if a turn would run, as /readyz has it but for asking codex; 0 also before that is known."),
		checks:    desc("check", "1 if a check of readiness passed when it was made last; they are made anew when they are old.", "check"),
	}
}

// Describe implements [prometheus.Collector].
func (g *Gauges) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{g.maxTurns, g.slots, g.full, g.questions, g.bytes, g.threads, g.memory, g.childUp, g.codex, g.since, g.isReady, g.checks} {
		out <- d
	}
}

// Collect implements [prometheus.Collector]. It waits for nobody.
func (g *Gauges) Collect(out chan<- prometheus.Metric) {
	tell := func(desc *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	health := g.ready.Turns.Health()
	slots := health.Slots
	tell(g.maxTurns, float64(slots.Limit))
	tell(g.slots, float64(slots.Working), "working")
	tell(g.slots, float64(slots.Asking), "asking")
	tell(g.slots, float64(max(0, slots.Limit-slots.Working-slots.Asking)), "free")
	tell(g.full, fullFor(slots).Seconds())
	tell(g.questions, float64(health.Questions))
	tell(g.bytes, float64(health.Bytes))
	tell(g.threads, float64(health.Threads))
	tell(g.childUp, truth(health.Child.State == "ready"))
	if version := health.Child.Version; version != "" {
		tell(g.codex, 1, version, strconv.FormatBool(codexfit.Tried(version)))
	}
	tell(g.since, time.Since(health.Child.Since).Seconds())
	if codex, commands, ok := resident.Of(health.Child.Pid); ok && health.Child.Pid > 0 {
		tell(g.memory, float64(codex), "codex")
		tell(g.memory, float64(commands), "commands")
	}
	tell(g.isReady, truth(g.ready.Glance().OK))
	for _, r := range g.ready.Checks.Known().Results {
		tell(g.checks, truth(r.Status != preflight.Fail), r.Name)
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
