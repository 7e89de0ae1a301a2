package server

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// TestRPCErrorsAreCounted: HTTP says 200 to all of these.
func TestRPCErrorsAreCounted(t *testing.T) {
	ts := start(t, Config{Handler: &fakeHandler{}})
	for _, body := range []string{
		`{`, `{"jsonrpc":"2.0","id":1,"method":"Nothing"}`, `{"jsonrpc":"2.0","id":1,"method":"no/thing"}`,
		`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"T2"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"T2"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tasks/resubscribe","params":{"id":"T2"}}`,
	} {
		if a := do(t, "POST", ts.URL, body); a.status != 200 {
			t.Fatalf("%s: %d %s", body, a.status, a.body)
		}
	}
	body := do(t, "GET", ts.URL+"/metrics", "").body
	for code, n := range map[int]int{-32700: 1, -32601: 2, -32001: 3, -32000: 0, -32603: 0} {
		if want := fmt.Sprintf("molecule_codex_rpc_errors_total{code=\"%d\"} %d\n", code, n); !strings.Contains(body, want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestNoSeriesIsACallers: nothing that a caller writes becomes a label.
func TestNoSeriesIsACallers(t *testing.T) {
	reg := prometheus.NewRegistry()
	ts := start(t, Config{Handler: &fakeHandler{}, Registry: reg})
	series := func() (n int) {
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			n += len(f.Metric)
		}
		return n
	}
	invent := func(i int) {
		name := "invented" + strconv.Itoa(i)
		do(t, "POST", ts.URL, `{"jsonrpc":"2.0","id":"`+name+`","method":"`+name+`"}`)
		do(t, "POST", ts.URL+"/"+name, `{}`)
		do(t, "GET", ts.URL+"/tasks/"+name, "")
		do(t, "GET", ts.URL+"/"+name+"/tasks/"+name, "")
		do(t, strings.ToUpper(name), ts.URL+"/tasks", "")
	}
	invent(0)
	before := series()
	for i := range 20 {
		invent(i + 1)
	}
	if after := series(); after != before {
		t.Errorf("%d series, and %d after more of the same", before, after)
	}
}

// TestAlarmsHaveABeginning: Prometheus sees no rise in a series that begins with its first
// event, so what alarms count is there before.
func TestAlarmsHaveABeginning(t *testing.T) {
	body := do(t, "GET", start(t, Config{Handler: &fakeHandler{}}).URL+"/metrics", "").body
	for _, want := range []string{
		`molecule_codex_turn_duration_seconds_count{outcome="failed"} 0`, `molecule_codex_child_restarts_total{reason="died"} 0`,
		`molecule_codex_streams_dropped_total 0`,
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
}

// TestModelCallsAreMeasured: what has not come is not measured.
func TestModelCallsAreMeasured(t *testing.T) {
	reg := prometheus.NewRegistry()
	m := NewMetrics(reg)
	m.ModelCalled("websocket", "ok", 60*time.Millisecond, 400*time.Millisecond)
	m.ModelCalled("websocket", "ok", 0, 2*time.Second)
	m.ModelCalled("http", "cut", 0, 0)
	body := do(t, "GET", start(t, Config{Handler: &fakeHandler{}, Registry: reg, Metrics: m}).URL+"/metrics", "").body
	for _, want := range []string{
		`molecule_codex_model_calls_total{outcome="ok",transport="websocket"} 2`, `molecule_codex_model_calls_total{outcome="cut",transport="http"} 1`,
		`molecule_codex_model_connect_seconds_sum{transport="websocket"} 0.06`, `molecule_codex_model_connect_seconds_count{transport="websocket"} 1`,
		`molecule_codex_model_first_byte_seconds_bucket{transport="websocket",le="0.5"} 1`, `molecule_codex_model_first_byte_seconds_sum{transport="websocket"} 2.4`,
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(body, `_seconds_count{transport="http"}`) {
		t.Error("what has not come is measured")
	}
}

// untold is what cannot be told just now.
var untold = prometheus.NewDesc("untold", "x", nil, nil)

type notTold struct{}

func (notTold) Describe(out chan<- *prometheus.Desc) { out <- untold }

func (notTold) Collect(out chan<- prometheus.Metric) {
	out <- prometheus.NewInvalidMetric(untold, errors.New("too slow"))
}

// TestOneThatCannotBeTold keeps none of the others back.
func TestOneThatCannotBeTold(t *testing.T) {
	reg := prometheus.NewRegistry()
	reg.MustRegister(notTold{})
	a := do(t, "GET", start(t, Config{Handler: &fakeHandler{}, Registry: reg}).URL+"/metrics", "")
	if a.status != 200 || !strings.Contains(a.body, "molecule_codex_streams_dropped_total 0\n") {
		t.Errorf("%d %s", a.status, a.body)
	}
}
