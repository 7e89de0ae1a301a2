package executor

import "github.com/Molecule-AI/molecule-codex-runtime/agent"

// What becomes of a message whose attempt was cut off, by the death of the agent
// or of the process before this one:
//
//	its turn                                   the message
//	is not there                               is run, unless a tool is known to have started, now or in the attempt before,
//	                                           or this has happened too often ([mostVanished])
//	is completed, or failed                    has that end
//	was cut after a tool may have started      is interrupted
//	was cut before that, for the second time   is interrupted
//	was cut before that                        is run again
//	cannot be found, or its thread is gone     is interrupted
//
// Whether a tool started is known by what the agent said while this process lived, or by what the
// caller has noted of it, or by the files of the agent: the first two are not enough.

// A Finding is what the agent knows of an attempt that was cut off.
type Finding struct {
	State    FindingState
	Tool     bool // a tool of it may have started
	Repeated bool // an attempt before it has become a turn, too
	Worked   bool // and a tool of that has run
	Left     bool // its thread can be looked at, and the conversation does not go on in it

	Begun Begun       // its turn, if it has become one
	With  []string    // the jobs whose messages stand in that
	SoFar agent.Ended // what it has shown; whether a tool has started says Tool

	// End has the attempt end as its turn has, of which this process has seen so much; nil for nothing. It is there
	// if that has ended.
	End func(of Order, seen Turn) *agent.Ended
}

// A FindingState is how an attempt stands by what the agent knows.
type FindingState string

// How an attempt may stand.
const (
	Absent    FindingState = ""          // it has become no turn
	Lost      FindingState = "lost"      // its thread is gone although it had turns: nothing can be said
	Broken    FindingState = "broken"    // its turn was cut off
	Refused   FindingState = "refused"   // the model has refused the credential, before anything was done
	Concluded FindingState = "concluded" // its turn has ended
)

// A past is what the scheduler itself knows of an attempt that was cut off, and of its job.
type past struct {
	tool   bool // a tool of the attempt is known to have started
	rerun  bool // an attempt before it was cut off, too, before it did anything
	goesOn bool // this process knows where to go on behind a summary
}

// A fate is what becomes of a message whose attempt was cut off.
type fate string

const (
	fateVanished    fate = "vanished"    // it is run, unless this has happened too often
	fateHeld        fate = "held"        // it is run when the credential is taken
	fateAgain       fate = "again"       // it is run again, this once
	fateDelivered   fate = "delivered"   // it has the end of its turn
	fateInterrupted fate = "interrupted" // it is not run again by itself
)

// fateOf is the table above. It says why, for the log.
func fateOf(f Finding, known past) (what fate, why string) {
	switch {
	case f.State == Lost, f.State == Absent && known.tool: // somebody has deleted what could tell
		return fateInterrupted, "its thread is gone"
	case f.State == Absent && f.Worked && !known.goesOn: // only this process would have known where to go on
		return fateInterrupted, "it was to go on behind a summary, and was cut off before that"
	case f.State == Absent:
		return fateVanished, "it never ran"
	case f.State == Refused && !known.tool:
		return fateHeld, "it was refused for its credential"
	case f.State == Refused, f.State == Concluded:
		return fateDelivered, "its end stands in the history"
	case f.Tool, known.tool, f.Repeated, known.rerun:
		return fateInterrupted, "it may have done something, or was cut off before"
	}
	return fateAgain, "it had not done anything"
}
