package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// An origin is who sent a message. The platform does not say; the marks that its
// parts leave do, mostly.
type origin int

const (
	fromAnybody  origin = iota
	fromUser            // on the canvas
	fromPeer            // another agent
	fromPlatform        // the platform itself, or the workspace to itself
	fromEvent           // a schedule, or a service by way of the platform
	fromChat            // people of a chat that the platform is connected to
)

// A sender is who sent a message, as far as the message says so.
type sender struct {
	origin origin
	id     string // of another agent, empty if it does not say who it is, or of a chat
}

// originNames are how the journal has them.
var originNames = [...]string{"", "user", "peer", "platform", "event", "chat"} //nolint:gochecknoglobals // a constant

// MarshalText implements [encoding.TextMarshaler].
func (s sender) MarshalText() ([]byte, error) { return []byte(originNames[s.origin] + ":" + s.id), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *sender) UnmarshalText(text []byte) error {
	name, id, _ := strings.Cut(string(text), ":")
	i := slices.Index(originNames[:], name)
	if i < 0 {
		return fmt.Errorf("the sender %q is of no kind that is known", text)
	}
	*s = sender{origin: origin(i), id: id}
	return nil
}

// What the metadata of another agent's message have, of the message or of its request:
// the platform's delegations the second, and the agents' own tools the others.
const (
	markSource     = "source_workspace_id"
	markDelegation = "delegation_id"
	markParent     = "parent_task_id"
)

var marks = []string{markSource, markDelegation, markParent} //nolint:gochecknoglobals // a constant

// markChat is what the messages of chats have beside the name of the service.
const markChat = "chat_id"

// platformMarks are what messages have that the platform makes itself, or of what it is told, and
// the workspace's to itself.
var platformMarks = []string{"source", "source_type", markChat} //nolint:gochecknoglobals // a constant

// schedules are how the ids of their messages begin, which have no other mark: of those that are
// due, and of those that the user has run at once.
var schedules = []string{"cron-", "manual-cron-"} //nolint:gochecknoglobals // a constant

// senderOf reads the marks in the metadata of a message and of its request. Those of
// another agent weigh more than any other: a message that has both is not the user's. A platform
// may put the canvas's on what a schedule sends, and a chat has a history as the canvas has.
func senderOf(m *a2a.Message, request map[string]any, main string) sender {
	says := func(key string) string {
		s, _ := cmp.Or(said(m.Metadata, key), said(request, key)).(string)
		return s
	}
	if s := peerOf(m.Metadata, request); s.isPeer() {
		return s
	}
	source := says("source")
	switch chat := cmp.Or(said(m.Metadata, markChat), said(request, markChat)); {
	case source == "platform", strings.HasPrefix(says("source_type"), "self-"):
		return sender{origin: fromPlatform}
	case slices.ContainsFunc(schedules, func(begin string) bool { return strings.HasPrefix(m.ID, begin) }):
		return sender{origin: fromEvent}
	case source != "" && source != "canvas_user" && chat != nil:
		return sender{origin: fromChat, id: peerwords.Plain(source) + "/" + peerwords.Plain(plainly(chat, m.ID))}
	case source != "" && source != "canvas_user":
		return sender{origin: fromEvent}
	case source != "", hasHistory(m, request), main != "" && m.ContextID == main, main != "" && strings.HasPrefix(m.ContextID, "sess-"):
		return sender{origin: fromUser}
	}
	return sender{}
}

// exactly is up to which numbers of JSON are what was sent: others may have been rounded to the
// same one.
const exactly = 1 << 53

// plainly is the id of a chat, a number's without an exponent. A number that may be another chat's
// too is one for each message.
func plainly(id any, message string) string {
	n, ok := id.(float64)
	if !ok {
		return fmt.Sprint(id)
	}
	text := strconv.FormatFloat(n, 'f', -1, 64)
	if math.Abs(n) >= exactly {
		text += " " + message
	}
	return text
}

func hasHistory(m *a2a.Message, request map[string]any) bool {
	_, in := m.Metadata[historyKey]
	_, beside := request[historyKey]
	return in || beside
}

