package replay

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/wirelog"
)

// reply has codex answer a call of the program's.
func (p *player) reply(e *entry) {
	if e.loose {
		return // it is given when it is asked for
	}
	id, ok := p.ids[string(e.ID)]
	if !ok {
		return // its call did not come: that is noted
	}
	delete(p.ids, string(e.ID))
	delete(p.starts, string(e.ID))
	p.say(withID(&e.envelope, id))
}

// hastenTime is what a call may take before something else is tried.
const hastenTime = 300 * time.Millisecond

// hasten answers the calls that wait for a thread, ahead of their place in the record:
// the conversation whose call is due may wait for what another one had, see alias.go.
func (p *player) hasten() {
	for _, e := range p.run.entries[p.at:] {
		if e.Event == wirelog.EventChild {
			break
		}
		if e.Receive != nil && e.isAnswer() && p.starts[string(e.ID)] {
			p.reply(e)
		}
	}
}

// asked waits for the program to make a call that it has made in the record.
func (p *player) asked(e *entry) {
	var match *heard
	come := func() bool {
		for i, c := range p.calls {
			if c.conn == p.link && c.Method == e.Method && p.sameTarget(&c.envelope, &e.envelope) {
				match = &c
				p.calls = append(p.calls[:i], p.calls[i+1:]...)
				return true
			}
		}
		return false
	}
	here := p.until(min(p.wait, hastenTime), come)
	if !here {
		p.hasten()
		here = p.until(p.wait, come)
	}
	if !here {
		p.diverge("missing", fmt.Sprintf("the record has %s here, and the program does not call it%s", e.describe(), p.instead()))
		return
	}
	p.ids[string(e.ID)] = match.ID
	if e.Method == "thread/start" {
		p.starts[string(e.ID)] = true
	}
	if e.Method == "initialize" { // it says who we are, which may be another version
		return
	}
	if d := differences(e.Params, p.unfolded(p.alias.toRecord(match.Params))); len(d) > 0 {
		p.diverge("differs", fmt.Sprintf("%s is called with other parameters: %s", e.describe(), strings.Join(d, "; ")))
	}
}

// sameTarget reports whether a call of the program and one of the record are about the
// same message, or the same thread.
func (p *player) sameTarget(now, recorded *envelope) bool {
	var x, y struct {
		ClientID string `json:"clientUserMessageId"`
	}
	_, _ = json.Unmarshal(now.Params, &x), json.Unmarshal(recorded.Params, &y)
	if x != y {
		return false
	}
	if x.ClientID != "" && now.Method == "turn/start" {
		p.alias.is(now.thread(), recorded.thread())
	}
	return p.alias.of(now.thread()) == recorded.thread()
}

// instead says what the program asks that nothing in the record has matched, and
// refuses it: it may wait for that.
func (p *player) instead() string {
	names := make([]string, 0, len(p.calls))
	for _, c := range p.calls {
		names = append(names, c.describe())
		c.conn.say(refusal(c.ID, "replay: the record has no such call here"))
	}
	p.calls = nil
	if len(names) == 0 {
		return ""
	}
	return "; it calls " + strings.Join(names, ", ")
}

// extra notes a call that the record has not.
func (p *player) extra(c heard) {
	if p.closing { // how far it gets with that is a matter of time
		return
	}
	p.diverge("extra", fmt.Sprintf("the program calls %s, which the record does not have", c.describe()))
}

// answered waits for the program to answer a request of codex's.
func (p *player) answered(e *entry) {
	var match heard
	if !p.until(p.wait, func() (ok bool) {
		match, ok = p.answers[string(e.ID)]
		return ok
	}) {
		p.diverge("missing", "the record has an answer to codex's request "+string(e.ID)+" here, and the program gives none")
		return
	}
	delete(p.answers, string(e.ID))
	d := append(differences(withoutClock(e.Result), withoutClock(match.Result)), differences(e.Error, match.Error)...)
	if len(d) > 0 {
		p.diverge("differs", "codex's request "+string(e.ID)+" is answered otherwise: "+strings.Join(d, "; "))
	}
}

// hear takes in what the program says to codex.
func (p *player) hear(h heard) {
	switch {
	case h.isAnswer():
		p.answers[string(h.ID)] = h
	case h.isCall() && (looks(h.Method) || p.again(h)):
		p.look(h)
	case h.isCall():
		p.calls = append(p.calls, h)
	}
}

// again reports whether the program interrupts a turn once more, which it does from
// time to time.
func (p *player) again(h heard) bool {
	if h.Method != methodInterrupt {
		return false
	}
	before := p.stops[string(h.Params)]
	p.stops[string(h.Params)] = true
	return before
}

// look answers a call that only looks.
func (p *player) look(h heard) {
	asks := h.envelope
	asks.Params = p.alias.toRecord(h.Params)
	answer, known := p.looking.next(&asks)
	switch {
	case !known:
		h.conn.say(refusal(h.ID, "replay: the record has no answer to this"))
	case answer != nil:
		h.conn.say(p.alias.toProgram(withID(&answer.envelope, h.ID)))
	}
}
