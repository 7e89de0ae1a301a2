package machine

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/tenancy"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

const namespace = "molecule_machine"

// metrics are the machine's own numbers.
type metrics struct {
	registry    *prometheus.Registry // nil where they are only described
	turnsBegun  prometheus.Counter
	refusals    *prometheus.CounterVec
	execStarts  prometheus.Counter
	connections prometheus.Gauge
	toExec      prometheus.Counter
	fromExec    prometheus.Counter
	ended       prometheus.Counter
}

// openMetrics returns metrics, with those of Go and of the process.
func openMetrics(tenants func() *tenancy.Tenants) *metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m := newMetrics(registry, tenants)
	m.registry = registry
	return m
}

// RegisterMetrics registers the metrics of a machine that has done nothing, so that they can be described.
func RegisterMetrics(with prometheus.Registerer) {
	none := tenancy.New(tenancy.Config{})
	newMetrics(with, func() *tenancy.Tenants { return none })
}

func newMetrics(with prometheus.Registerer, tenants func() *tenancy.Tenants) *metrics {
	carried := prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Name: "carried_bytes_total", Help: "Bytes carried between runtimes and exec-servers, by direction: in or out.",
	}, []string{"direction"})
	m := &metrics{
		turnsBegun:  counter("turns_total", "Turns that runtimes have begun; one that is said twice counts twice."),
		refusals:    prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: "refusals_total", Help: "Requests that were refused, by code."}, []string{"code"}),
		execStarts:  counter("exec_starts_total", "Exec-servers of codex that were started."),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: "exec_connections", Help: "WebSockets that are carried to exec-servers now."}),
		toExec:      carried.WithLabelValues("in"),
		fromExec:    carried.WithLabelValues("out"),
		ended:       counter("commands_ended_total", "Processes of commands that the machine has ended."),
	}
	with.MustRegister(m.turnsBegun, m.refusals, m.execStarts, m.connections, carried, m.ended)
	gauges(with, tenants)
	for code := range statuses {
		m.refusals.WithLabelValues(code)
	}
	return m
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help})
}

// gauges registers what the tenants know.
func gauges(with prometheus.Registerer, tenants func() *tenancy.Tenants) {
	gauge := func(name, help string, value func() float64) {
		with.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, value))
	}
	gauge("turns_running", "Turns that run now, of all runtimes.", func() float64 { _, turns := tenants().Count(); return float64(turns) })
	gauge("tenants", "Runtimes that the machine works for.", func() float64 { runtimes, _ := tenants().Count(); return float64(runtimes) })
	gauge("draining", "1 while no new turns are taken.", func() float64 {
		if tenants().Draining() {
			return 1
		}
		return 0
	})
}

func (m *metrics) refused(code string) {
	if statuses[code] == 0 {
		code = wire.CodeFailed
	}
	m.refusals.WithLabelValues(code).Inc()
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
