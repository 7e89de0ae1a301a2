package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet"
)

// mostMachines is how many machines have a name in the metrics that are counted. Those of a list that changes all the time, as
// one from DNS may, are "other" beyond it.
const mostMachines = 256

// Machines count what becomes of machines, and tell how they stand when they are asked for. They implement [fleet.Metrics].
type Machines struct {
	up, takes, turns, conversations, waiting *prometheus.Desc

	lost  *prometheus.CounterVec
	waits prometheus.Histogram

	mu    sync.Mutex // guards the fields below
	of    Shown      // nil before [Machines.Show]
	names map[string]bool
}

// Shown are the machines of a runtime; a [fleet.Fleet] has them.
type Shown interface {
	Overview() (all []fleet.Shown, trouble error)
	Standing() fleet.Standing
}

// NewMachines returns those of machines that are said later.
func NewMachines() *Machines {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("molecule_codex_"+name, help, labels, nil)
	}
	return &Machines{
		up:            desc("machine_up", "1 while a machine of RUNTIME_MACHINES is heard.", "machine"),
		takes:         desc("machine_takes_turns", "1 while a machine takes turns, with room or without; 0 also while it drains, or is in trouble.", "machine"),
		turns:         desc("machine_turns", "Turns of this runtime that run on a machine.", "machine"),
		conversations: desc("machine_conversations", "Conversations of this runtime that are on a machine.", "machine"),
		waiting:       desc("machine_waiting", "Turns that wait for a machine."),
		lost: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "molecule_codex", Name: "machine_lost_total", Help: "How often a machine was lost, with the turns that ran there.",
		}, []string{"machine"}),
		waits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "molecule_codex", Name: "machine_wait_seconds",
			Help:    "From when a turn has asked for a machine to when it has its place there, files that are brought included.",
			Buckets: []float64{.001, .005, .025, .1, .25, .5, 1, 2, 5, 10, 30, 60, 300, 1800},
		}),
		names: map[string]bool{},
	}
}

// Show has the metrics be of machines.
func (m *Machines) Show(of Shown) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of = of
}

// MachineLost implements [fleet.Metrics].
func (m *Machines) MachineLost(machine string) { m.counter(machine).Inc() }

// Placed implements [fleet.Metrics].
func (m *Machines) Placed(waited time.Duration) { m.waits.Observe(waited.Seconds()) }

func (m *Machines) counter(machine string) prometheus.Counter {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.names[machine] && len(m.names) >= mostMachines {
		return m.lost.WithLabelValues("other")
	}
	m.names[machine] = true
	return m.lost.WithLabelValues(machine)
}

// Describe implements [prometheus.Collector].
func (m *Machines) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.up, m.takes, m.turns, m.conversations, m.waiting} {
		out <- d
	}
	m.lost.Describe(out)
	m.waits.Describe(out)
}

// Collect implements [prometheus.Collector]. It waits for no machine.
func (m *Machines) Collect(out chan<- prometheus.Metric) {
	m.mu.Lock()
	of := m.of
	m.mu.Unlock()
	if of != nil {
		all, _ := of.Overview()
		for _, s := range named(all) {
			tell(out, m.up, truth(s.State == fleet.Up), s.Name)
			tell(out, m.takes, truth(s.Takes), s.Name)
			tell(out, m.turns, float64(s.Mine), s.Name)
			tell(out, m.conversations, float64(s.Conversations), s.Name)
			m.counter(s.Name) // alarms see the first rise of one that has begun
		}
		tell(out, m.waiting, float64(of.Standing().Waiting))
	}
	m.lost.Collect(out)
	m.waits.Collect(out)
}

// named are the machines of the list, each name once: two may have the same, as one that comes back at another address has for
// a while.
func named(all []fleet.Shown) []fleet.Shown {
	at := map[string]int{}
	var out []fleet.Shown
	for _, s := range all {
		i, known := at[s.Name]
		switch {
		case s.Address == "" || !known && len(out) == mostMachines:
		case known:
			if out[i].Takes = out[i].Takes || s.Takes; s.State == fleet.Up {
				out[i].State = fleet.Up
			}
			out[i].Mine, out[i].Conversations = out[i].Mine+s.Mine, out[i].Conversations+s.Conversations
		default:
			at[s.Name] = len(out)
			out = append(out, s)
		}
	}
	return out
}

func tell(out chan<- prometheus.Metric, desc *prometheus.Desc, value float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
