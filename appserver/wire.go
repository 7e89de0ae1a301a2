package appserver

import (
	"bytes"
	"errors"
	"syscall"
)

// A Wire is told everything that is said to a child and by it, for people who look
// for a fault. Its methods are called concurrently, in an order in which no line
// stands in front of one that it answers. They must not block, and what they are
// given is valid until they return.
type Wire interface {
	Started(pid int)
	Sent(line []byte)     // without its end
	Received(line []byte) // each line of the child, also one that is no message; without its end
	Dropped(size int64)   // a line of the child that was longer than allowed
	Ended(end any)        // an [End], after everything that was said; without Started if there was no child
}

// An End is the end of a child, for a [Wire] that writes JSON.
type End struct {
	State string `json:"state"`           // how it ended, as the system has it
	Code  int    `json:"code"`            // its exit status; -1 if a signal ended it
	Cause string `json:"cause,omitempty"` // why it had to be ended; empty if it did so by itself
	Ours  bool   `json:"ours,omitempty"`  // it was our wish
	Last  string `json:"stderr,omitempty"`
}

func (e *ExitError) end() End {
	end := End{Code: -1, Last: e.Stderr}
	if e.State != nil {
		end.State, end.Code = e.State.String(), e.State.ExitCode()
		if status, ok := e.State.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			end.Code = -1
		}
	}
	if e.Cause != nil {
		end.Cause = e.Cause.Error()
		end.Ours = errors.Is(e.Cause, ErrKilled) || errors.Is(e.Cause, ErrClosed) || errors.Is(e.Cause, errDeaf)
	}
	return end
}

// noWire is for the many who record nothing.
type noWire struct{}

func (noWire) Started(int)     {}
func (noWire) Sent([]byte)     {}
func (noWire) Received([]byte) {}
func (noWire) Dropped(int64)   {}
func (noWire) Ended(any)       {}

func withoutEnd(line []byte) []byte { return bytes.TrimSuffix(line, []byte{'\n'}) }
