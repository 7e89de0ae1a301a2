package bench

// A bar is what the product promises of one measured value.
type bar struct {
	what   string
	row    string // of the results, without "Benchmark"
	unit   string
	limit  float64
	atMost bool // else it is at least limit
}

func (b bar) met(value float64) bool {
	if b.atMost {
		return value <= b.limit
	}
	return value >= b.limit
}

// bars are the promises, in the order of docs/benchmarks.md.
func bars() []bar {
	return []bar{
		{"added to a blocking turn, difference of the p50", "Turn/added-send-to-forwarded", "p50-ms", 1.5, true},
		{"the same, median of the differences of neighbors", "Turn/added-send-to-forwarded", "paired-ms", 1.5, true},
		{"added to the first text, difference of the p50", "Turn/added-first-text-to-forwarded", "p50-ms", 1, true},
		{"the same, median of the differences of neighbors", "Turn/added-first-text-to-forwarded", "paired-ms", 1, true},
		{"the forwarder counted as ours, too: added to a blocking turn", "Turn/added-send", "p50-ms", 1.5, true},
		{"the same, median of the differences of neighbors", "Turn/added-send", "paired-ms", 1.5, true},
		{"the same: added to the first text", "Turn/added-first-text", "p50-ms", 1, true},
		{"the same, median of the differences of neighbors", "Turn/added-first-text", "paired-ms", 1, true},
		{"a model 60 ms away: a turn, times that of the bare app-server over HTTP", "Link/60ms/short/to-bare-http", "times", 0.45, true},
		{"the same, times that of the bare app-server over a WebSocket", "Link/60ms/short/to-bare-websocket", "times", 1.03, true},
		{"a conversation of 800 kB, 60 ms and 20 Mbit/s: the same, over HTTP", "Link/60ms/long/to-bare-http", "times", 0.25, true},
		{"the same, over a WebSocket", "Link/60ms/long/to-bare-websocket", "times", 1.03, true},
		{"a turn with 10 tool calls, 60 ms: the same, over HTTP", "Link/60ms/tools/to-bare-http", "times", 0.45, true},
		{"the first turn after a pause, 60 ms: times one without a pause", "Link/60ms/pause/runtime-to-warm", "times", 1.1, true},
		{"our spans of a blocking turn, p50, from outside", "Spans/send", "p50-ms", 1.2, true},
		{"the same, p99", "Spans/send", "p99-ms", 3, true},
		{"our spans of a streamed turn, p99, from outside", "Spans/stream", "p99-ms", 3, true},
		{"our CPU time a delta, streamed in a burst", "Delta/burst/stream", "cpu-µs/delta", 1.5, true},
		{"our CPU time a blocking turn", "Turn/cpu-send", "runtime-ms", 3, true},
		{"added to a long streamed turn, a delta", "LongTurn/added-stream", "paired-µs/delta", 3, true},
		{"deltas a second, one reader", "FanOut/1-reader", "deltas/s", 100_000, false},
		{"deltas a second to each of 16 readers", "FanOut/16-readers", "deltas/s", 100_000, false},
		{"the same beside one that has stalled", "FanOut/16-readers-and-1-stalled", "deltas/s", 100_000, false},
		{"wire bytes a text byte, at 500 deltas a second", "Wire/500-a-second", "wire-bytes/byte", 6, true},
		{"tree of 64 loaded contexts, each", "Memory/64-loaded/context", "tree-pss-MiB", 5, true},
		{"our process, idle: 30 MB", "Memory/idle", "rss-MiB", 28.6, true},
		{"our process, 1,000 known contexts: 64 MB", "Memory/1000-known", "rss-MiB", 61, true},
		{"our process, at most, with 20 outputs of 8 MiB and 60 readers", "Outputs/as-it-comes", "peak-rss-MiB", 512, true},
		{"the same, and two of three readers are slow", "Outputs/slow-readers", "peak-rss-MiB", 512, true},
		{"the same without slow ones, times of the time that it takes without a limit", "Outputs/ratio", "times", 1.1, true},
		{"our layer of the container image", "Image/runtime", "size-MB", 40, true},
		{"start to /healthz, p99", "Start/healthz", "p99-ms", 50, true},
		{"start to /readyz, p99", "Start/readyz", "p99-ms", 500, true},
		{"a channel that has nothing to do, of a core", "Inbox/idle", "cpu-%", 0.2, true},
		{"the same: our process, 30 MB", "Inbox/idle", "rss-MiB", 28.6, true},
		{"a message in the inbox to its turn, beyond one poll", "Inbox/over-a-poll", "p50-ms", 5, true},
		{"the same, from the poll that tells of it", "Inbox/behind-the-poll", "p50-ms", 5, true},
		{"with 10,000 ended tasks: start to /healthz, p99", "Many/healthz", "p99-ms", 50, true},
		{"the same: a page of 50 of them", "Lists/list", "p50-ms", 3, true},
		{"the same, of a context", "Lists/list-context", "p50-ms", 3, true},
		{"the same, of a state", "Lists/list-status", "p50-ms", 3, true},
		{"the same, since a time", "Lists/list-after", "p50-ms", 3, true},
		{"the same, of a state that none is in", "Lists/list-none", "p50-ms", 3, true},
		{"the same: our process, 64 MB", "Many/10000-tasks", "rss-MiB", 61, true},
		{"with 50,000 ended tasks: start to /healthz, p99", "Lists/healthz-50000", "p99-ms", 50, true},
		{"the same: a page of 50 of them", "Lists/list-50000", "p50-ms", 5, true},
		{"the same, of a context", "Lists/list-context-50000", "p50-ms", 5, true},
		{"the same, of a state", "Lists/list-status-50000", "p50-ms", 5, true},
		{"the same, since a time", "Lists/list-after-50000", "p50-ms", 5, true},
		{"the same, of a state that none is in", "Lists/list-none-50000", "p50-ms", 5, true},
		{"a workspace: added to a turn, difference of the p50", "Presence/added-turn", "p50-ms", 1, true},
		{"the same, median of the differences of neighbors", "Presence/added-turn", "paired-ms", 1, true},
		{"the same, CPU time of our process", "Presence/turn-cpu", "added-ms", 1, true},
		{"a workspace: idle, share of a core", "Presence/idle", "workspace-%", 0.5, true},
		{"a turn with a command through runtime machine: added to codex's own connection, difference of the p50", "Machine/0ms/added", "p50-ms", 5, true},
		{"the same, median of the differences of neighbors", "Machine/0ms/added", "paired-ms", 5, true},
		{"the same, 30 ms away: no further round trip, so less than half of one, difference of the p50", "Machine/30ms/added", "p50-ms", 15, true},
		{"the same, median of the differences of neighbors", "Machine/30ms/added", "paired-ms", 15, true},
		{"commands that wait, on 4 machines: turns a second, of four times those on one", "Machines/4", "of-linear-times", 0.9, false},
		{"the same, on 2 machines, of twice those on one", "Machines/2", "of-linear-times", 0.9, false},
		{"work of a fifth of a core on each of 4 machines: turns a second, of four times those on one", "MachineShares/4", "of-linear-times", 0.9, false},
	}
}