// sender is who sent a message, or made a request with such metadata; standing alone all
// are alike.
func (e *Engine) sender(m *a2a.Message, request map[string]any) sender {
	if e.cfg.Workspace == nil {
		return sender{}
	}
	return senderOf(m, request, e.cfg.Main)
}

// A keptMessage is one as the journal has it. As it stands in its task's history it does not tell who
// has sent it: it has the context of the task, and what its request said of the user is not in it.
type keptMessage struct {
	a2a.Message
	From *sender `json:"from,omitempty"` // earlier versions have kept none
}

// fromJournal returns a message of an earlier process, and who has sent it. A message of another agent's
// stays one in a process that was started without a workspace.
func (e *Engine) fromJournal(body []byte) (*a2a.Message, sender, error) {
	k, _, err := decode[keptMessage](body)
	switch {
	case err != nil:
		return nil, sender{}, err
	case k.From == nil || e.cfg.Workspace == nil && !k.From.isPeer():
		return &k.Message, e.sender(&k.Message, nil), nil
	}
	return &k.Message, *k.From, nil
}

// said is what metadata say under a key: a text without blanks around it, a value that is
// none as it is, and nil for nothing, an empty text, or blanks.
func said(meta map[string]any, key string) any {
	text, ok := meta[key].(string)
	if !ok {
		return meta[key]
	}
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return text
}

// peerOf is the agent that marks speak of. One that is no text is a mark all the same.
func peerOf(message, request map[string]any) sender {
	marked := false
	for _, key := range marks {
		marked = marked || said(message, key) != nil || said(request, key) != nil
	}
	if !marked {
		return sender{}
	}
	id, _ := cmp.Or(said(message, markSource), said(request, markSource)).(string)
	return sender{origin: fromPeer, id: id}
}

func (s sender) isPeer() bool { return s.origin == fromPeer }

// isApart reports whether the sender has conversations of its own, and no part in others.
func (s sender) isApart() bool { return s.origin == fromPeer || s.origin == fromChat }

// isNobody reports whether nobody stands behind the message who would be shown what is asked.
func (s sender) isNobody() bool { return s.origin == fromPlatform || s.origin == fromEvent }

// answers reports whether the sender may answer what codex asks. Neither another agent nor
// the platform does, nor the workspace itself, whose words may be a model's.
func (s sender) answers() bool { return !s.isPeer() && !s.isNobody() }

// mute reports whether what codex asks in a turn of the sender's waits for people who may not
// be there. What it asks in the main conversation the user answers, whoever has begun the turn;
// and where there is no such conversation, the user may be in any that is no agent's.
func (t *task) mute(s sender) bool {
	e := t.engine
	return s.isPeer() || !s.answers() && e.cfg.Main != "" && t.thread != e.conversation(&incoming{})
}

// peerPrefix and chatPrefix begin the names of the conversations with other agents and chats.
const (
	peerPrefix = "peer:"
	chatPrefix = "chat:"
)

// OfPeer reports whether a conversation is one with another agent, or with a chat. Only a
// workspace has those; elsewhere a caller may call one of its own so.
func (e *Engine) OfPeer(conversation string) bool {
	return e.cfg.Workspace != nil && namesPeer(conversation)
}

func namesPeer(conversation string) bool {
	return strings.HasPrefix(conversation, peerPrefix) || strings.HasPrefix(conversation, chatPrefix)
}

// base begins the names of the sender's conversations. An id never has the one that stands
// for all who do not say who they are.
func (s sender) base() string {
	switch {
	case s.origin == fromChat:
		return chatPrefix + s.id
	case s.id == "":
		return peerPrefix + "?"
	}
	return peerPrefix + peerwords.Plain(s.id)
}

// in reports whether a conversation has the sender's name.
func (s sender) in(conversation string) bool {
	rest, ok := strings.CutPrefix(conversation, s.base())
	return ok && s.isApart() && (rest == "" || rest[0] == '/' || rest[0] == '@')
}

// owns reports whether a conversation is the sender's. Those who do not say who they are
// cannot be told from each other.
func (s sender) owns(conversation string) bool { return s.id != "" && s.in(conversation) }

