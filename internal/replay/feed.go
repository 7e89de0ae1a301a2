package replay

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/wirelog"
)

// A feed is what the executor reads of the world around it, as the record has it. It
// is the executor's book, too. Methods are called concurrently.
type feed struct {
	env  []string                     // of the relay
	due  chan executor.RecordedLaunch // those that the player has come to
	quit context.Context

	mu       sync.Mutex // guards the fields below
	launches []*executor.RecordedLaunch
	started  bool // of the last of them; while they are found
	pasts    map[string][]executor.RecordedPast
	used     map[string][]executor.RecordedFact
	turned   map[string][]executor.RecordedFact
	vanished map[string][]executor.RecordedFact
	traces   map[string][]executor.RecordedTrace
	lent     map[string][]executor.RecordedLent
	words    string                          // the instructions
	config   map[string]any                  // of threads
	large    map[string]string               // the file that is too large for codex, by the folder of a turn
	results  map[string]*executor.ToolResult // of tools, by their calls
}

// newFeed finds in a run what the executor has read.
func newFeed(ctx context.Context, r *run, env []string) (*feed, error) {
	f := &feed{
		due: make(chan executor.RecordedLaunch, len(r.entries)), env: env, quit: ctx, pasts: map[string][]executor.RecordedPast{}, used: map[string][]executor.RecordedFact{},
		turned: map[string][]executor.RecordedFact{}, vanished: map[string][]executor.RecordedFact{}, traces: map[string][]executor.RecordedTrace{},
		lent:    map[string][]executor.RecordedLent{},
		large:   map[string]string{},
		results: toolResults(r),
	}
	for _, e := range r.entries {
		if err := f.learn(e); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *feed) learn(e *entry) error {
	switch e.Event {
	case wirelog.EventChild:
		f.started = true
	case wirelog.EventEnd:
		end, err := decode[appserver.End](e)
		if n := len(f.launches); n > 0 && !f.started { // it could not be executed
			f.launches[n-1].Error = end.Cause
		}
		return err
	case executor.RecordLaunch:
		f.started = false
		launch, err := decode[executor.RecordedLaunch](e)
		f.launches = append(f.launches, &launch)
		return err
	case executor.RecordPast:
		past, err := decode[executor.RecordedPast](e)
		f.pasts[past.Conversation] = append(f.pasts[past.Conversation], past)
		return err
	case executor.RecordLent:
		lent, err := decode[executor.RecordedLent](e)
		f.lent[lent.Job] = append(f.lent[lent.Job], lent)
		return err
	case executor.RecordTrace:
		trace, err := decode[executor.RecordedTrace](e)
		f.traces[trace.ClientID] = append(f.traces[trace.ClientID], trace)
		return err
	case executor.RecordUsed, executor.RecordTurned, executor.RecordVanished:
		fact, err := decode[executor.RecordedFact](e)
		into := map[string]map[string][]executor.RecordedFact{
			executor.RecordUsed: f.used, executor.RecordTurned: f.turned, executor.RecordVanished: f.vanished,
		}[e.Event]
		into[fact.Of] = append(into[fact.Of], fact)
		return err
	}
	return nil
}

// next takes the first of what the record has for a key; the last one stays.
func next[T any](f *feed, from map[string][]T, key string) (T, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := from[key]
	if len(all) == 0 {
		var none T
		return none, false
	}
	if len(all) > 1 {
		from[key] = all[1:]
	}
	return all[0], true
}

// launch lets the program start codex as it did next.
func (f *feed) launch() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.launches) > 0 {
		f.due <- *f.launches[0] // there is room for all
		f.launches = f.launches[1:]
	}
}

// prepare implements [executor.Config].Prepare. It waits until the record has a start.
func (f *feed) prepare(ctx context.Context) (executor.Launch, error) {
	var l executor.RecordedLaunch
	select {
	case l = <-f.due:
	case <-ctx.Done():
		return executor.Launch{}, context.Cause(ctx)
	}
	f.forgetThreads()
	launch := executor.Launch{Env: f.env, Thread: f.threadConfig, Oversized: f.oversized, Model: l.Model, ModelProvider: l.ModelProvider, KeyVariable: l.KeyVariable}
	switch {
	case l.Error == "":
		return launch, nil
	case l.Unready:
		return launch, executor.Unready(l.Error)
	}
	return launch, errors.New(l.Error)
}

// configureThreads says what threads are loaded with from now on.
func (f *feed) configureThreads(config map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.config = config
}

