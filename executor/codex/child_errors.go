package codex

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/place"
)

// overloadWait is what a codex with too much to do is given.
const overloadWait = 500 * time.Millisecond

// A RefusedError says that codex runs, and has refused what it was asked for.
type RefusedError struct {
	Words string // codex's
	Err   error  // of the call; nil leaves the words
}

func (e RefusedError) Error() string {
	if e.Err == nil {
		return e.Words
	}
	return e.Err.Error()
}
func (e RefusedError) Unwrap() error { return e.Err }

// refused returns err, as a [RefusedError] if it is one.
func refused(err error) error {
	if no, ok := errors.AsType[*appserver.RPCError](err); ok {
		return RefusedError{no.Message, err}
	}
	return err
}

// trouble returns an error of codex's as a [executor.Trouble]. Where the caller's context has ended, or we
// are closing, it is none of codex's.
func (d *Driver) trouble(err error) error {
	if err == nil || errors.Is(err, executor.ErrCanceled) || errors.Is(err, executor.ErrShutdown) || errors.Is(err, context.Canceled) {
		return err
	}
	t := &executor.Trouble{Kind: executor.Lasting, Killed: wasKilled(err), End: d.untaken(err), Err: err}
	_, cut := errors.AsType[cutError](err)
	_, unstarted := errors.AsType[child.StartError](err)
	_, died := errors.AsType[*appserver.ExitError](err)
	lost, onMachine := errors.AsType[*place.LostError](err)
	none, placeless := errors.AsType[*place.NoneError](err)
	switch {
	case cut && onMachine:
		t.Kind, t.Cut = executor.WasCut, lost.Error()
	case cut:
		t.Kind = executor.WasCut
	case placeless && none.Changed != nil:
		t.Kind, t.Room, t.Until = executor.Crowded, none.Changed, none.Until
	case onMachine: // before codex had the message
		t.Kind, t.Wait = executor.Passing, overloadWait
	case unstarted:
		t.Kind, t.Failing = executor.Unstarted, d.child.FailingFor()
	case appserver.IsOverloaded(err):
		t.Kind, t.Wait = executor.Passing, overloadWait
	case appserver.IsThreadGone(err), died:
		t.Kind = executor.Passing
	}
	return t
}

// wasKilled reports whether codex was killed by another process: it did not fail by itself.
func wasKilled(err error) bool {
	exit, ok := errors.AsType[*appserver.ExitError](err)
	if !ok || exit.Cause != nil || exit.State == nil {
		return false
	}
	status, ok := exit.State.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// untaken is the end of a job whose message codex has not taken.
func (d *Driver) untaken(err error) agent.Ended {
	if wish, ok := errors.AsType[wishError](err); ok {
		return agent.Ended{Outcome: agent.Rejected, Failure: &agent.Failure{Kind: agent.FailModel, Message: wish.Error()}}
	}
	end := agent.Ended{Outcome: agent.Failed}
	if refused, ok := errors.AsType[*appserver.RPCError](err); ok {
		end.Failure = &agent.Failure{Kind: agent.FailModel, Message: "codex refused the message: " + d.failures.Words(refused.Message)}
		if appserver.IsPassing(err) {
			end.Failure.Message += ". The conversation is kept: send the message again when this is mended, or begin a new one (/new, or another contextId)"
		}
		return end
	}
	end.Failure = &agent.Failure{Kind: agent.FailUnreachable, Message: d.failures.Words(unreachable(err))}
	return end
}

// unreachable says why codex is not there, without its last words: those are
// for the log.
func unreachable(err error) string {
	if why, ok := errors.AsType[child.Unready](err); ok {
		return why.Error()
	}
	if _, ok := errors.AsType[child.StartError](err); ok {
		return fmt.Sprintf("codex could not be started (%s); runtime doctor says what to do", cause(err))
	}
	if exit, ok := errors.AsType[*appserver.ExitError](err); ok {
		return fmt.Sprintf("codex ended (%v) before it took the message; send it again", exit.State)
	}
	if none, ok := errors.AsType[*place.NoneError](err); ok {
		return none.Why
	}
	if lost, ok := errors.AsType[*place.LostError](err); ok {
		return lost.Error()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "codex did not answer in time; send the message again"
	}
	return executor.NotTaken
}

// cause is why a start failed, without codex's last words.
func cause(err error) string {
	if start, ok := errors.AsType[*appserver.StartError](err); ok {
		return start.Err.Error()
	}
	if exit, ok := errors.AsType[*appserver.ExitError](err); ok {
		return exit.State.String()
	}
	return err.Error()
}
