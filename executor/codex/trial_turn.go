package codex

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// A TurnTrial is what a codex is tried with: two turns on one thread, and a model that does what their
// messages say.
type TurnTrial struct {
	Thread Thread

	Tool      agent.Tool // the only one; the model calls it once in each turn
	Arguments string     // what it is called with, as JSON
	Answer    string     // what it answers, and what the model says of it in the first turn

	Work    string // the message of the first turn
	Printed string // by a command of the first turn; empty where it runs none

	Hold  string // the message of the second turn
	Steer string // what that turn is told while it waits for the tool
	Heard string // what the model says then; it says no more, and the turn is interrupted
}

// A StepError says which step of a trial did not come.
type StepError struct {
	Step string
	Err  error    // why it will not
	Said []string // by codex and the model meanwhile, the last words first; each on one line
}

// Error implements error.
func (e *StepError) Error() string {
	text := e.Step + " did not come: " + e.Err.Error()
	if len(e.Said) > 0 {
		text += "; said meanwhile, the last first: " + strings.Join(e.Said, "; ")
	}
	return text
}

// Unwrap returns why it did not.
func (e *StepError) Unwrap() error { return e.Err }

// TryTurn has a codex run the turns of a trial, and says which version it was. It returns a [StepError] where one
// of their steps does not come.
func TryTurn(ctx context.Context, p Process, t TurnTrial) (version string, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := &tryout{TurnTrial: t, stop: stop}
	cfg := p.config()
	cfg.OptOut, cfg.OnRequest, cfg.OnGlobal = unread(), r.asked, r.listen
	c, err := appserver.Start(ctx, cfg)
	if err != nil {
		return "", r.missed(stepStart, err)
	}
	r.codex.Store(c)
	err = r.run(ctx, c)
	if left := c.Close(); err == nil && left != nil {
		err = r.missed(stepClose, left)
	}
	return c.Info().Version(), err
}

// A tryout is a trial that goes on.
type tryout struct {
	TurnTrial
	codex atomic.Pointer[appserver.Client] // nil until it is started
	stop  context.CancelCauseFunc          // of the trial

	mu   sync.Mutex // guards the fields below
	on   *triedTurn // the one that runs; nil before the first
	said []string   // the last words first
}

// run does both turns.
func (r *tryout) run(ctx context.Context, c *appserver.Client) error {
	thread := r.Thread
	thread.DynamicTools = []agent.Tool{r.Tool}
	params := withoutDocuments(thread.params())
	session, err := c.ThreadStart(ctx, params)
	if err != nil {
		return r.missed(stepThread, err)
	}
	events := c.Subscribe(session.Thread.ID)
	defer events.Close()
	if want := params.ModelProvider; want != "" && session.ModelProvider != want {
		return r.missed(stepProvider, fmt.Errorf("the thread is one of %q, and has no turn", session.ModelProvider))
	}
	for _, turn := range []*triedTurn{r.first(), r.second()} {
		turn.thread = session.Thread.ID
		if err := r.try(ctx, c, events, turn); err != nil {
			return err
		}
	}
	return nil
}

// try does one turn, up to its end.
func (r *tryout) try(ctx context.Context, c *appserver.Client, events *appserver.Subscription, t *triedTurn) error {
	r.mu.Lock()
	r.on = t
	r.mu.Unlock()
	started, err := c.TurnStart(ctx, appserver.TurnStartParams{
		ThreadID: t.thread, ClientUserMessageID: t.message, Input: []appserver.UserInput{appserver.Text(t.text)},
	})
	if err != nil {
		return r.missed(t.where+stepAccepted, err)
	}
	t.id = started.ID
	err = r.follow(ctx, c, events, t)
	if cause := context.Cause(ctx); err != nil && cause != nil { // what came before the cause is there to be read
		err = cause
		for note, ok := events.Poll(); ok; note, ok = events.Poll() {
			r.take(t, note)
		}
	}
	if exit, ok := errors.AsType[*appserver.ExitError](err); ok {
		err = exit // whose thread it was is of no use
	}
	if err == nil {
		err = fmt.Errorf("the turn has ended as %s", t.status)
	}
	if step := t.missing(); step != "" {
		return r.missed(t.where+step, err)
	}
	return nil
}

// follow reads what comes of a turn until it has ended, and interrupts the one that is to be.
func (r *tryout) follow(ctx context.Context, c *appserver.Client, events *appserver.Subscription, t *triedTurn) error {
	for t.status == "" {
		note, err := events.Next(ctx)
		if err != nil {
			return err
		}
		r.take(t, note)
		if t.steer == "" || t.interrupted || !t.came(stepHeard) {
			continue
		}
		t.interrupted = true
		if err := c.TurnInterrupt(ctx, t.thread, t.id); err != nil {
			return err
		}
		t.mark(stepInterrupted)
	}
	return nil
}

// asked answers codex, on a goroutine of its own. In the turn that is spoken into the message comes
// before the tool's answer, so that the turn is there to take it.
func (r *tryout) asked(ctx context.Context, req *appserver.Request) {
	r.mu.Lock()
	t := r.on
	r.mu.Unlock()
	if req.Method != appserver.MethodToolCall || t == nil {
		r.say("codex asked by " + req.Method)
		_ = req.Refuse(appserver.CodeMethodNotFound, "not answered in a trial: "+req.Method)
		return
	}
	call, err := r.read(t, req)
	if err != nil {
		r.say(err.Error())
		_ = req.Reply(toolAnswer(agent.ToolResult{Text: "Error: " + err.Error(), Failed: true}))
		return
	}
	t.calledBy(call.TurnID)
	if t.steer != "" {
		if err := r.codex.Load().TurnSteer(ctx, appserver.TurnSteerParams{
			ThreadID: t.thread, ExpectedTurnID: call.TurnID, Input: []appserver.UserInput{appserver.Text(r.Steer)}, ClientUserMessageID: t.steer,
		}); err != nil {
			r.stop(err)
			return // the request is refused, and with it goes the thread
		}
		t.mark(stepSteered)
	}
	if err := req.Reply(toolAnswer(agent.ToolResult{Text: r.Answer})); err != nil {
		r.say(err.Error())
	}
}

// read reads a call, which has to be the one that the model makes.
func (r *tryout) read(t *triedTurn, req *appserver.Request) (call appserver.ToolCallParams, err error) {
	if err := json.Unmarshal(req.Params, &call); err != nil {
		return call, err
	}
	var arguments bytes.Buffer
	if err := json.Compact(&arguments, call.Arguments); err != nil {
		return call, err
	}
	if call.ThreadID != t.thread || call.Tool != r.Tool.Name || arguments.String() != r.Arguments {
		return call, fmt.Errorf("codex called %q with %s in thread %q, and not %q with %s in %q",
			call.Tool, arguments.String(), call.ThreadID, r.Tool.Name, r.Arguments, t.thread)
	}
	return call, nil
}

// listen takes what belongs to no thread.
func (r *tryout) listen(note appserver.Notification) {
	if note.Method == appserver.NoteConfigWarning {
		r.say("codex warned: " + warning(note))
	}
}

// Bounds of what is kept of the words of codex and the model.
const (
	mostSaid     = 4
	mostSaidEach = 300 // characters
)

// say keeps words for people who are told that something did not come.
func (r *tryout) say(words string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append([]string{brief.Line(words, mostSaidEach)}, r.said...)
	r.said = r.said[:min(len(r.said), mostSaid)]
}

// missed is the error of a step.
func (r *tryout) missed(step string, err error) error {
	if err == nil {
		err = errors.New("nothing says why")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return &StepError{Step: step, Err: err, Said: r.said}
}