// forPeer reports whether another agent, or a chat, sees what becomes of a message of the task: it
// has sent it, or the conversation is one of theirs, whoever has sent it.
func (t *task) forPeer(s sender) bool { return s.isApart() || t.ofPeer() }

// ofPeer reports whether the conversation is one of theirs.
func (t *task) ofPeer() bool { return t.engine.OfPeer(t.about()) }

// conversation is that of an agent's or a chat's message, by the contextId that it was sent with.
// The sender chooses among its own: what it names is looked for nowhere else. One that does not
// say who it is has another one for each message.
func (s sender) conversation(given, main string) string {
	switch {
	case s.owns(given):
		return given
	case s.id != "" && main != "" && (given == "" || given == main):
		return s.base()
	case s.id == "" || given == "":
		return s.base() + "/" + a2a.NewContextID()
	}
	return s.base() + "/" + given
}

// mark notes who sent a message, and what follows for its key. What only the request says
// of one that is not the user goes into the message, where readers of the history see it.
func (e *Engine) mark(req *a2a.SendMessageRequest, in *incoming) {
	in.from = e.sender(req.Message, req.Metadata)
	var keys []string
	switch in.from.origin {
	case fromPeer:
		in.key.Caller, keys = in.from.base(), marks
	case fromChat: // a service counts the messages of each chat anew
		in.key.Caller, keys = in.from.base(), platformMarks
	case fromPlatform, fromEvent:
		keys = platformMarks
	default:
		return
	}
	marked := *in.message
	marked.Metadata = maps.Clone(marked.Metadata)
	for _, key := range keys {
		if value := said(req.Metadata, key); value != nil && said(marked.Metadata, key) == nil {
			marked.SetMeta(key, value)
		}
	}
	in.message = &marked
}

// frame has codex see whose words the input is. File names are the agent's words, too.
func (in *incoming) frame() {
	if !in.from.isPeer() {
		return
	}
	var texts []string
	framed := make([]agent.Input, 1, len(in.input)+1)
	for _, input := range in.input {
		if input.Type == "text" {
			texts = append(texts, input.Text)
		} else {
			framed = append(framed, input)
		}
	}
	framed[0] = agent.Text(peerwords.Message(in.from.id, strings.Join(texts, "\n\n")))
	in.input = framed
}

// known is the message that was accepted before under the key. An earlier version kept
// those of agents without their senders, and the platform may send one of them again.
func (e *Engine) known(ctx context.Context, in *incoming) (store.Message, error) {
	m, err := e.cfg.Journal.Message(ctx, in.key)
	if !in.from.isPeer() || !errors.Is(err, store.ErrUnknown) {
		return m, err
	}
	earlier := in.key
	earlier.Caller = ""
	old, missing := e.cfg.Journal.Message(ctx, earlier)
	if missing != nil || old.Digest != in.digest || !e.keptFor(ctx, in.from, old) {
		return m, err
	}
	in.key = earlier
	return old, nil
}

// keptFor reports whether a message that an earlier version has kept without its sender is
// an agent's. That version did not keep what only the request had said of an agent; but the
// answers of such messages were not the user's, and of all others they were. What this
// version has kept without one is no agent's.
func (e *Engine) keptFor(ctx context.Context, s sender, m store.Message) bool {
	row, err := e.cfg.Journal.Head(ctx, m.TaskID)
	if err != nil {
		return false
	}
	body, err := e.cfg.Journal.Body(ctx, m.Job)
	if err != nil {
		return false
	}
	h, badHead := readHead(row)
	message, _, err := decode[a2a.Message](body)
	if badHead != nil || h.Sorted || err != nil {
		return false
	}
	if by := senderOf(message, nil, ""); by != (sender{}) {
		return by == s
	}
	return !h.Owed
}

// reachable refuses an agent or a chat a task that is in none of its conversations, in the words
// for one that is not there.
func (e *Engine) reachable(ctx context.Context, s sender, id a2a.TaskID, live *task) error {
	if !s.isApart() {
		return nil
	}
	conversation := ""
	if live != nil {
		conversation = live.about()
	} else if row, err := e.cfg.Journal.Head(ctx, string(id)); err == nil {
		conversation = row.Conversation
	}
	if !s.owns(conversation) {
		return notFound(id)
	}
	return nil
}
