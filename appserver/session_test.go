package appserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

func TestTurn(t *testing.T) {
	c := start(t, "")
	id, events := thread(t, c)
	turn(t, c, id, "some words & <more>")
	all := collect(t, events, appserver.NoteTurnCompleted)
	var methods []string
	for _, n := range all {
		if n.ThreadID != id {
			t.Errorf("%s of thread %q in the queue of %q", n.Method, n.ThreadID, id)
		}
		methods = append(methods, n.Method)
	}
	want := []string{
		"thread/started", "thread/status/changed", "turn/started",
		"item/started", "item/completed", "item/started",
		"item/agentMessage/delta", "item/agentMessage/delta", "item/agentMessage/delta", "item/agentMessage/delta",
		"item/completed", "thread/tokenUsage/updated", "thread/status/changed", "turn/completed",
	}
	if diff := cmp.Diff(want, methods); diff != "" {
		t.Errorf("methods (-want +got):\n%s", diff)
	}
	if got := text(t, all); got != "some words & <more>" {
		t.Errorf("text = %q", got)
	}
	turns, err := c.TurnsList(patient(t), id, 1, true)
	if err != nil || len(turns) != 1 || turns[0].Status != appserver.TurnCompleted || len(turns[0].Items) != 2 {
		t.Errorf("TurnsList = %+v, %v", turns, err)
	}
	if stats := c.Stats(); stats != (appserver.Stats{}) {
		t.Errorf("Stats = %+v in a healthy session", stats)
	}
}

// TestAnswerThatHasBeenRead counts, although whoever waits for it gives up before it
// has come to him: what codex says next, as that a turn is over, may be why he does.
func TestAnswerThatHasBeenRead(t *testing.T) {
	c := start(t, "")
	id, events := thread(t, c)
	turn(t, c, id, "words")
	collect(t, events, appserver.NoteTurnCompleted)
	for range 100 {
		ctx, giveUp := context.WithCancel(t.Context())
		err := c.CallHearing(ctx, "thread/turns/list", map[string]any{"threadId": id}, giveUp)
		if giveUp(); err != nil {
			t.Fatalf("the answer is lost: %v", err)
		}
	}
	if stats := c.Stats(); stats != (appserver.Stats{}) {
		t.Errorf("Stats = %+v", stats)
	}
}

func TestThreadsDoNotMix(t *testing.T) {
	var mu sync.Mutex
	var global []appserver.Notification
	c := start(t, "", func(cfg *appserver.Config) {
		cfg.OnGlobal = func(n appserver.Notification) {
			mu.Lock()
			defer mu.Unlock()
			global = append(global, n)
		}
	})
	var wg sync.WaitGroup
	for _, words := range []string{"a a a a", "b b b b", "c c c c", "!subagent d"} {
		id, events := thread(t, c)
		wg.Go(func() {
			for range 20 {
				turn(t, c, id, words)
				if got := text(t, collect(t, events, appserver.NoteTurnCompleted)); got != words {
					t.Errorf("text = %q, want %q", got, words)
				}
			}
		})
	}
	wg.Wait()
	mu.Lock()
	defer mu.Unlock()
	if got := text(t, global); got != strings.Repeat("not yours", 20) {
		t.Errorf("of subagents, OnGlobal was told %q", got)
	}
	if n := count(global, "thread/started"); n != 20 || global[0].ThreadID == "" {
		t.Errorf("OnGlobal was told of %d subagent threads, want 20 with their ids", n)
	}
}

