package toolset

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// An Inbox is where messages wait for an agent that fetches them. What its methods return is what a model reads.
type Inbox interface {
	// Wait shows the first message, which may come within a limit, and leaves it where it is.
	Wait(ctx context.Context, limit time.Duration) (string, error)
	// Peek shows some of the messages, or one of them.
	Peek(ctx context.Context, p Peek) (string, error)
	// Pop takes a message off that gets no answer. Its workspace may be "" where that is clear.
	Pop(ctx context.Context, workspace, id string) (string, error)
	// Reply answers a message, once, and takes it off.
	Reply(ctx context.Context, workspace, id, text string, files []string) (string, error)
	// Telling notes that the user of a workspace, or a peer, is about to be told something by another tool; told hears what came of it.
	Telling(ctx context.Context, workspace, peer, text string) (told func(error), err error)
	// Keeps reports whether this process may keep the inbox, and so can answer.
	Keeps() bool
}

// A Peek is what is to be shown of an inbox.
type Peek struct {
	Limit  int    // so many at most
	Offset int    // from one on, the first by 0
	Kind   string // of this kind only; "" is all

	ID        string // of the only one that is shown
	Workspace string // at which that has arrived; may be ""
	From      int    // the character that its text is shown from
}

// kinds are those of messages.
var kinds = []string{"canvas_user", "peer_agent", "delegation_result"} //nolint:gochecknoglobals // a constant

// ReplyTool answers a message of an inbox.
const ReplyTool = "reply_to_message"

const (
	longestWait = 300 // seconds
	mostPeeked  = 50
)

type wait struct {
	Timeout float64 `json:"timeout_secs,omitempty" jsonschema:"how long to wait; 60 if left out, at most 300"`
}

type peek struct {
	Limit int `json:"limit,omitempty" jsonschema:"how many; 10 if left out"`
}

type peekOf struct {
	peek
	Offset int    `json:"offset,omitempty" jsonschema:"how many to leave out at the front"`
	Kind   string `json:"kind,omitempty" jsonschema:"only those of this kind: canvas_user, peer_agent or delegation_result"`

	ID string `json:"activity_id,omitempty" jsonschema:"shows this message only, with all of a text that was cut short elsewhere"`
	arrival
	From int `json:"from,omitempty" jsonschema:"with activity_id: the character of the text to begin with"`
}

// arrival is the workspace of a message.
type arrival struct {
	Workspace string `json:"arrival_workspace_id,omitempty" jsonschema:"with activity_id: the message's, where it has one"`
}

type pop struct {
	ID string `json:"activity_id" jsonschema:"the id of the message"`
}

type popOf struct {
	pop
	arrival
}

type answer struct {
	ID string `json:"activity_id" jsonschema:"the id of the message that is answered"`
	arrival
	Message string   `json:"message" jsonschema:"the answer, as its sender is to read it; Markdown"`
	Files   []string `json:"attachments,omitempty" jsonschema:"paths of files under the working directory that go with it, to a user only"`
}

// inboxTools are those by which messages are fetched, in the words that hold where they lie.
func (s *Set) inboxTools() []tool {
	if s.cfg.Inbox == nil {
		return []tool{
			define("wait_for_message", "Waits for the next message to this workspace, where messages are not brought by themselves.", short, s.waitForMessage),
			define("inbox_peek", "Lists messages that wait for this workspace, where they are not brought by themselves.", short, s.inboxPeek),
			define("inbox_pop", "Takes a message off the list of those that wait.", short, s.inboxPop),
		}
	}
	all := []tool{
		define("wait_for_message", "Waits for the next message to this workspace and shows it: who sent it (kind canvas_user is the user, peer_agent another agent), its text, its activity_id. "+
			"It stays in the inbox until it is answered or taken off, and is shown again until then. The user's messages come first.",
			(longestWait+30)*time.Second, s.waitForMessage),
		define("inbox_peek", "Lists messages that wait in the inbox of this workspace, in the order in which wait_for_message shows them, without taking them off.", short, s.inboxPeekOf),
		define("inbox_pop", "Takes a message off the inbox that needs no answer, or that you have answered with another tool. After reply_to_message it is not needed.", short, s.inboxPopOf),
	}
	if s.cfg.Inbox.Keeps() {
		all = append(all, define(ReplyTool, "Answers a message of the inbox, of the user or of another agent, and takes it off. Use this for every answer: "+
			"it is kept on the disk before it is sent, is sent until the platform has it, and is never sent twice. "+
			"send_message_to_user and delegate_task are for what you say of your own accord.", short, s.replyTo))
	}
	return all
}

// pushed is said where messages come as turns of their own, so that there is nothing
// to wait for.
const pushed = "This workspace gets its messages by itself: each comes as a turn of its own, and a new one of the user may come into this turn. " +
	"There is no inbox to look into. Finish your turn, and answer when a message comes."

func (s *Set) waitForMessage(ctx context.Context, a wait) (string, error) {
	if s.cfg.Inbox == nil {
		return pushed, nil
	}
	secs := min(max(cmp.Or(a.Timeout, 60), 0), longestWait)
	return s.cfg.Inbox.Wait(ctx, time.Duration(secs*float64(time.Second)))
}

func (s *Set) inboxPeek(context.Context, peek) (string, error) { return pushed, nil }

func (s *Set) inboxPeekOf(ctx context.Context, a peekOf) (string, error) {
	kind := strings.TrimSpace(a.Kind)
	if kind != "" && !slices.Contains(kinds, kind) {
		return "", errors.New("kind is one of " + strings.Join(kinds, ", "))
	}
	return s.cfg.Inbox.Peek(ctx, Peek{
		Limit: min(max(cmp.Or(a.Limit, 10), 1), mostPeeked), Offset: max(a.Offset, 0), Kind: kind, ID: strings.TrimSpace(a.ID), Workspace: strings.TrimSpace(a.Workspace), From: max(a.From, 0),
	})
}

func (s *Set) inboxPop(_ context.Context, a pop) (string, error) {
	return brief.Pretty(map[string]any{"removed": false, "activity_id": a.ID, "note": pushed})
}

func (s *Set) inboxPopOf(ctx context.Context, a popOf) (string, error) {
	id := strings.TrimSpace(a.ID)
	if id == "" {
		return "", errors.New("activity_id is required")
	}
	return s.cfg.Inbox.Pop(ctx, strings.TrimSpace(a.Workspace), id)
}

func (s *Set) replyTo(ctx context.Context, a answer) (string, error) {
	id := strings.TrimSpace(a.ID)
	if id == "" || strings.TrimSpace(a.Message) == "" {
		return "", errors.New("activity_id and message are required")
	}
	if len(a.Files) > mostAttachments {
		return "", errors.New("a message takes at most 20 attachments")
	}
	for _, path := range a.Files {
		if s.cfg.Files == nil {
			return "", errors.New("there are no files that could be attached")
		}
		if _, err := s.cfg.Files.Open(path); err != nil {
			return "", advised{"nothing was answered, because of the attachment " + path, err}
		}
	}
	return s.cfg.Inbox.Reply(ctx, strings.TrimSpace(a.Workspace), id, a.Message, a.Files)
}

// telling notes for the inbox that the user, or a peer, is about to be told something; see [Inbox].
func (s *Set) telling(ctx context.Context, peer, text string) (told func(error), err error) {
	if s.cfg.Inbox == nil {
		return func(error) {}, nil
	}
	told, err = s.cfg.Inbox.Telling(ctx, s.cfg.Workspace, peer, text)
	if err != nil {
		return nil, advised{"nothing was sent, because it could not be noted that it is", err}
	}
	return told, nil
}
