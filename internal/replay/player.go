package replay

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/wirelog"
)

// A player goes through a run. It belongs to one goroutine.
type player struct {
	stage   *stage
	run     *run
	inbox   *inbox
	wait    time.Duration
	looking looking
	shown   []Divergence

	at      int            // the entry that is played
	link    *link          // to the present child; nil if there is none
	coming  []*link        // children that have come up and whose time has not
	gone    map[*link]bool // those that have hung up
	calls   []heard        // calls of the program that nothing in the record has matched yet
	answers map[string]heard
	ids     map[string]json.RawMessage // of the program's calls, by those of the record
	events  []observed                 // that nothing in the record has matched yet
	tasks   map[string]string          // by the record's jobs
	order   []string                   // of the jobs
	taken   map[string]bool
	folders map[string]string // of the stage, and what they stand for
	ends    map[string]executor.Ended
	states  map[string]*timing
	turns   map[string]string // the jobs, by their turns
}

func newPlayer(s *stage, r *run, in *inbox, wait time.Duration) *player {
	return &player{
		stage: s, run: r, inbox: in, wait: wait, looking: lookingIn(r), gone: map[*link]bool{}, answers: map[string]heard{},
		ids: map[string]json.RawMessage{}, tasks: map[string]string{}, taken: map[string]bool{}, folders: map[string]string{},
		ends: map[string]executor.Ended{}, states: map[string]*timing{}, turns: map[string]string{},
	}
}

// mostDivergences is when there is no point in going on.
const mostDivergences = 50

// settleTime is what the program gets at the end of the record to do what that has
// not.
const settleTime = 150 * time.Millisecond

// play goes through the run.
func (p *player) play() {
	p.instruct()
	for p.at = range p.run.entries {
		if p.stage.ctx.Err() != nil {
			return
		}
		p.step(p.run.entries[p.at])
		if len(p.shown) >= mostDivergences {
			p.diverge("stop", "there is no point in going on")
			return
		}
	}
	p.until(settleTime, func() bool { return false })
	if p.run.done() { // else the program may have gone on like that
		for _, c := range p.calls {
			p.extra(c)
		}
	}
}

// step plays one entry.
func (p *player) step(e *entry) {
	p.clock(e)
	switch {
	case e.Noise != nil:
		p.say([]byte(*e.Noise))
	case e.Receive != nil && e.isAnswer():
		p.reply(e)
	case e.Receive != nil:
		p.say(e.Receive)
	case e.Send != nil && e.isCall() && !e.loose:
		p.asked(e)
		p.instruct()
	case e.Send != nil && e.isAnswer():
		p.answered(e)
	case e.Event != "":
		p.event(e)
	}
}

// say has codex say something.
func (p *player) say(line []byte) {
	if p.link != nil {
		p.link.say(line)
	}
}

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
	p.say(withID(&e.envelope, id))
}

// asked waits for the program to make a call that it has made in the record.
func (p *player) asked(e *entry) {
	var match *heard
	ok := p.until(p.wait, func() bool {
		for i, c := range p.calls {
			if c.conn == p.link && c.Method == e.Method && c.thread() == e.thread() && sameMessage(&c.envelope, &e.envelope) {
				match = &c
				p.calls = append(p.calls[:i], p.calls[i+1:]...)
				return true
			}
		}
		return false
	})
	if !ok {
		p.diverge("missing", fmt.Sprintf("the record has %s here, and the program does not call it%s", e.describe(), p.instead()))
		return
	}
	p.ids[string(e.ID)] = match.ID
	if e.Method == "initialize" { // it says who we are, which may be another version
		return
	}
	if d := differences(e.Params, p.unfolded(match.Params)); len(d) > 0 {
		p.diverge("differs", fmt.Sprintf("%s is called with other parameters: %s", e.describe(), strings.Join(d, "; ")))
	}
}

// sameMessage keeps two calls of one thread apart that bring different messages.
func sameMessage(a, b *envelope) bool {
	var x, y struct {
		ClientID string `json:"clientUserMessageId"`
	}
	_, _ = json.Unmarshal(a.Params, &x), json.Unmarshal(b.Params, &y)
	return x == y
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
	d := append(differences(e.Result, match.Result), differences(e.Error, match.Error)...)
	if len(d) > 0 {
		p.diverge("differs", "codex's request "+string(e.ID)+" is answered otherwise: "+strings.Join(d, "; "))
	}
}