func TestRefusals(t *testing.T) {
	c := start(t, "refuse account/read thread X already has an active writer; refuse rate -32001")
	id, events := thread(t, c)
	ctx := patient(t)
	_, resumed := c.ThreadResume(ctx, appserver.ThreadResumeParams{ThreadID: "nobody"})
	_, started := c.TurnStart(ctx, appserver.TurnStartParams{ThreadID: "nobody"})
	_, writer := c.AccountRead(ctx, false)
	idle := c.TurnInterrupt(ctx, id, "x")
	running := turn(t, c, id, "!hang")
	staleInterrupt := c.TurnInterrupt(ctx, id, "x")
	staleSteer := c.TurnSteer(ctx, appserver.TurnSteerParams{ThreadID: id, ExpectedTurnID: "x"})
	if err := c.TurnInterrupt(ctx, id, running.ID); err != nil {
		t.Error(err)
	}
	last := collect(t, events, appserver.NoteTurnCompleted)
	if got := decode[appserver.TurnNote](t, last[len(last)-1]).Turn.Status; got != appserver.TurnInterrupted {
		t.Errorf("status = %q", got)
	}
	is := func(name string, got bool, err error) {
		t.Helper()
		if !got {
			t.Errorf("%s is false for %v", name, err)
		}
	}
	is("IsNoRollout", appserver.IsNoRollout(resumed), resumed)
	is("IsThreadGone", appserver.IsThreadGone(started), started)
	is("IsActiveWriter", appserver.IsActiveWriter(writer), writer)
	is("IsNoActiveTurn", appserver.IsNoActiveTurn(idle), idle)
	for _, err := range []error{staleInterrupt, staleSteer} {
		if found, ok := appserver.StaleTurn(err); !ok || found != running.ID {
			t.Errorf("StaleTurn(%v) = %q, %v", err, found, ok)
		}
	}
	if appserver.IsThreadGone(resumed) || appserver.IsNoRollout(context.Canceled) {
		t.Error("a refusal is taken for another")
	}
	if n := c.QueuedThreads(); n != 1 {
		t.Errorf("%d queues after a failed resume, want 1", n)
	}
}

func TestGivenUpCallLeavesNothing(t *testing.T) {
	c := start(t, "no-answer account/read")
	for range 50 {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errEnough)
		if _, err := c.AccountRead(ctx, false); !errors.Is(err, errEnough) {
			t.Fatalf("AccountRead = %v", err)
		}
		cancel()
	}
	// The library forgets a call when it reads the made-up answer, which it does
	// in order: after a further call has been answered, it has.
	thread(t, c)
	if ours, library := c.PendingCalls(); ours != 0 || library != 0 {
		t.Errorf("pending calls: %d of ours, %d of the library", ours, library)
	}
}

// A sentWire does something when a call is on its way to the child: from then on it can
// only be answered.
type sentWire struct {
	wireText
	on   string
	then func()
}

func (w *sentWire) Sent(line []byte) {
	if strings.Contains(string(line), w.on) {
		w.then()
	}
}

func TestLateAnswerIsIgnored(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	wire := &sentWire{on: "thread/start", then: func() { cancel(errEnough) }}
	c := start(t, "slow thread/start 2000", func(cfg *appserver.Config) { cfg.Wire = wire })
	if _, err := c.ThreadStart(ctx, appserver.ThreadStartParams{}); !errors.Is(err, errEnough) {
		t.Fatalf("ThreadStart = %v", err)
	}
	id, events := thread(t, c) // answered after the first, by its own answer
	turn(t, c, id, "hello")
	collect(t, events, appserver.NoteTurnCompleted)
	for deadline := time.Now().Add(time.Minute); c.Stats().LateAnswers == 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if c.Stats().LateAnswers != 1 || c.QueuedThreads() != 1 {
		t.Errorf("late answers %d, queues %d; want 1 and 1", c.Stats().LateAnswers, c.QueuedThreads())
	}
}

func TestNoiseIsSkipped(t *testing.T) {
	c := start(t, "noise; string-answers")
	id, events := thread(t, c)
	turn(t, c, id, "hello")
	if got := text(t, collect(t, events, appserver.NoteTurnCompleted)); got != "hello" {
		t.Errorf("text = %q", got)
	}
	if c.Stats().NoiseLines < 10 {
		t.Errorf("noise lines = %d", c.Stats().NoiseLines)
	}
}

