package codex_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakecodex"
)

const (
	trialCall = `try {"word":"given"}`
	callsTool = "!call " + trialCall
	holdsTool = "!call-hang " + trialCall

	// What codex says of a thread that has no turn any more, or not yet.
	idle = `"thread/status/changed","params":{"status":{"type":"idle"}`
)

// fakeTrial is what the fake codex can be tried with.
func fakeTrial() codex.TurnTrial {
	return codex.TurnTrial{
		Tool: agent.Tool{Name: "try", Schema: json.RawMessage(`{"type":"object"}`)}, Arguments: `{"word":"given"}`, Answer: "answered",
		Work: callsTool, Hold: holdsTool, Steer: "heard", Heard: "heard",
	}
}

// errEnough is why a test waits no longer.
var errEnough = errors.New("waited enough")

// An onLine ends a trial when a line has gone over the wire for the last of some times: nothing comes then.
type onLine struct {
	lockedBuffer
	line string
	stop context.CancelCauseFunc

	mu    sync.Mutex // guards the field below
	times int
}

func (o *onLine) Sent(line []byte)     { o.saw(line) }
func (o *onLine) Received(line []byte) { o.saw(line) }

func (o *onLine) saw(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.line == "" || !strings.Contains(string(line), o.line) {
		return
	}
	if o.times--; o.times == 0 {
		o.stop(errEnough)
	}
}

// TestTurnTrial names the step that a codex does not take, and says what is known of why.
func TestTurnTrial(t *testing.T) {
	died := "did not come: codex app-server ended (exit status 3): stderr: thread 'main' panicked in mid-turn"
	for name, c := range map[string]struct {
		script string
		change func(*codex.TurnTrial, *codex.Process)
		line   string // that the trial is ended at; empty where it ends by itself
		times  int    // that this line comes before that; 0 is once
		step   string // empty for none
		words  string
	}{
		"good": {},

		"no-codex":         {change: binIs("/no/such/codex"), step: "the start of codex", words: "no such file"},
		"ends-at-once":     {script: "exit 3", step: "the start of codex", words: "exit status 3"},
		"mute-at-start":    {script: "no-answer initialize", line: `"initialize"`, step: "the start of codex", words: "waited enough"},
		"no-thread":        {script: "refuse thread/start no room", step: "thread/start", words: "no room"},
		"another-provider": {change: provider, step: "a thread on the scripted model", words: `one of "fake"`},
		"turn-refused":     {script: "refuse turn/start not now", step: "the answer to turn/start", words: "not now"},
		"turn-unanswered":  {change: worksBy("!no-start-answer"), line: `"turn/completed"`, step: "the answer to turn/start", words: "waited enough"},

		"turn-not-started":     {change: worksBy("!begin-late 600000"), line: idle, step: "turn/started", words: "waited enough"},
		"no-message":           {change: worksBy(callsTool + " message"), step: "userMessage", words: "ended as completed"},
		"no-call":              {change: worksBy("hello"), step: "item/tool/call", words: `the model said "hello"`},
		"another-call":         {change: worksBy(`!call try {"word":"other"}`), step: "item/tool/call", words: `codex called "try" with {"word":"other"}`},
		"call-of-another-turn": {change: worksBy(`!ask item/tool/call {"tool":"try","arguments":{"word":"given"},"turnId":"another"}`), step: "item/tool/call", words: "ended as completed"},
		"another-question":     {change: worksBy("!ask item/fileChange/requestApproval"), step: "item/tool/call", words: "codex asked by item/fileChange/requestApproval"},
		"fails":                {change: worksBy("!fail other out of luck"), step: "item/tool/call", words: "codex said: out of luck"},
		"dies":                 {change: worksBy("!die 3"), step: "item/tool/call", words: died},
		"no-items":             {change: worksBy(callsTool + " items"), step: "dynamicToolCall", words: "ended as completed"},
		"no-start-of-an-item":  {change: worksBy(callsTool + " start"), step: "dynamicToolCall", words: "ended as completed"},
		"no-answer":            {change: worksBy(callsTool + " answer"), step: "the tool's answer at the model", words: `the model said "something else"`},
		"no-command":           {change: printed, step: "commandExecution", words: "ended as completed"},
		"no-deltas":            {change: worksBy(callsTool + " deltas"), step: "item/agentMessage/delta", words: `of that, "" was streamed`},
		"no-deltas-at-first":   {change: worksBy(callsTool + " first"), step: "item/agentMessage/delta", words: `the model said "so far"`},
		"no-end":               {change: worksBy(callsTool + " end"), line: idle, step: "the end of the turn (turn/completed)", words: "waited enough"},

		"second-no-call":         {change: holdsBy("hello"), step: "in the second turn, the call of the tool", words: "ended as completed"},
		"second-dies":            {change: holdsBy("!die 3"), step: "item/tool/call", words: died},
		"steer-refused":          {script: "refuse turn/steer not that", step: "the answer to turn/steer", words: "not that"},
		"steer-unanswered":       {script: "unanswered turn/steer", line: `"trial.3"`, times: 2, step: "the answer to turn/steer", words: "waited enough"},
		"steer-lost":             {script: "lose-steers", line: `"agentMessage"`, times: 4, step: "the message of turn/steer", words: "waited enough"},
		"interrupt-refused":      {script: "refuse turn/interrupt never", step: "the answer to turn/interrupt", words: "never"},
		"interrupt-unanswered":   {script: "no-answer turn/interrupt", line: "turn/interrupt", step: "the answer to turn/interrupt", words: "waited enough"},
		"not-interrupted":        {change: holdsBy(holdsTool + " end"), line: idle, times: 2, step: "in the second turn, the end of the interrupted turn", words: "waited enough"},
		"does-not-end-by-itself": {script: "ignore-end; ignore-term", step: "the end of codex", words: "was killed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			trial := fakeTrial()
			p := codex.Process{Grace: 500 * time.Millisecond, Wire: &onLine{line: c.line, times: max(c.times, 1), stop: stop}}
			p.Bin, p.Env = fakecodex.Command("state " + t.TempDir() + "; " + c.script)
			if c.change != nil {
				c.change(&trial, &p)
			}
			_, err := codex.TryTurn(ctx, p, trial)
			if c.step == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			missed, ok := errors.AsType[*codex.StepError](err)
			if !ok || !strings.Contains(missed.Step, c.step) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%v, want the step %q, with %q", err, c.step, c.words)
			}
		})
	}
}

func binIs(path string) func(*codex.TurnTrial, *codex.Process) {
	return func(_ *codex.TurnTrial, p *codex.Process) { p.Bin = path }
}

func worksBy(text string) func(*codex.TurnTrial, *codex.Process) {
	return func(t *codex.TurnTrial, _ *codex.Process) { t.Work = text }
}

func holdsBy(text string) func(*codex.TurnTrial, *codex.Process) {
	return func(t *codex.TurnTrial, _ *codex.Process) { t.Hold = text }
}

func provider(t *codex.TurnTrial, _ *codex.Process) { t.Thread.ModelProvider = "scripted" }

func printed(t *codex.TurnTrial, _ *codex.Process) { t.Printed = "printed" }
