package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/refusals"
	"github.com/Molecule-AI/molecule-codex-runtime/server/doors"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// Metrics are the runtime's own numbers. Its methods are the hooks of the
// packages that know them; each may be called concurrently.
type Metrics struct {
	turns     *prometheus.HistogramVec
	firstText prometheus.Histogram
	waited    prometheus.Histogram
	active    prometheus.Gauge
	queued    prometheus.Gauge
	tokens    *prometheus.CounterVec
	starts    prometheus.Counter
	restarts  *prometheus.CounterVec
	held      *prometheus.GaugeVec
	limits    *prometheus.GaugeVec
	tools     *prometheus.HistogramVec
	unpushed  prometheus.Counter
	calls     *prometheus.CounterVec
	connects  *prometheus.HistogramVec
	firstByte *prometheus.HistogramVec

	requests *prometheus.HistogramVec
	streams  prometheus.Gauge
	dropped  prometheus.Counter
	rpcErrs  *prometheus.CounterVec
	refused  *prometheus.CounterVec
}

const namespace = "molecule_codex"

// NewMetrics returns metrics that are registered with reg. It panics if reg has
// some of them already.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	turn := []float64{.25, .5, 1, 2, 5, 10, 20, 40, 60, 120, 300, 600, 1200, 3600}
	tool := []float64{.01, .05, .25, 1, 5, 30, 120, 600, 1800}
	link := []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}
	model := []float64{.05, .1, .25, .5, .75, 1, 2, 5, 10, 20, 40, 60, 120, 300}
	short := []float64{.001, .005, .025, .1, .25, .5, 1, 2, 5, 10, 30, 60, 300, 1800}
	m := &Metrics{
		turns:     histograms("turn_duration_seconds", "From the start of a turn in codex to its end, by outcome.", turn, "outcome"),
		firstText: histogram("turn_first_text_seconds", "From the start of a turn in codex to its first text.", short),
		waited:    histogram("turn_wait_seconds", "From the acceptance of a message to the start of its turn.", short),
		active:    gauge("turns_active", "Turns that have begun and not ended, those too that wait for answers."),
		queued:    gauge("queue_depth", "Accepted messages that wait for their turn."),
		tokens:    counters("tokens_total", "Tokens that codex has accounted for, by kind; cached are part of input, reasoning part of output.", "kind"),
		starts:    prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "child_starts_total", Help: "Starts of the codex child."}),
		restarts:  counters("child_restarts_total", "Restarts of the codex child, by reason.", "reason"),
		held:      gauges("held", "1 while no turn is started because the model would refuse it, by reason: auth (a login is needed) or limit.", "reason"),
		limits:    gauges("limit_used_ratio", "How much of the account's allowance is used, by window: primary (the shorter) or secondary.", "window"),
		requests:  histograms("http_request_duration_seconds", "HTTP requests; streams last as long as their turn.", short, "route", "method", "code"),
		streams:   gauge("streams_open", "SSE streams that are open now."),
		tools:     histograms("tool_duration_seconds", "From the start of a tool of a turn to its end, by kind: command, file_change, mcp, workspace, web_search or other.", tool, "kind"),
		unpushed:  prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "pushes_dropped_total", Help: "Push notifications that were not made because too many of their sender's waited, or too large ones; of what a task asks and of its end they always are."}),
		calls:     counters("model_calls_total", "Requests of codex to the model that have ended, by transport (websocket or http) and by outcome: ok, refused (4xx), failed (5xx) or cut. Not those to the built-in model.", "transport", "outcome"),
		connects:  histograms("model_connect_seconds", "How long a new connection to the model's endpoint took, by transport.", link, "transport"),
		firstByte: histograms("model_first_byte_seconds", "From a request of codex to the first byte of the model's answer, by transport.", model, "transport"),
		rpcErrs:   counters("rpc_errors_total", "Errors that JSON-RPC calls were answered with, by their code; HTTP's status is 200 all the same.", "code"),
		refused:   counters("http_refused_total", "Requests that were refused at the door, by reason: host, origin, page (of elsewhere), no_credential, wrong_credential or too_many (of wrong ones).", "reason"),
		dropped:   prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "streams_dropped_total", Help: "SSE streams cut because their reader stalled."}),
	}
	reg.MustRegister(m.turns, m.firstText, m.waited, m.active, m.queued, m.tokens, m.starts, m.restarts, m.held, m.limits, m.tools, m.unpushed, m.calls, m.connects, m.firstByte, m.requests, m.streams, m.dropped, m.rpcErrs, m.refused)
	m.Held("auth", false)
	m.Held("limit", false)
	m.rpcErrs.WithLabelValues(strconv.Itoa(wire.Code(a2a.ErrServerError)))   // those that alarms are about are there from
	m.rpcErrs.WithLabelValues(strconv.Itoa(wire.Code(a2a.ErrInternalError))) // the start: a rise from nothing is none
	for _, reason := range []refusals.Reason{doors.RefusedHost, doors.RefusedOrigin, doors.RefusedPage, refusals.Missing, refusals.Wrong, refusals.TooMany} {
		m.refused.WithLabelValues(string(reason))
	}
	m.turns.WithLabelValues("failed")
	m.restarts.WithLabelValues("died")
	return m
}