func TestRequests(t *testing.T) {
	answer := func(_ context.Context, r *appserver.Request) {
		if err := r.Reply(r.Params); err != nil {
			panic(err)
		}
		if err := r.Refuse(1, "again"); !errors.Is(err, appserver.ErrAnswered) {
			panic(err)
		}
	}
	refuse := func(_ context.Context, r *appserver.Request) { _ = r.Refuse(-32601, "not here") }
	leave := func(context.Context, *appserver.Request) {}
	tests := map[string]struct {
		script string
		on     func(context.Context, *appserver.Request)
		want   string
	}{
		"replied":     {"", answer, `"command":"rm -rf \u003c\u0026\u003e"`},
		"string-id":   {"ids string", answer, `"command"`},
		"negative-id": {"ids negative", answer, `"command"`},
		"refused":     {"ids negative", refuse, `"code":-32601`},
		"left-open":   {"", leave, `"code":-32601`},
		"no-handler":  {"", nil, `"code":-32601`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := start(t, test.script, func(cfg *appserver.Config) { cfg.OnRequest = test.on })
			id, events := thread(t, c)
			turn(t, c, id, "!ask item/commandExecution/requestApproval")
			if got := text(t, collect(t, events, appserver.NoteTurnCompleted)); !strings.Contains(got, test.want) {
				t.Errorf("the child was answered %s, want %s", got, test.want)
			}
		})
	}
}

// Handlers may take their time: reading goes on, and the child's end ends them.
func TestRequestHandlerEndsWithTheChild(t *testing.T) {
	asked := make(chan *appserver.Request)
	cause := make(chan error, 1)
	c := start(t, "", func(cfg *appserver.Config) {
		cfg.OnRequest = func(ctx context.Context, r *appserver.Request) {
			asked <- r
			<-ctx.Done()
			cause <- context.Cause(ctx)
		}
	})
	id, _ := thread(t, c)
	turn(t, c, id, "!ask item/tool/call")
	r := <-asked
	other, events := thread(t, c)
	turn(t, c, other, "!flood 3000 200") // through the buffer that the request was read into
	collect(t, events, appserver.NoteTurnCompleted)
	if r.ThreadID != id || r.Method != "item/tool/call" || string(r.ID) != "0" || !json.Valid(r.Params) {
		t.Errorf("request = %+v", r)
	}
	c.Kill()
	exit(t, <-cause, "signal: killed")
	<-c.Done()
}

func TestLongLines(t *testing.T) {
	c := start(t, "long account/read 3000000", func(cfg *appserver.Config) { cfg.MaxLine = 1 << 20 })
	id, events := thread(t, c)
	_, others := thread(t, c)
	turn(t, c, id, "!line 700000")
	all := collect(t, events, appserver.NoteTurnCompleted)
	if count(all, appserver.NoteOverflow) != 0 {
		t.Error("a line below the bound was dropped")
	}
	turn(t, c, id, "!line 5000000")
	all = collect(t, events, appserver.NoteTurnCompleted)
	var lost appserver.OverflowNote
	for _, n := range all {
		if n.Method == appserver.NoteOverflow {
			lost = decode[appserver.OverflowNote](t, n)
		}
	}
	if lost.Method != appserver.NoteItemCompleted || lost.Bytes < 5_000_000 || lost.Deltas {
		t.Errorf("the owner was told %+v", lost)
	}
	if got := text(t, all); got != "!line 5000000" {
		t.Errorf("text = %q: reading must go on", got)
	}
	_, err := c.AccountRead(patient(t), false)
	if tooLong, ok := errors.AsType[*appserver.TooLongError](err); !ok || tooLong.Bytes < 3_000_000 {
		t.Errorf("AccountRead = %v, want a TooLongError", err)
	}
	c.Kill()
	if rest, _ := drain(t, others); count(rest, appserver.NoteOverflow) != 0 {
		t.Error("another thread was told of it")
	}
}

