package replay

import (
	"context"
	"encoding/json"
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
	wait    time.Duration // Config.Wait
	settle  time.Duration // Config.Settle
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
	alias   alias
	starts  map[string]bool   // calls of the record that start a thread, while they wait for their answer
	stops   map[string]bool   // interrupts of the program, by what they say
	closing bool              // the program stops
	folders map[string]string // of the stage, and what they stand for
	ends    map[string]executor.Ended
	states  map[string]*timing
	turns   map[string]string // the jobs, by their turns
}

func newPlayer(s *stage, r *run, in *inbox, cfg Config) *player {
	return &player{
		stage: s, run: r, inbox: in, wait: cfg.Wait, settle: cfg.Settle, looking: lookingIn(r), gone: map[*link]bool{}, answers: map[string]heard{},
		ids: map[string]json.RawMessage{}, tasks: map[string]string{}, taken: map[string]bool{}, folders: map[string]string{},
		ends: map[string]executor.Ended{}, states: map[string]*timing{}, turns: map[string]string{}, starts: map[string]bool{}, stops: map[string]bool{},
	}
}

// mostDivergences is when there is no point in going on.
const mostDivergences = 50

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
	p.until(p.settle, func() bool { return false })
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
		p.link.say(p.alias.toProgram(line))
	}
}

// event plays something that is no line of codex's.
func (p *player) event(e *entry) {
	switch e.Event {
	case wirelog.EventChild:
		p.childStarts()
	case executor.RecordLaunch:
		p.stage.feed.launch()
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
		p.rest()
		link.end(end.Code)
		p.until(p.wait, func() bool { return p.gone[link] })
	}
	p.link = nil
	p.known()
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

// restTime is what the rest of an end may take. It may wait for a codex that dies first.
const restTime = 2 * time.Second

// rest waits until the program has put away the jobs that have ended: of a conversation whose
// codex dies before that, it keeps less.
func (p *player) rest() {
	conversations := map[string]bool{}
	for job := range p.ends {
		if t := p.states[job]; t != nil {
			conversations[t.context] = true
		}
	}
	p.through(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, restTime)
		defer cancel()
		for key := range conversations {
			p.stage.executor.AtRest(ctx, key)
		}
	})
}

// known waits until the program knows that its child is gone: what comes next in the
// record was not said to that one. The next is not started before its time.
func (p *player) known() {
	deadline := time.Now().Add(p.wait)
	for p.stage.executor.Health().Child.Pid != 0 && time.Now().Before(deadline) && p.stage.ctx.Err() == nil {
		p.until(time.Millisecond, func() bool { return false })
	}
}

// instruct has threads told from now on what the record has them told until the
// program does something next: it reads that before it acts.
func (p *player) instruct() {
	for _, e := range p.run.entries[min(p.at+1, len(p.run.entries)):] {
		if e.Send != nil && e.isCall() && !e.loose {
			return
		}
		switch e.Event {
		case executor.RecordInstructions:
			if words, err := decode[executor.RecordedText](e); err == nil {
				p.stage.feed.setInstructions(words.Text)
			}
		case executor.RecordThread:
			if thread, err := decode[executor.RecordedThread](e); err == nil {
				p.stage.feed.configureThreads(thread.Config)
			}
		case executor.RecordOversized:
			if large, err := decode[executor.RecordedOversized](e); err == nil {
				p.stage.feed.setOversized(large.Dir, large.Found)
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
		case finished:
			*item.over = true
		case taken:
			p.taken[item.job] = true
		case sent:
			p.isSent(item)
		}
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
