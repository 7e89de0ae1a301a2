package outside

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/channel/desk"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
)

// What one call shows: so many characters of messages, and fewer where JSON makes more bytes of them than a tool may return.
const (
	mostText  = 60_000
	mostBytes = 95_000

	mostFiles   = 20  // of one message
	longestURI  = 512 // of a file; of another one only the name is shown
	longestName = 128
)

// fitting is what show returns of so many characters, or of as many as fit.
func fitting(most int, show func(most int) (string, error)) (string, error) {
	for {
		text, err := show(most)
		if err != nil || len(text) <= mostBytes || most == 1 {
			return text, err
		}
		most = max(1, most/2)
	}
}

// show shows one message, from a character of its text on.
func (a *Agent) show(seen desk.Seen, from int) (string, error) {
	return fitting(mostText, func(most int) (string, error) { return brief.Pretty(a.letter(seen, most, from)) })
}

// A letter is a message as the platform's own tools show it.
type letter struct {
	ID          string       `json:"activity_id"`
	Text        string       `json:"text"`
	Peer        string       `json:"peer_id"`
	Kind        string       `json:"kind"`
	Method      string       `json:"method"`
	Created     string       `json:"created_at"`
	Arrival     string       `json:"arrival_workspace_id,omitempty"`
	PeerName    string       `json:"peer_name,omitempty"`
	PeerRole    string       `json:"peer_role,omitempty"`
	CardURL     string       `json:"agent_card_url,omitempty"`
	Attachments []attachment `json:"attachments,omitempty"`
	Behind      int          `json:"waiting_behind,omitempty"`
	Note        string       `json:"note,omitempty"`
}

type attachment struct {
	Kind      string `json:"kind"`
	URI       string `json:"uri"`
	MediaType string `json:"mime_type,omitempty"`
	Name      string `json:"name,omitempty"`
	Path      string `json:"path,omitempty"`
}

// letter shows a message, so many characters of its text from one on.
func (a *Agent) letter(seen desk.Seen, most, from int) letter {
	m := seen.Message
	text, note := part(m.ID, m.Text, most, from)
	if m.Peer != "" {
		text = peerwords.Message(m.Peer, text)
	}
	l := letter{
		ID: m.ID, Text: text, Peer: m.Peer, Kind: kindOf(m), Method: cmp.Or(m.Method, "message/send"), Behind: seen.Behind,
		PeerName: peerwords.Clean(m.PeerName), PeerRole: peerwords.Clean(m.PeerRole), CardURL: m.CardURL,
	}
	if at := cmp.Or(m.At, m.Written); !at.IsZero() {
		l.Created = at.UTC().Format(time.RFC3339Nano)
	}
	if len(a.spaces) > 1 {
		l.Arrival = m.Workspace
	}
	for _, f := range m.Files[:min(len(m.Files), mostFiles)] {
		l.Attachments = append(l.Attachments, attachmentOf(f))
	}
	notes := []string{m.Note, note}
	if more := len(m.Files) - mostFiles; more > 0 {
		notes = append(notes, fmt.Sprintf("There are %d more files with it, which are not shown.", more))
	}
	if m.Mute != "" {
		notes = append(notes, "No answer is sent to this message: "+m.Mute+". Read it, and take it off with inbox_pop.")
	}
	if seen.More {
		notes = append(notes, "More messages wait on this machine than the inbox shows at once; they follow as these are answered or taken off.")
	}
	l.Note = strings.Join(slices.DeleteFunc(notes, func(note string) bool { return note == "" }), " ")
	return l
}

// part is a part of a text, and what there is to know of the rest.
func part(id, text string, most, from int) (shown, note string) {
	all := utf8.RuneCountInString(text)
	if from == 0 && all <= most {
		return text, ""
	}
	runes := []rune(text)
	from = min(from, all)
	end := min(from+most, all)
	note = fmt.Sprintf("Of the %d characters of this text, these are those from %d to %d.", all, from, end)
	if end < all {
		note += fmt.Sprintf(" inbox_peek with activity_id %q and from %d shows those behind.", id, end)
	}
	return string(runes[from:end]), note
}

// kindOf is what the platform's own tools call the kind of a message.
func kindOf(m channel.Message) string {
	switch {
	case m.Kind == "delegation":
		return "delegation_result"
	case m.Peer != "":
		return "peer_agent"
	}
	return "canvas_user"
}

func attachmentOf(f channel.File) attachment {
	out := attachment{Kind: "file", URI: f.URI, MediaType: brief.Line(peerwords.Clean(f.MediaType), longestName), Name: brief.Line(peerwords.Clean(f.Name), longestName)}
	if len(f.URI) > longestURI || strings.ContainsFunc(f.URI, unicode.IsControl) {
		out.URI = ""
	}
	switch class, _, _ := strings.Cut(f.MediaType, "/"); class {
	case "image", "audio", "video":
		out.Kind = class
	}
	if path, ok := strings.CutPrefix(f.URI, "workspace:"); ok && filepath.IsAbs(path) {
		out.Path = path
	}
	return out
}
