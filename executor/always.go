package executor

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
)

// An "always" to a command is kept here, and codex is told that it is for this once, each time:
// what it holds for the same command by itself are commands whose words are the same to its parser
// and not to the shell, which takes a carriage return for a part of a word (seen on 0.169.0).

// mostAlways bounds what a conversation keeps. Past it the next is asked about again.
const mostAlways = 1000

// passing are the members of the request about a command that are not part of what is asked: whose
// it is, when, and what codex makes of it. The reason is: nothing else tells a command that is to
// leave the sandbox from one that a rule of the operator's has asked about in it.
func passing() []string {
	return []string{
		"threadId", "turnId", "itemId", "approvalId", "startedAtMs", "commandActions",
		"availableDecisions", "proposedExecpolicyAmendment", "proposedNetworkPolicyAmendments",
	}
}

// sameCommand stands for all that a request about a command asks for.
func sameCommand(params json.RawMessage) string {
	var members map[string]any
	if json.Unmarshal(params, &members) != nil {
		return ""
	}
	for _, name := range passing() {
		delete(members, name)
	}
	text, err := json.Marshal(members)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return string(sum[:])
}

// standingAt is the same for as long as its paths lead where they do.
func standingAt(same string, places []place) string {
	if same == "" {
		return ""
	}
	for _, p := range places {
		same += fmt.Sprintf(" %q %q", p.path, p.led)
	}
	return same
}

// alwaysHere has an "always" be ours to keep.
func alwaysHere(choices []choice) []choice {
	for i, c := range choices {
		if c.decision == decideSession {
			choices[i].reply = reply{value: decision(decideAccept), lasts: true, keeps: true}
		}
	}
	return choices
}

// keepAlways notes what is not asked about again. The caller holds c.lock.
func (c *conversation) keepAlways(same string) {
	if c.always == nil {
		c.always = map[string]bool{}
	}
	if same != "" && len(c.always) < mostAlways {
		c.always[same] = true
	}
}

// allowAgain answers what was allowed for the conversation. What a "yes" opens is looked at as it
// is with each.
func (t *turn) allowAgain(q *question) {
	if !t.inquiry.retract(q) { // withdrawn over it
		return
	}
	defer close(q.settled)
	value := any(decision(decideAccept))
	if note := t.e.openUp(q.opens); note != "" {
		value = q.kind.refusal
		t.job.observe(Notice{Text: note})
	}
	err := q.req.Reply(value)
	t.e.log.Info("codex was answered as before", "method", q.req.Method, "thread_id", q.req.ThreadID, "job", t.job.ID, "declined", reflect.DeepEqual(value, q.kind.refusal), "err", err)
}