func (f *feed) threadConfig() map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.config
}

// forgetThreads has what is recorded of threads begin anew, as it does with each launch.
func (f *feed) forgetThreads() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.config = nil
	clear(f.large)
}

// setOversized says which file is too large for codex, for turns in dir from now on.
func (f *feed) setOversized(dir, found string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.large[dir] = found
}

func (f *feed) oversized(dir string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.large[dir]
}

// setInstructions says what threads are to be told from now on.
func (f *feed) setInstructions(words string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.words = words
}

func (f *feed) instructions() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.words
}

// trace implements [executor.Config].Trace.
func (f *feed) trace(_, clientID string) (appserver.Trace, error) {
	t, ok := next(f, f.traces, clientID)
	switch {
	case !ok || t.Missing:
		return appserver.Trace{}, fs.ErrNotExist
	case t.Error != "":
		return appserver.Trace{}, errors.New(t.Error)
	}
	return t.Trace, nil
}

// lender is that of a job of the record.
func (f *feed) lender(job string) executor.Lender {
	return func(ctx context.Context, input []appserver.UserInput) ([]appserver.UserInput, func()) {
		lent, _ := next(f, f.lent, job) // an earlier version has lent nothing
		if lent.Canceled {
			<-ctx.Done()
		}
		if lent.Whole != nil {
			return lent.Whole, func() {}
		}
		out := slices.Clone(input)
		for i, changed := range lent.Changed {
			if i < len(out) {
				out[i] = changed
			}
		}
		return out, func() {}
	}
}

// Past implements [executor.Book].
func (f *feed) Past(_ context.Context, conversation string) (executor.Past, error) {
	past, _ := next(f, f.pasts, conversation)
	return past.Past, failed(past.Error)
}

// Used implements [executor.Book].
func (f *feed) Used(_ context.Context, conversation string) (bool, error) {
	fact, _ := next(f, f.used, conversation)
	return fact.Yes, failed(fact.Error)
}

// Turned implements [executor.Book].
func (f *feed) Turned(_ context.Context, thread string) (bool, error) {
	fact, _ := next(f, f.turned, thread)
	return fact.Yes, failed(fact.Error)
}

// Vanished implements [executor.Book].
func (f *feed) Vanished(_ context.Context, a executor.Attempt) (int, error) {
	fact, _ := next(f, f.vanished, a.Job)
	return fact.N, failed(fact.Error)
}

// Begin implements [executor.Book].
func (f *feed) Begin(context.Context, executor.Attempt) error { return nil }

// Threads implements [executor.Book]: commands of the record's threads are none of ours.
func (f *feed) Threads(context.Context) ([]string, error) { return nil, nil }

// Tell implements [executor.Book].
func (f *feed) Tell(context.Context, string, string) error { return nil }

func failed(text string) error {
	if text == "" {
		return nil
	}
	return errors.New(text)
}

// Call implements [executor.ToolCaller]: tools are not carried out, their results are
// in the record. A call that has none there was given up.
func (f *feed) Call(ctx context.Context, call executor.ToolCall) executor.ToolResult {
	f.mu.Lock()
	result := f.results[call.Thread+"/"+call.ID]
	for key, other := range f.results { // the thread may be another one, see alias.go
		if result == nil && strings.HasSuffix(key, "/"+call.ID) {
			result = other
		}
	}
	f.mu.Unlock()
	if result != nil {
		return *result
	}
	<-ctx.Done()
	return executor.ToolResult{Text: "the call was given up", Failed: true}
}

// toolResults finds what our tools have answered.
func toolResults(r *run) map[string]*executor.ToolResult {
	results, open := map[string]*executor.ToolResult{}, map[string]string{}
	for _, e := range r.entries {
		switch {
		case e.Receive != nil && e.isCall() && e.Method == appserver.MethodToolCall:
			var p appserver.ToolCallParams
			if json.Unmarshal(e.Params, &p) == nil {
				open[string(e.ID)] = p.ThreadID + "/" + p.CallID
			}
		case e.Send != nil && e.isAnswer():
			key, ok := open[string(e.ID)]
			if !ok {
				continue
			}
			delete(open, string(e.ID))
			var result appserver.ToolCallResult
			if json.Unmarshal(e.Result, &result) == nil && len(result.Content) > 0 {
				results[key] = &executor.ToolResult{Text: result.Content[0].Text, Failed: !result.Success}
			}
		}
	}
	return results
}
