package bench

import (
	"fmt"
	"strings"
)

// A figure is a plot of a run: which rows it shows, and how.
type figure struct {
	file    string // under docs/images
	title   string
	caption string
	unit    string     // shown
	of      string     // the unit of the rows that is drawn, "" for the quantiles of ms
	key     []string   // of the parts of a bar
	parts   []string   // units of the parts, where one row has them all
	limit   [2]string  // row and unit of the bar that is drawn, or nothing
	rows    [][]string // label, and the row; of a bar without parts, the rows of its parts
}

// figures are the plots of docs/benchmarks.md, in its order. A figure of which the run
// has no row is left out.
func figures() []figure {
	return []figure{
		{
			file: "bench-turn", title: "A turn, and its first text, over the bare app-server", unit: "ms",
			caption: "The same turn on the real codex with a model that answers at once: a client that speaks to `codex app-server` directly, and through the runtime over HTTP. Nearly all of it is codex.",
			rows: [][]string{
				{"bare app-server", "Turn/bare"},
				{"bare, by a forwarder", "Turn/forwarded"},
				{"runtime, SendMessage", "Turn/send"},
				{"runtime, stream", "Turn/stream"},
				{"bare, first text", "Turn/bare-first-text"},
				{"by a forwarder, first text", "Turn/forwarded-first-text"},
				{"runtime, first text", "Turn/stream-first-text"},
			},
		},
		{
			file: "bench-exec", title: "A turn by each way of driving codex", unit: "ms",
			caption: "What a program pays for each turn that starts `codex exec resume` instead of keeping an app-server.",
			rows:    [][]string{{"codex exec resume", "ExecResume/exec-resume"}, {"bare app-server", "ExecResume/bare"}, {"runtime", "ExecResume/send"}},
		},
		{
			file: "bench-link", title: "A turn whose model is 60 ms away", unit: "ms",
			caption: "The round trip to the model is 60 ms. The long conversation has 800 kB, and an uplink of 20 Mbit/s; the pause is longer than the model's side keeps a connection that is idle.",
			rows: [][]string{
				{"short, bare over HTTP", "Link/60ms/short/bare-http"},
				{"short, bare, WebSocket", "Link/60ms/short/bare-websocket"},
				{"short, runtime", "Link/60ms/short/runtime"},
				{"long, bare over HTTP", "Link/60ms/long/bare-http"},
				{"long, bare, WebSocket", "Link/60ms/long/bare-websocket"},
				{"long, runtime", "Link/60ms/long/runtime"},
				{"pause, bare over HTTP", "Link/60ms/pause/bare-http"},
				{"pause, bare, WebSocket", "Link/60ms/pause/bare-websocket"},
				{"pause, runtime", "Link/60ms/pause/runtime"},
			},
		},
		{
			file: "bench-distance", title: "A short turn, by the round trip to the model", unit: "ms",
			caption: "A new connection for each request costs three round trips; a connection that is kept costs one.",
			rows: [][]string{
				{"0 ms, bare over HTTP", "Link/0ms/short/bare-http"},
				{"0 ms, bare, WebSocket", "Link/0ms/short/bare-websocket"},
				{"0 ms, runtime", "Link/0ms/short/runtime"},
				{"10 ms, bare over HTTP", "Link/10ms/short/bare-http"},
				{"10 ms, bare, WebSocket", "Link/10ms/short/bare-websocket"},
				{"10 ms, runtime", "Link/10ms/short/runtime"},
				{"60 ms, bare over HTTP", "Link/60ms/short/bare-http"},
				{"60 ms, bare, WebSocket", "Link/60ms/short/bare-websocket"},
				{"60 ms, runtime", "Link/60ms/short/runtime"},
				{"150 ms, bare over HTTP", "Link/150ms/short/bare-http"},
				{"150 ms, bare, WebSocket", "Link/150ms/short/bare-websocket"},
				{"150 ms, runtime", "Link/150ms/short/runtime"},
			},
		},
		{
			file: "bench-spans", title: "Our own share of a turn", unit: "ms", limit: [2]string{"Spans/send", "p99-ms"},
			caption: "Without codex's own time, seen from outside: client, kernel and two processes' wake-ups are in it. The bar is for the 99 % of the two whole turns.",
			rows: [][]string{
				{"a request that does nothing", "Spans/healthz"},
				{"first text, whole", "Spans/first-text"},
				{"blocking turn, way in", "Spans/send-in"},
				{"blocking turn, way out", "Spans/send-out"},
				{"blocking turn, whole", "Spans/send"},
				{"streamed turn, whole", "Spans/stream"},
			},
		},
		{
			file: "bench-delta", title: "Our CPU time for each delta that codex writes", unit: "µs", of: "cpu-µs/delta", key: []string{"CPU"},
			limit:   [2]string{"Delta/burst/stream", "cpu-µs/delta"},
			caption: "In a burst, as fast as codex can write. Of the readers' rows, all readers are in it: an event is encoded once for all.",
			rows: [][]string{
				{"no stream", "Delta/burst/send"},
				{"one stream", "Delta/burst/stream"},
				{"1 reader, as fast as it goes", "FanOut/1-reader"},
				{"16 readers", "FanOut/16-readers"},
			},
		},
		{
			file: "bench-readers", title: "What each reader of one turn gets", unit: "deltas/s", of: "deltas/s", key: []string{"delivered"},
			limit:   [2]string{"FanOut/1-reader", "deltas/s"},
			caption: "A codex that writes 600,000 deltas as fast as it can, on the same cores as the readers. One reader that stalls costs the others nothing.",
			rows: [][]string{
				{"1 reader", "FanOut/1-reader"},
				{"16 readers", "FanOut/16-readers"},
				{"16, and one that stalls", "FanOut/16-readers-and-1-stalled"},
			},
		},
		{
			file: "bench-memory", title: "Memory by loaded contexts", unit: "MiB", key: []string{"runtime", "codex and what it starts"},
			parts:   []string{"pss-MiB", "codex-pss-MiB"},
			caption: "Proportional set size of the whole tree, one process of ours and one codex, after each context had a turn.",
			rows:    [][]string{{"idle", "Memory/idle"}, {"1 context", "Memory/1-loaded"}, {"16 contexts", "Memory/16-loaded"}, {"64 contexts", "Memory/64-loaded"}},
		},
		{
			file: "bench-start", title: "From the start of the process", unit: "ms",
			caption: "Until the first 200: of `/healthz`, and of `/readyz`, which has started codex and tried its sandbox by then.",
			rows:    [][]string{{"/healthz", "Start/healthz"}, {"/readyz", "Start/readyz"}, {"/healthz, 10,000 tasks", "Many/healthz"}},
		},
		{
			file: "bench-recovery", title: "From a SIGKILL to the next answer", unit: "ms",
			caption: "Whole turns on the real codex in a conversation that has to be resumed. A turn of text that was cut off runs again by itself; its caller has been waiting all along, or finds the answer when the runtime is back.",
			rows: [][]string{
				{"codex killed, idle", "Recovery/codex-idle"},
				{"codex killed in a turn", "Recovery/codex-cut-turn"},
				{"the same, another's turn", "Recovery/codex-next-turn"},
				{"runtime killed in a turn", "Recovery/runtime-cut-turn"},
			},
		},
		{
			file: "bench-image", title: "The container image, unpacked", unit: "MB", of: "size-MB", key: []string{"runtime", "codex", "Debian and tools"},
			caption: "Unpacked, as `make image-test` builds it, which puts the same packages into a stand-in for the base image of the registry. Layers are compressed on their way from a registry. Measured on {image}.",
			rows:    [][]string{{"on disk", "Image/runtime", "Image/codex", "Image/base"}},
		},
	}
}

