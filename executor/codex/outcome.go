package codex

import (
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// settle ends the turn from its final state, as codex told or as the history
// has it.
func (t *turn) settle(final appserver.Turn) *agent.Ended {
	if !t.on.useful.Swap(true) {
		t.on.adopt(t.d.whose(t.on.Info().CodexHome))
	}
	t.c.history = true
	t.repair(final)
	if t.stopping != nil || final.Status == appserver.TurnInterrupted {
		t.endCommands()
	}
	end := t.summary()
	end.Tools = t.record.Tools() || final.Status != appserver.TurnCompleted && t.tools()
	switch {
	case final.Status == appserver.TurnCompleted && !t.isNone():
		end.Outcome = agent.Completed // also when a cancel came too late
	case t.stopping != nil:
		t.fillStopped(&end)
	case final.Status == appserver.TurnInterrupted && t.inquiry.calledOff():
		end.Outcome = agent.Canceled
	case final.Status == appserver.TurnFailed:
		end.Outcome, end.Failure = agent.Failed, t.failed(final.Error, end.Tools)
	default:
		end.Outcome = agent.Interrupted
		end.Failure = &agent.Failure{Kind: agent.FailModel, Message: "codex ended the turn before it was finished"}
	}
	return &end
}

// isNone reports whether the turn fails also where it has ended before it was ended.
func (t *turn) isNone() bool {
	return errors.Is(t.stopping, errTwice) || errors.Is(t.stopping, errUnbidden)
}

// repair takes the agent messages of the final items over. The summary in
// turn/completed holds them all unless the turn was interrupted; after a gap
// the history is asked.
func (t *turn) repair(final appserver.Turn) {
	if t.record.Gap {
		turns, err := t.turns()
		if err != nil {
			t.d.log.Warn("a turn with a gap could not be repaired", "turn_id", t.id, "err", err)
		}
		for _, turn := range turns {
			if turn.ID == t.id {
				final.Items, t.record.Messages = turn.Items, nil
			}
		}
	}
	for _, item := range final.Items {
		t.record.Keep(item)
	}
}

// died ends the turn of a child that is gone, if it was to end anyway.
func (t *turn) died(err error) *agent.Ended {
	t.endLeftovers()
	if t.stopping != nil {
		end := t.summary()
		end.Tools = t.tools()
		t.fillStopped(&end)
		return &end
	}
	t.d.log.Warn("codex died in the middle of a turn", "turn_id", t.id, "thread_id", t.c.threadID, "err", err)
	return nil
}

// fillStopped fills in the end of a turn that we asked codex to end.
func (t *turn) fillStopped(end *agent.Ended) {
	if timer, ok := errors.AsType[wake](t.stopping); ok {
		end.Outcome, end.Failure = agent.Failed, t.timeout(timer)
		return
	}
	switch {
	case errors.Is(t.stopping, errTwice):
		end.Outcome, end.Failure = agent.Failed, twiceFailure()
		return
	case errors.Is(t.stopping, errUnbidden):
		end.Outcome, end.Failure = agent.Failed, unbiddenFailure()
		return
	case errors.Is(t.stopping, errMany):
		end.Outcome, end.Failure = agent.Failed, manyFailure(t.d.cfg.MaxMessages)
		return
	}
	if r, ok := errors.AsType[*executor.Refusal](t.stopping); ok {
		t.refused = r
		end.Outcome, end.Failure = agent.Failed, r.Failure(end.Tools)
		return
	}
	*end = executor.Stopped(*end, t.stopping)
}

// summary is the end of the turn without its outcome.
func (t *turn) summary() agent.Ended {
	return agent.Ended{Messages: t.record.Messages, Diff: t.record.Diff, Usage: t.record.Usage}
}

// tools reports whether a tool of the turn started. A command may run before
// codex says so on stdout, but not before it has written it down.
func (t *turn) tools() bool {
	if t.record.Tools() {
		return true
	}
	trace, err := t.d.cfg.ReadTrace(t.c.rollout, t.ClientID())
	if errors.Is(err, fs.ErrNotExist) { // codex makes the file before it asks the model
		return false
	}
	return err != nil || trace.Tool
}

// modelFailure says why the model or codex ended a turn, and what to do.
func (d *Driver) modelFailure(failed *appserver.TurnError) *agent.Failure {
	if failed == nil {
		return &agent.Failure{Kind: agent.FailModel, Message: "codex failed without saying why"}
	}
	name, status := failed.Code()
	f := &agent.Failure{Kind: failureKind(name, status, failed.Message), Code: name, Message: sayable(d.words(failed.Message))}
	if f.Kind == agent.FailContext { // the others need no advice
		f.Message += ". This conversation is full: send the message with a new contextId"
	}
	return f
}

// providerURL is the part of codex's words that names the model's endpoint,
// which is the operator's business and not the caller's.
var providerURL = regexp.MustCompile(`,? ?\(?url: [^\s,)]+\)?`)

// sayable prepares an error text of codex for a caller, of which secrets were taken.
func sayable(message string) string {
	return strings.TrimRight(providerURL.ReplaceAllString(message, ""), ". ")
}

// missingKey is how codex says that the variable of a provider's env_key is not set.
const missingKey = "Missing environment variable"

func failureKind(name string, status int, message string) agent.FailureKind {
	switch {
	case name == "unauthorized", status == 401, status == 403, strings.HasPrefix(message, missingKey):
		return agent.FailAuth
	case name == usageLimit, name == "rateLimitExceeded", status == 429, rateLimited(message):
		return agent.FailLimit
	case name == "contextWindowExceeded", name == "other" && slices.ContainsFunc(fullContext, func(words string) bool { return strings.Contains(message, words) }):
		return agent.FailContext
	}
	return agent.FailModel
}

// fullContext is in what endpoints say of a full context that have no code for it: vLLM and those that
// go by it, and llama.cpp.
var fullContext = []string{"maximum context length", "exceeds the available context size"} //nolint:gochecknoglobals // a constant