// TurnStarted counts a turn that has begun in codex, waited after its message
// was accepted.
func (m *Metrics) TurnStarted(waited time.Duration) {
	m.waited.Observe(waited.Seconds())
	m.active.Inc()
}

// FirstText records the first text of a turn, after its start.
func (m *Metrics) FirstText(after time.Duration) { m.firstText.Observe(after.Seconds()) }

// TurnEnded counts the end of a turn that TurnStarted was called for.
func (m *Metrics) TurnEnded(outcome string, took time.Duration) {
	m.turns.WithLabelValues(outcome).Observe(took.Seconds())
	m.active.Dec()
}

// ToolEnded counts the end of a tool. Kinds are few and fixed, for they are labels.
func (m *Metrics) ToolEnded(kind string, took time.Duration) {
	m.tools.WithLabelValues(kind).Observe(took.Seconds())
}

// PushesDropped counts push notifications that are not made.
func (m *Metrics) PushesDropped(n int) { m.unpushed.Add(float64(n)) }

// Tokens adds what a turn has used.
func (m *Metrics) Tokens(in, cached, out, reasoning int64) {
	for kind, n := range map[string]int64{"input": in, "cached_input": cached, "output": out, "reasoning": reasoning} {
		if n > 0 {
			m.tokens.WithLabelValues(kind).Add(float64(n))
		}
	}
}

// ChildStarted counts a start of the codex child, restarts included.
func (m *Metrics) ChildStarted() { m.starts.Inc() }

// ChildRestarted counts a restart. Reasons are few and fixed, for they are labels.
func (m *Metrics) ChildRestarted(reason string) { m.restarts.WithLabelValues(reason).Inc() }

// ModelCalled counts a request to the model; connect is 0 if there was a connection, and first if there was no
// answer. Transports and outcomes are few and fixed, for they are labels.
func (m *Metrics) ModelCalled(transport, outcome string, connect, first time.Duration) {
	m.calls.WithLabelValues(transport, outcome).Inc()
	if connect > 0 {
		m.connects.WithLabelValues(transport).Observe(connect.Seconds())
	}
	if first > 0 {
		m.firstByte.WithLabelValues(transport).Observe(first.Seconds())
	}
}

// QueueDepth sets how many messages wait.
func (m *Metrics) QueueDepth(n int) { m.queued.Set(float64(n)) }

// Held sets whether turns wait for a login or for the end of a limit.
func (m *Metrics) Held(kind string, held bool) {
	value := 0.0
	if held {
		value = 1
	}
	m.held.WithLabelValues(kind).Set(value)
}

// LimitUsed sets how much of an allowance is used.
func (m *Metrics) LimitUsed(window string, percent int) {
	m.limits.WithLabelValues(window).Set(float64(percent) / 100)
}

func (m *Metrics) request(route, method string, status int, took time.Duration) {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete:
	default:
		method = "other" // a label must not be the caller's to invent
	}
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Observe(took.Seconds())
}

// Refused counts a request that was refused at the door.
func (m *Metrics) Refused(why refusals.Reason) { m.refused.WithLabelValues(string(why)).Inc() }

// StreamOpened and StreamClosed count the SSE streams that are open.
func (m *Metrics) StreamOpened() { m.streams.Inc() }

// StreamClosed is called once for each StreamOpened.
func (m *Metrics) StreamClosed() { m.streams.Dec() }

// StreamDropped counts a stream that is cut because its reader stalled.
func (m *Metrics) StreamDropped() { m.dropped.Inc() }

// RPCFailed counts an error that a JSON-RPC call is answered with. Codes are those of
// docs/errors.md.
func (m *Metrics) RPCFailed(code int) { m.rpcErrs.WithLabelValues(strconv.Itoa(code)).Inc() }

func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets})
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help})
}

func gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}
