package codex

// alive notes a sign of life, which any notification of the thread is, unless codex waits for an answer.
func (t *turn) alive() {
	switch {
	case t.stopping != nil:
	case t.yield():
		t.timers.Rest()
	default:
		t.timers.Alive(t.record.ToolsOpen())
	}
}

// yield leaves the slot of the turn to others while it does nothing but wait for answers,
// and reports whether codex waits for one. It shows each command, change and call of a
// tool before it asks about it, and runs those that it need not ask about meanwhile (seen
// on 0.169.0): more tools than questions are some that run. Input that the model asks for,
// and what a subagent asks, has no such item; the turn is taken for idle then although
// one other tool runs.
func (t *turn) yield() (waits bool) {
	open, given := t.inquiry.Standing()
	switch {
	case given > 0: // handAnswers sees to it
	case open > 0 && len(t.record.Open) <= open:
		t.To.Park()
	case !t.inquiry.CalledOff():
		t.To.Seize() // codex goes on, with our answer or without
	}
	return open+given > 0
}