// A reader that stalls costs nobody anything but its own deltas.
func TestFullQueueDropsDeltasOnly(t *testing.T) {
	c := start(t, "", func(cfg *appserver.Config) { cfg.QueueBytes = 64 << 10 })
	id, events := thread(t, c)
	other, otherEvents := thread(t, c)
	turn(t, c, id, "!flood 60000 100")
	turn(t, c, other, "meanwhile")
	if got := text(t, collect(t, otherEvents, appserver.NoteTurnCompleted)); got != "meanwhile" {
		t.Errorf("text of the other thread = %q", got)
	}
	for c.Stats().DeltasDropped < 50_000 {
		time.Sleep(time.Millisecond)
	}
	all := collect(t, events, appserver.NoteTurnCompleted)
	kept := count(all, appserver.NoteAgentMessageDelta)
	if kept == 0 || kept+int(c.Stats().DeltasDropped) != 60_000 {
		t.Errorf("%d deltas kept and %d dropped, of 60000", kept, c.Stats().DeltasDropped)
	}
	if n := count(all, appserver.NoteOverflow); n == 0 {
		t.Error("the gap is not marked")
	}
	for _, method := range []string{appserver.NoteTurnStarted, appserver.NoteItemCompleted, appserver.NoteTokenUsage} {
		if count(all, method) == 0 {
			t.Errorf("%s was dropped", method)
		}
	}
}

func TestSubscriptions(t *testing.T) {
	c := start(t, "")
	id, first := thread(t, c)
	turn(t, c, id, "one")
	second := c.Subscribe(id)
	if _, err := first.Next(patient(t)); !errors.Is(err, appserver.ErrUnsubscribed) {
		t.Errorf("Next of a replaced subscription = %v", err)
	}
	first.Close() // of no consequence to the second
	if got := text(t, collect(t, second, appserver.NoteTurnCompleted)); got != "one" {
		t.Errorf("text = %q: what the first had not read is lost", got)
	}
	if err := c.ThreadUnsubscribe(patient(t), id); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ThreadResume(patient(t), appserver.ThreadResumeParams{ThreadID: id}); err != nil {
		t.Fatal(err)
	}
	turn(t, c, id, "two")
	for { // until all of it has been read from the child
		turns, err := c.TurnsList(patient(t), id, 1, false)
		if err != nil {
			t.Fatal(err)
		}
		if turns[0].Status == appserver.TurnCompleted && len(turns[0].Items) == 2 {
			break
		}
	}
	second.Close()
	if _, err := second.Next(patient(t)); !errors.Is(err, appserver.ErrUnsubscribed) {
		t.Errorf("Next after Close = %v", err)
	}
	third := c.Subscribe(id)
	if got := text(t, collect(t, third, appserver.NoteTurnCompleted)); got != "two" {
		t.Errorf("text = %q: what came between resume and subscribe is lost", got)
	}
	third.Close()
	if n := c.QueuedThreads(); n != 0 {
		t.Errorf("%d queues left", n)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errEnough)
	defer cancel()
	fourth := c.Subscribe(id)
	defer fourth.Close()
	if _, err := fourth.Next(ctx); !errors.Is(err, errEnough) {
		t.Errorf("Next = %v", err)
	}
}

func TestWireRecord(t *testing.T) {
	var wire wireText
	c := start(t, "noise", func(cfg *appserver.Config) { cfg.Wire = &wire })
	id, events := thread(t, c)
	turn(t, c, id, "hello")
	collect(t, events, appserver.NoteTurnCompleted)
	c.Kill()
	<-c.Done()
	got := wire.String()
	for _, want := range []string{
		`-> {"method":"initialize","id":1,"params":{`, "\n-> {\"method\":\"initialized\"}\n",
		`<- {"id":1,"result":{`, `<- {"foo":1}`, `"delta":"hello"`, "started ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the record lacks %s", want)
		}
	}
	if lines := strings.Split(strings.TrimSpace(got), "\n"); !strings.Contains(lines[len(lines)-1], "ended {State:signal: killed Code:-1 Cause:killed by us Ours:true") {
		t.Errorf("the last line is %s", lines[len(lines)-1])
	}
	if strings.Contains(got, "jsonrpc") {
		t.Error("we sent a member that codex does not use")
	}
}