// plot takes what a figure shows out of a run; without any row of it there is none.
func (f figure) plot(r report, bars []bar) (plot, bool, error) {
	p := plot{title: f.title, unit: f.unit, key: f.key}
	for _, names := range f.rows {
		row := plotRow{label: names[0]}
		for _, name := range names[1:] {
			result, ok := r.find(name)
			switch {
			case !ok && !r.ran(name):
				continue
			case !ok:
				return p, false, fmt.Errorf("%s: there is no %s", f.file, name)
			}
			if err := row.take(f, result); err != nil {
				return p, false, err
			}
		}
		if row.values != nil || row.parts != nil {
			p.rows = append(p.rows, row)
		}
	}
	for _, b := range bars {
		if b.row == f.limit[0] && b.unit == f.limit[1] {
			p.limit = &b
		}
	}
	return p, len(p.rows) > 0, nil
}

// take takes a row's values.
func (r *plotRow) take(f figure, result result) error {
	units := f.parts
	if f.of != "" {
		units = []string{f.of}
	}
	for _, unit := range units {
		value, ok := result.values[unit]
		if !ok {
			return fmt.Errorf("%s: there is no %s of %s", f.file, unit, result.name)
		}
		r.parts = append(r.parts, value)
	}
	if units != nil {
		return nil
	}
	r.values = map[string]float64{}
	for unit, value := range result.values {
		if quantile, ok := strings.CutSuffix(unit, "-ms"); ok {
			r.values[quantile] = value
		}
	}
	if _, ok := r.values["p50"]; !ok {
		return fmt.Errorf("%s: there is no p50-ms of %s", f.file, result.name)
	}
	return nil
}
