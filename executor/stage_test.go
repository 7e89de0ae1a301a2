package executor

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// stages are all that there are.
func stages() []stage { return slices.Sorted(maps.Keys(ways)) }

// TestWays: what the table does not have is said in the log, and what it has leads to the end from everywhere.
func TestWays(t *testing.T) {
	t.Parallel()
	for _, from := range stages() {
		for _, to := range append(stages(), stageGone) {
			var log bytes.Buffer
			e := New(Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}, &absent{})
			e.enter(&job{Job: Job{ID: "j"}, stage: from}, to)
			if wrong := strings.Contains(log.String(), "a way that there is not"); wrong == slices.Contains(ways[from], to) {
				t.Errorf("%s to %s: %q", from, to, log.String())
			}
		}
		if from != "" && from != stageTold && !slices.Contains(ways[from], stageTold) {
			t.Errorf("a job that is %s cannot be told of its end", from)
		}
	}
}

// TestCountsOfStages: on its way, whichever it takes, a job is counted where it is, and nowhere at its end.
func TestCountsOfStages(t *testing.T) {
	t.Parallel()
	waits := []stage{stageQueued, stageOffered, stageSent}
	begun := []stage{stageBegun, stageRunning, stageClosing, stageTold}
	e := New(Config{}, &absent{})
	var walk func(j *job, left int)
	walk = func(j *job, left int) {
		if e.waiting != count(slices.Contains(waits, j.stage)) || e.drain.begun != count(slices.Contains(begun, j.stage)) {
			t.Errorf("%s: %d wait, %d have begun", j.stage, e.waiting, e.drain.begun)
		}
		if left == 0 {
			if j.stage != stageTold && j.stage != stageGone {
				e.enter(j, stageTold)
			}
			if j.stage == stageTold {
				e.enter(j, stageGone)
			}
			return
		}
		for _, to := range ways[j.stage] {
			was := j.stage
			e.enter(j, to)
			walk(j, left-1)
			// Back to where the way forked, with what was counted there.
			e.mu.Lock()
			j.stage = was
			e.waiting, e.drain.begun = count(j.stage.waits()), count(j.stage.drains())
			e.mu.Unlock()
		}
	}
	walk(&job{}, 6)
}

// TestEntrances: what comes from outside meets a job in each of its stages.
func TestEntrances(t *testing.T) {
	t.Parallel()
	type what struct {
		steered  bool // a new message may go into its turn
		recalled bool // and one that an earlier process had accepted
		waits    bool // for a login, as a message of the user's that has no turn
		running  bool // by the overview
		asked    bool // by the overview it waits
	}
	for at, want := range map[stage]what{
		stageQueued:  {recalled: true, waits: true, asked: true},
		stageServed:  {recalled: true, waits: true, asked: true},
		stageBegun:   {recalled: true, waits: true, asked: true},
		stageRunning: {steered: true, recalled: true, running: true},
		stageClosing: {running: true},
		stageTold:    {},
		stageOffered: {}, stageSent: {}, stageTaken: {},
	} {
		e := New(Config{}, &absent{})
		ctx, cancel := context.WithCancelCause(t.Context())
		j := &job{
			Job: Job{ID: "j", Context: "c"}, stage: at, observe: func(agent.Event) {}, ctx: ctx, cancel: cancel, done: make(chan struct{}),
		}
		q := &queue{key: "c", current: j, idle: make(chan struct{})}
		e.jobs["j"], e.queues["c"] = j, q
		if at == stageOffered || at == stageSent || at == stageTaken {
			j.into, q.current = &job{Job: Job{ID: "into", Context: "c"}, stage: stageRunning, steers: []*job{j}}, nil
		}
		var got what
		got.waits, _ = hosting{e}.WhoWaits()
		var o Conversation
		q.overviewLocked(&o)
		got.running, got.asked = o.Running == "j", slices.Contains(o.Waiting, "j")
		got.steered = e.Steer("j", Job{ID: "new", Context: "c"}, func(agent.Event) {}) == nil
		got.recalled = e.Steer("j", Job{ID: "old", Context: "c", Accepted: true}, func(agent.Event) {}) == nil
		if got != want {
			t.Errorf("%s: %+v, want %+v", at, got, want)
		}
	}
}

// TestCancelOfStages: a job that has no turn, and no part in one, is told of its end at once; another one is asked to end.
func TestCancelOfStages(t *testing.T) {
	t.Parallel()
	for at, want := range map[stage]string{
		stageQueued: "ended", stageOffered: "ended", stageSent: "asked", stageTaken: "asked",
		stageServed: "waited for", stageBegun: "waited for", stageRunning: "waited for", stageClosing: "waited for",
	} {
		e := New(Config{}, &absent{})
		ctx, cancel := context.WithCancelCause(t.Context())
		ends := 0
		j := &job{
			Job: Job{ID: "j", Context: "c"}, stage: at, ctx: ctx, cancel: cancel, done: make(chan struct{}),
			observe: func(event agent.Event) {
				if end, ok := event.(agent.Ended); ok && end.Outcome == agent.Canceled {
					ends++
				}
			},
		}
		e.jobs["j"], e.queues["c"] = j, &queue{key: "c", idle: make(chan struct{})}
		switch at {
		case stageQueued:
			e.queues["c"].jobs = []*job{j}
		case stageOffered, stageSent, stageTaken:
			j.into = &job{Job: Job{ID: "into", Context: "c"}, stage: stageRunning, steers: []*job{j}}
			e.queues["c"].current = j.into
		default:
			e.queues["c"].current = j
		}
		patience, end := context.WithCancel(t.Context())
		end()
		err := e.Cancel(patience, "j")
		got := "asked"
		switch {
		case err != nil:
			got = "waited for"
		case ends == 1:
			got = "ended"
		}
		if got != want || context.Cause(j.ctx) == nil || (j.stage == stageGone) != (got == "ended") {
			t.Errorf("%s: it is %s, want %s; %s", at, got, want, j.stage)
		}
	}
}
