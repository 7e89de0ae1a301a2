package codex

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// The steps of a trial, in words that "did not come" follows. Those of a turn stand in the order in which
// they are looked for: the first that is not there is the one that is told.
const (
	stepStart    = "the start of codex"
	stepThread   = "a thread (thread/start)"
	stepProvider = "a thread on the scripted model"
	stepAccepted = "the answer to turn/start"

	stepStarted  = "the start of the turn (turn/started)"
	stepMessage  = "the item of the message (userMessage, with our clientId)"
	stepCalled   = "the call of the tool (item/tool/call)"
	stepTool     = "the items of the tool's call (dynamicToolCall, started and completed)"
	stepAnswered = "the tool's answer at the model, which repeats it"
	stepCommand  = "the items of the command (commandExecution, started and completed with its output)"
	stepText     = "the streamed text (item/agentMessage/delta) that is the completed item's"
	stepEnded    = "the end of the turn (turn/completed)"

	stepSteered     = "the answer to turn/steer"
	stepHeard       = "the message of turn/steer at the model, which answers it"
	stepInterrupted = "the answer to turn/interrupt"
	stepCut         = "the end of the interrupted turn (turn/completed)"

	stepClose = "the end of codex when its input ended"
)

// A triedTurn is a turn of a trial: what has to come of it, and what has. But for its marks it is
// read and written by what follows the turn alone.
type triedTurn struct {
	thread, id string
	where      string // in front of the name of a step; empty in the first turn
	text       string
	message    string   // the id that the message has for us
	steer      string   // that of the message that goes in; empty for none
	steps      []string // that have to come

	status      appserver.TurnStatus // at its end; empty before
	began       map[string]bool      // items
	streamed    map[string]string    // of messages of the agent, by their items
	texts       int                  // messages of the agent that are complete and were streamed so
	torn        bool                 // one was not
	interrupted bool                 // we have asked for it

	mu     sync.Mutex // guards the fields below
	marks  map[string]bool
	caller string // the turn that has called the tool
}

func newTriedTurn(text, message, steer string, steps ...string) *triedTurn {
	return &triedTurn{
		text: text, message: message, steer: steer, steps: steps,
		began: map[string]bool{}, streamed: map[string]string{}, marks: map[string]bool{},
	}
}

// first is the turn that comes to its end.
func (r *tryout) first() *triedTurn {
	steps := []string{stepStarted, stepMessage, stepCalled, stepTool, stepAnswered}
	if r.Printed != "" {
		steps = append(steps, stepCommand)
	}
	return newTriedTurn(r.Work, "trial.1", "", append(steps, stepText, stepEnded)...)
}

// second is the turn that is spoken into and interrupted.
func (r *tryout) second() *triedTurn {
	t := newTriedTurn(r.Hold, "trial.2", "trial.3", stepStarted, stepCalled, stepSteered, stepHeard, stepInterrupted, stepCut)
	t.where = "in the second turn, "
	return t
}

func (t *triedTurn) mark(step string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.marks[step] = true
}

func (t *triedTurn) came(step string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.marks[step]
}

func (t *triedTurn) calledBy(turn string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.caller = turn
}

// missing is the first step that has not come; empty if all have.
func (t *triedTurn) missing() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.marks[stepCalled] = t.caller != "" && t.caller == t.id
	t.marks[stepText] = t.texts > 0 && !t.torn
	for _, step := range t.steps {
		if !t.marks[step] {
			return step
		}
	}
	return ""
}

// take reads one notification of the thread.
func (r *tryout) take(t *triedTurn, note appserver.Notification) {
	var n struct {
		TurnID string              `json:"turnId"`
		ItemID string              `json:"itemId"`
		Delta  string              `json:"delta"`
		Item   appserver.Item      `json:"item"`
		Turn   appserver.Turn      `json:"turn"`
		Error  appserver.TurnError `json:"error"`
	}
	if err := json.Unmarshal(note.Params, &n); err != nil {
		r.say(note.Method + " cannot be read: " + err.Error())
		return
	}
	switch ofTurn := n.TurnID == t.id; {
	case note.Method == appserver.NoteWarning:
		r.say("codex warned: " + warning(note))
	case note.Method == appserver.NoteError:
		r.say("codex said: " + n.Error.Message)
	case note.Method == appserver.NoteTurnStarted && n.Turn.ID == t.id:
		t.mark(stepStarted)
	case note.Method == appserver.NoteTurnCompleted && n.Turn.ID == t.id:
		r.end(t, n.Turn)
	case note.Method == appserver.NoteItemStarted && ofTurn:
		t.began[n.Item.ID] = true
	case note.Method == appserver.NoteItemCompleted && ofTurn:
		r.complete(t, n.Item)
	case note.Method == appserver.NoteAgentMessageDelta && ofTurn:
		t.streamed[n.ItemID] += n.Delta
		if strings.Contains(t.streamed[n.ItemID], r.Heard) {
			t.mark(stepHeard)
		}
	}
}

// complete reads an item that is complete.
func (r *tryout) complete(t *triedTurn, item appserver.Item) {
	began := t.began[item.ID]
	switch item.Type {
	case appserver.ItemUserMessage:
		if item.ClientID == t.message {
			t.mark(stepMessage)
		}
	case appserver.ItemDynamicToolCall:
		if began && item.Tool == r.Tool.Name && item.Status == "completed" {
			t.mark(stepTool)
		}
	case appserver.ItemCommandExecution:
		exit := -1
		if item.ExitCode != nil {
			exit = *item.ExitCode
		}
		r.say(fmt.Sprintf("the command %q is %s, with exit code %d and the output %q", item.Command, item.Status, exit, item.AggregatedOutput))
		if began && exit == 0 && strings.Contains(item.AggregatedOutput, r.Printed) {
			t.mark(stepCommand)
		}
	case appserver.ItemAgentMessage:
		r.say(fmt.Sprintf("the model said %q", item.Text))
		if strings.Contains(item.Text, r.Answer) {
			t.mark(stepAnswered)
		}
		if began && t.streamed[item.ID] == item.Text {
			t.texts++
			return
		}
		t.torn = true
		r.say(fmt.Sprintf("of that, %q was streamed", t.streamed[item.ID]))
	}
}

// end reads the end of a turn.
func (r *tryout) end(t *triedTurn, turn appserver.Turn) {
	t.status = turn.Status
	if turn.Error != nil {
		r.say("codex said: " + turn.Error.Message)
	}
	switch turn.Status {
	case appserver.TurnCompleted:
		t.mark(stepEnded)
	case appserver.TurnInterrupted:
		t.mark(stepCut)
	}
}

// warning is what codex warns of.
func warning(note appserver.Notification) string {
	var n struct {
		Summary string `json:"summary"` // of its configuration, and of what is to go
		Details string `json:"details"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(note.Params, &n) // all of it is said then
	return strings.TrimSpace(cmp.Or(n.Summary, n.Message, string(note.Params)) + " " + n.Details)
}
