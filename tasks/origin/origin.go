// Package origin tells who sent a message, by the marks that its parts leave, and which
// conversations are theirs.
package origin

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
)

// A Kind is who sent a message. The platform does not say; the marks that its
// parts leave do, mostly.
type Kind int

// The kinds of senders.
const (
	Anybody  Kind = iota
	User          // on the canvas
	Peer          // another agent
	Platform      // the platform itself, or the workspace to itself
	Event         // a schedule, or a service by way of the platform
	Chat          // people of a chat that the platform is connected to
)

// A Sender is who sent a message, as far as the message says so.
type Sender struct {
	Kind Kind
	ID   string // of another agent, empty if it does not say who it is, or of a chat
}

// names are how the journal has them.
var names = [...]string{"", "user", "peer", "platform", "event", "chat"} //nolint:gochecknoglobals // a constant

// MarshalText implements [encoding.TextMarshaler].
func (s Sender) MarshalText() ([]byte, error) { return []byte(names[s.Kind] + ":" + s.ID), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Sender) UnmarshalText(text []byte) error {
	name, id, _ := strings.Cut(string(text), ":")
	i := slices.Index(names[:], name)
	if i < 0 {
		return fmt.Errorf("the sender %q is of no kind that is known", text)
	}
	*s = Sender{Kind: Kind(i), ID: id}
	return nil
}

const (
	markSource     = "source_workspace_id"
	markDelegation = "delegation_id"
	markParent     = "parent_task_id"
)

// Marks are what the metadata of another agent's message have, of the message or of its request: the
// platform's delegations the second, and the agents' own tools the others.
var Marks = []string{markSource, markDelegation, markParent} //nolint:gochecknoglobals // a constant

// markChat is what the messages of chats have beside the name of the service.
const markChat = "chat_id"

// PlatformMarks are what messages have that the platform makes itself, or of what it is told, and
// the workspace's to itself.
var PlatformMarks = []string{"source", "source_type", markChat} //nolint:gochecknoglobals // a constant

// schedules are how the ids of their messages begin, which have no other mark: of those that are
// due, and of those that the user has run at once.
var schedules = []string{"cron-", "manual-cron-"} //nolint:gochecknoglobals // a constant

// Of reads the marks in the metadata of a message and of its request. Those of
// another agent weigh more than any other: a message that has both is not the user's. A platform
// may put the canvas's on what a schedule sends, and a chat has a history as the canvas has.
func Of(m *a2a.Message, request map[string]any, main string) Sender {
	says := func(key string) string {
		s, _ := cmp.Or(Said(m.Metadata, key), Said(request, key)).(string)
		return s
	}
	if s := peerOf(m.Metadata, request); s.IsPeer() {
		return s
	}
	source := says("source")
	switch chat := cmp.Or(Said(m.Metadata, markChat), Said(request, markChat)); {
	case source == "platform", strings.HasPrefix(says("source_type"), "self-"):
		return Sender{Kind: Platform}
	case slices.ContainsFunc(schedules, func(begin string) bool { return strings.HasPrefix(m.ID, begin) }):
		return Sender{Kind: Event}
	case source != "" && source != "canvas_user" && chat != nil:
		return Sender{Kind: Chat, ID: peerwords.Plain(source) + "/" + peerwords.Plain(plainly(chat, m.ID))}
	case source != "" && source != "canvas_user":
		return Sender{Kind: Event}
	case source != "", hasHistory(m, request), main != "" && m.ContextID == main, main != "" && strings.HasPrefix(m.ContextID, "sess-"):
		return Sender{Kind: User}
	}
	return Sender{}
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
	_, in := m.Metadata[HistoryKey]
	_, beside := request[HistoryKey]
	return in || beside
}

// Said is what metadata say under a key: a text without blanks around it, a value that is
// none as it is, and nil for nothing, an empty text, or blanks.
func Said(meta map[string]any, key string) any {
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
func peerOf(message, request map[string]any) Sender {
	marked := false
	for _, key := range Marks {
		marked = marked || Said(message, key) != nil || Said(request, key) != nil
	}
	if !marked {
		return Sender{}
	}
	id, _ := cmp.Or(Said(message, markSource), Said(request, markSource)).(string)
	return Sender{Kind: Peer, ID: id}
}

// IsPeer reports whether another agent has sent the message.
func (s Sender) IsPeer() bool { return s.Kind == Peer }

// IsApart reports whether the sender has conversations of its own, and no part in others.
func (s Sender) IsApart() bool { return s.Kind == Peer || s.Kind == Chat }

// IsNobody reports whether nobody stands behind the message who would be shown what is asked.
func (s Sender) IsNobody() bool { return s.Kind == Platform || s.Kind == Event }

// Answers reports whether the sender may answer what codex asks. Neither another agent nor
// the platform does, nor the workspace itself, whose words may be a model's.
func (s Sender) Answers() bool { return !s.IsPeer() && !s.IsNobody() }

// peerPrefix and chatPrefix begin the names of the conversations with other agents and chats.
const (
	peerPrefix = "peer:"
	chatPrefix = "chat:"
)

// NamesPeer reports whether a conversation has the name of one with another agent, or a chat.
func NamesPeer(conversation string) bool {
	return strings.HasPrefix(conversation, peerPrefix) || strings.HasPrefix(conversation, chatPrefix)
}

// Base begins the names of the sender's conversations. An id never has the one that stands
// for all who do not say who they are.
func (s Sender) Base() string {
	switch {
	case s.Kind == Chat:
		return chatPrefix + s.ID
	case s.ID == "":
		return peerPrefix + "?"
	}
	return peerPrefix + peerwords.Plain(s.ID)
}

// In reports whether a conversation has the sender's name.
func (s Sender) In(conversation string) bool {
	rest, ok := strings.CutPrefix(conversation, s.Base())
	return ok && s.IsApart() && (rest == "" || rest[0] == '/' || rest[0] == '@')
}

// Owns reports whether a conversation is the sender's. Those who do not say who they are
// cannot be told from each other.
func (s Sender) Owns(conversation string) bool { return s.ID != "" && s.In(conversation) }

// Conversation is that of an agent's or a chat's message, by the contextId that it was sent with.
// The sender chooses among its own: what it names is looked for nowhere else. One that does not
// say who it is has another one for each message.
func (s Sender) Conversation(given, main string) string {
	switch {
	case s.Owns(given):
		return given
	case s.ID != "" && main != "" && (given == "" || given == main):
		return s.Base()
	case s.ID == "" || given == "":
		return s.Base() + "/" + a2a.NewContextID()
	}
	return s.Base() + "/" + given
}

// HistoryKey is where the canvas of a workspace puts what was said before. The thread has
// that; that it is there says who sends the message.
const HistoryKey = "history"