// event plays something that is no line of codex's.
func (p *player) event(e *entry) {
	switch e.Event {
	case wirelog.EventChild:
		p.childStarts()
	case wirelog.EventEnd:
		p.childEnds(e)
	case wirelog.EventLost:
		p.diverge("lost", "entries are missing here: what recorded them could not keep up, or its disk was full")
	case wirelog.EventLong:
		p.diverge("lost", "a line is missing here that was too long to be recorded")
	default:
		if !p.act(e) {
			p.outcome(e)
		}
	}
}

// childStarts waits for the program to start codex.
func (p *player) childStarts() {
	if !p.until(p.wait, func() bool { return len(p.coming) > 0 }) {
		p.link = nil
		p.diverge("missing", "the record has a start of codex here, and the program does not start it")
		return
	}
	p.link, p.coming = p.coming[0], p.coming[1:]
	clear(p.ids)
	clear(p.answers)
}

// childEnds ends codex as it has ended, or waits for the program to end it.
func (p *player) childEnds(e *entry) {
	end, err := decode[appserver.End](e)
	if err != nil {
		p.diverge("damaged", err.Error())
		return
	}
	link := p.link
	if link == nil {
		return
	}
	if end.Ours {
		if !p.until(p.wait, func() bool { return p.gone[link] }) {
			p.diverge("missing", "the record has the program end codex here ("+end.Cause+"), and it does not")
		}
		link.end(0)
	} else {
		link.end(end.Code)
		p.until(p.wait, func() bool { return p.gone[link] })
	}
	p.link = nil
	var left []heard
	for _, c := range p.calls {
		if c.conn == link {
			p.extra(c)
		} else {
			left = append(left, c)
		}
	}
	p.calls = left
}

// instruct has threads told from now on what the record has them told until the
// program does something next: it reads that before it acts.
func (p *player) instruct() {
	for _, e := range p.run.entries[min(p.at+1, len(p.run.entries)):] {
		if e.Send != nil && e.isCall() && !e.loose {
			return
		}
		if e.Event == executor.RecordInstructions {
			if words, err := decode[executor.RecordedText](e); err == nil {
				p.stage.feed.setInstructions(words.Text)
			}
		}
	}
}

// until sees to what the program says until ok, for as long as limit. It reports
// whether it got there.
func (p *player) until(limit time.Duration, ok func() bool) bool {
	deadline := time.Now().Add(limit)
	for {
		if ok() {
			return true
		}
		if p.stage.ctx.Err() != nil {
			return false
		}
		switch item := p.inbox.take(deadline).(type) {
		case nil:
			return false
		case connected:
			p.coming = append(p.coming, item.conn)
		case hungUp:
			p.gone[item.conn] = true
		case heard:
			p.hear(item)
		case observed:
			p.events = append(p.events, item)
		case taken:
			p.taken[item.job] = true
		case sent:
			p.isSent(item)
		}
	}
}

// hear takes in what the program says to codex.
func (p *player) hear(h heard) {
	switch {
	case h.isAnswer():
		p.answers[string(h.ID)] = h
	case h.isCall() && looks(h.Method):
		p.look(h)
	case h.isCall():
		p.calls = append(p.calls, h)
	}
}

// look answers a call that only looks.
func (p *player) look(h heard) {
	answer, known := p.looking.next(&h.envelope)
	switch {
	case !known:
		h.conn.say(refusal(h.ID, "replay: the record has no answer to this"))
	case answer != nil:
		h.conn.say(withID(&answer.envelope, h.ID))
	}
}

// diverge notes where the program does something else than it did.
func (p *player) diverge(kind, what string) {
	d := Divergence{Kind: kind, What: what}
	if p.at < len(p.run.entries) {
		d.Line = p.run.entries[p.at].Number
	}
	p.shown = append(p.shown, d)
	if kind == "missing" { // what follows from it is not waited for as long
		p.wait = min(p.wait, 1500*time.Millisecond)
	}
}
