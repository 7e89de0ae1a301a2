package codex

import (
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// handle passes one notification of the thread on as an event. It returns the
// turn's end when the notification is that, else nil. What belongs to another
// turn (a background command of an earlier one) only counts as a sign of life, unless
// it begins in this one.
func (t *turn) handle(note appserver.Notification) *agent.Ended {
	var end *agent.Ended
	t.tellCalls()
	switch note.Method {
	case appserver.NoteAgentMessageDelta:
		t.delta(note, func(d appserver.DeltaNote) agent.Event { return agent.TextDelta{ItemID: d.ItemID, Text: d.Delta} })
	case appserver.NoteReasoningSummary:
		t.delta(note, func(d appserver.DeltaNote) agent.Event { return agent.ReasoningDelta{ItemID: d.ItemID, Text: d.Delta} })
	case appserver.NoteItemStarted, appserver.NoteItemCompleted:
		end = t.item(note)
	case appserver.NoteTurnCompleted:
		end = t.completed(note)
	case appserver.NoteThreadStatus:
		t.status(note)
	case appserver.NoteOverflow:
		t.overflow(note)
	case appserver.NoteRequestResolved:
		t.d.resolved(note)
	default:
		t.progress(note)
	}
	if end == nil {
		t.alive()
	}
	return end
}

func (t *turn) delta(note appserver.Notification, event func(appserver.DeltaNote) agent.Event) {
	var d appserver.DeltaNote
	if t.decode(note, &d) && d.TurnID == t.id && len(d.ItemID) <= items.MostID {
		t.answered()
		if note.Method == appserver.NoteAgentMessageDelta {
			t.hasRead()
		}
		t.To.Tell(event(d))
	}
}

func (t *turn) item(note appserver.Notification) *agent.Ended {
	var n appserver.ItemNote
	if !t.decode(note, &n) {
		return nil
	}
	item := items.Of(n.Item)
	t.d.onItem(item)
	started := note.Method == appserver.NoteItemStarted
	switch long := len(n.Item.ID) > items.MostID; {
	case n.TurnID != t.id && long: // what an earlier turn has left ends no other
		return nil
	case n.TurnID != t.id:
		t.stray(n.Item, item, started)
		return nil
	case long:
		return t.stopFor(errMany)
	case n.Item.Type == appserver.ItemUserMessage && !t.isOurs(n.Item):
		return t.stopFor(errUnbidden)
	}
	switch {
	case !started:
		t.record.Completed(n.Item)
		t.broken = t.broken || n.Item.HasNoEnd()
	case t.record.Started(n.Item):
		t.inquiry.Doubt()
	}
	if t.record.Spoke(n.Item, started) > t.d.cfg.MaxMessages {
		return t.stopFor(errMany)
	}
	t.tell(n.Item, item, started)
	return nil
}

// onItem tells of an item, if somebody hears of them all.
func (d *Driver) onItem(item agent.Item) {
	if d.cfg.OnItem != nil {
		d.cfg.OnItem(item)
	}
}

// isOurs reports whether the turn was begun for its job's message, which is then the first one in
// it, and has none of codex's queue. codex folds a message into a turn that it has begun by itself, and
// may tell of it before the words that it has begun that for.
func (t *turn) isOurs(message appserver.Item) bool {
	if !t.opened && !t.record.Gap { // else the first may have been dropped
		t.foreign = message.ClientID != t.ClientID()
	}
	t.foreign = t.foreign || message.ClientID != "" && !isOfSomeJob(message.ClientID)
	t.opened = true
	return !t.foreign
}

// tell passes an item of the turn on, which is said in our words, too.
func (t *turn) tell(item appserver.Item, said agent.Item, started bool) {
	switch {
	case item.Type == appserver.ItemUserMessage:
		if !started && item.ClientID != t.ClientID() {
			t.To.Arrived(t.id, item.ClientID)
			t.unheeded = append(t.unheeded, item.ClientID)
		}
		return
	case item.Type == appserver.ItemHookPrompt:
		return
	case item.Type == appserver.ItemContextCompaction && !started:
		t.c.heard.Compacted()
		t.c.strange.Compacted()
		t.To.Tell(agent.ItemCompleted{Item: said})
	case started:
		t.To.Tell(agent.ItemStarted{Item: said})
	default:
		t.To.Tell(agent.ItemCompleted{Item: said})
	}
	t.answered()
	if item.IsModels() {
		t.hasRead()
		if started {
			t.unheeded = nil
		}
	}
}

func (t *turn) completed(note appserver.Notification) *agent.Ended {
	var n appserver.TurnNote
	if !t.decode(note, &n) || n.Turn.ID != t.id {
		return nil
	}
	return t.settle(n.Turn)
}

// status arms the look for a lost completion: a thread idles right before its
// turn/completed.
func (t *turn) status(note appserver.Notification) {
	var n appserver.ThreadStatusNote
	if !t.decode(note, &n) {
		return
	}
	if t.idle = n.Status.Type != "active"; t.idle {
		t.attention.after(gapWait, timerGap)
		return
	}
	t.doubted = time.Time{}
	if !t.record.Gap { // what was said of idling was older than the turn
		t.attention.after(0, timerGap)
	}
}

// overflow notes that something of the thread was dropped on the way. Deltas
// are repeated by their completed item; anything else may have been the end.
func (t *turn) overflow(note appserver.Notification) {
	var n appserver.OverflowNote
	if t.decode(note, &n) && !n.Deltas {
		t.record.Gap = true
		t.attention.after(gapWait, timerGap)
	}
}

// progress handles what is neither text, item nor end.
func (t *turn) progress(note appserver.Notification) {
	switch note.Method {
	case appserver.NotePlanUpdated:
		var n appserver.PlanNote
		if t.decode(note, &n) && n.TurnID == t.id {
			t.hasRead()
			t.To.Tell(agent.PlanUpdated{Explanation: n.Explanation, Steps: items.Steps(n.Plan)})
		}
	case appserver.NoteDiffUpdated:
		var n appserver.DiffNote
		if t.decode(note, &n) && n.TurnID == t.id {
			t.record.Diff = n.Diff
			t.To.Tell(agent.DiffUpdated{Diff: n.Diff})
		}
	case appserver.NoteTokenUsage:
		var n appserver.UsageNote
		if t.decode(note, &n) && n.TurnID == t.id {
			t.record.Count(n.TokenUsage.Last)
			t.c.nearlyFull = 10*n.TokenUsage.Last.TotalTokens >= 9*n.TokenUsage.ModelContextWindow
			total := agent.Usage(n.TokenUsage.Total)
			t.c.spent.Store(&total)
		}
	case appserver.NoteError:
		var n appserver.ErrorNote
		if t.decode(note, &n) && n.TurnID == t.id {
			t.troubled(n)
		}
	case appserver.NoteWarning, appserver.NoteModelRerouted:
		t.warning(note)
	case appserver.NoteMcpServerStatus:
		t.serverStatus(note)
	}
}

// serverStatus says that an MCP server has not started, whose tools the turn lacks. Why is for the
// operator: configuration stands in it.
func (t *turn) serverStatus(note appserver.Notification) {
	t.d.global(note) // the log says it as of any
	var n struct{ Name, Status string }
	if t.decode(note, &n) && n.Status == "failed" {
		t.To.Tell(agent.Notice{Text: "The MCP server " + brief.Named(brief.Clip(n.Name, 128)) + " did not start, so codex works without its tools. The log of the runtime says why."})
	}
}

func (t *turn) warning(note appserver.Notification) {
	var n struct{ Message, FromModel, ToModel string }
	if !t.decode(note, &n) {
		return
	}
	if n.ToModel != "" {
		n.Message = "the model was changed from " + n.FromModel + " to " + n.ToModel
	}
	t.To.Tell(agent.Notice{Text: t.d.failures.Words(n.Message)})
}

// decode reports whether a notification could be read. One that cannot is
// logged by its method alone: its body may hold the user's text.
func (t *turn) decode(note appserver.Notification, into any) bool {
	if err := note.Decode(into); err != nil {
		t.d.log.Warn("a notification of codex could not be read", "method", note.Method, "err", err)
		return false
	}
	return true
}
