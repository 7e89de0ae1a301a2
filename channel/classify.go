package channel

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// mostUnasked is how many messages of a peer are answered while the user says nothing.
const mostUnasked = 8

const (
	muteMarked  = "it is the reply of another agent"
	muteBudget  = "too many messages of this peer in a row, without one of the user"
	muteUnknown = "it is of a kind that is not known, so there is nobody to answer"
)

// inboxType is that of the rows of an inbox. Others tell of what the workspace does.
const inboxType = "a2a_receive"

// mostOfURI is how many bytes the URI of a file has that a row tells of; those of platforms have a
// hundred. Rows are kept by it, and for a month.
const mostOfURI = 2 << 10

// classify says what is to become of a row. Doubt, if not empty, is for the log.
func (n names) classify(r platform.Row) (row store.InboxRow, doubt string) {
	row = store.InboxRow{Activity: r.ID, Seq: r.Seq, State: store.InboxAccepted}
	peer := r.FromPeer()
	switch {
	case r.Type != "" && r.Type != inboxType:
		row.Kind = kindOwn
		return n.drain(row, "it is none of the inbox")
	case r.Workspace != "" && !strings.EqualFold(r.Workspace, n.workspace):
		row.Kind = kindUnknown
		row, _ = n.drain(row, "it is of another workspace")
		return row, row.Note
	case r.Method == "notify" && r.Source == "", peer == n.workspace && r.Method != "delegate_result":
		row.Kind = kindOwn
		return n.drain(row, "it is our own")
	case r.Method == "chat_upload_receive" && peer == "":
		return n.upload(row, r)
	case answered(r):
		row.Kind = kindOwn
		return n.drain(row, "it has been answered on another way")
	case r.Method == "delegate_result" && (peer == "" && r.Source == "" || peer == n.workspace): // of a peer it is a message: he says so
		row.Kind, row.Chat = kindDelegation, n.canvas()
		row.Body = delegated(r).encode()
		return row, ""
	case r.Source != "" && peer == "":
		row.Kind = kindPeer
		row, note := n.drain(row, "it is of a peer without an id, so there is nobody to answer")
		return row, cmpOr(note, row.Note)
	}
	layers := bodyOf(r.RequestBody).layers()
	said := content(r, layers)
	switch {
	case !isMessage(r.Method):
		row.Kind, row.Chat, row.Peer, row.Mute, doubt = kindUnknown, n.unknown(peer), peer, muteUnknown, muteUnknown
		if peer == "" {
			said = said.quoted("", "")
			said.Beside = beside(r)
		}
	case peer != "":
		row.Kind, row.Chat, row.Peer = kindPeer, n.peer(peer), peer
		if marked(layers) {
			row.Mute = muteMarked
		}
	default:
		row.Kind, row.Chat = kindCanvas, n.canvas()
		said.Written, said.Beside = r.Written, beside(r)
	}
	row.Body = said.bounded().encode()
	return row, doubt
}

func (n names) drain(row store.InboxRow, note string) (store.InboxRow, string) {
	row.State, row.Note, row.Chat, row.Body = store.InboxDrained, note, cmpOr(row.Chat, n.canvas()), nil
	return row, ""
}

// upload is a row that tells of a file, which messages behind it name.
func (n names) upload(row store.InboxRow, r platform.Row) (store.InboxRow, string) {
	b := bodyOf(r.RequestBody)
	row.Kind, row.Chat = kindUpload, n.canvas()
	if b.URI == "" || len(b.URI) > mostOfURI {
		row, _ = n.drain(row, "it tells of a file and does not name it")
		return row, row.Note
	}
	row.URI = b.URI
	row.Body = entry{Files: []File{{URI: b.URI, Name: b.Name, MediaType: b.MimeType, Size: b.Size}}}.encode()
	return row, ""
}

// answered reports whether the platform has handed the message to the workspace and has
// its answer: that is of a time when it did not poll. What is too long to be read is one.
func answered(r platform.Row) bool {
	if r.Lacks("response_body") && r.Method != "delegate_result" {
		return isMessage(r.Method)
	}
	var response struct {
		Result json.RawMessage `json:"result"`
	}
	return isMessage(r.Method) && json.Unmarshal(r.ResponseBody, &response) == nil && len(response.Result) > 0 && string(response.Result) != "null"
}

func isMessage(method string) bool {
	return slices.Contains([]string{"", "message/send", "message/stream", "SendMessage", "SendStreamingMessage", "notify", "delegate_result"}, method)
}

// delegated is the end of a task that was given to a peer.
func delegated(r platform.Row) entry {
	layers := bodyOf(r.RequestBody).layers()
	e := content(r, layers)
	e.Delegation = r.ID
	if r.Lacks("response_body", "error_detail") {
		e.Refused = tooLarge
	}
	for _, layer := range append(layers, bodyOf(r.ResponseBody)) {
		var named string
		_ = json.Unmarshal(layer.Metadata.Delegation, &named) // one that is no text names none
		if id := cmpOr(layer.Delegation, named); id != "" {
			e.Delegation = id
		}
	}
	var response struct {
		Text   string          `json:"text"`
		Result json.RawMessage `json:"result"`
	}
	if decode(r.ResponseBody, &response) {
		text := response.Text
		for _, layer := range bodyOf(response.Result).layers() {
			if text == "" {
				text = layer.read().Text
			}
		}
		e.Text = cmpOr(text, e.Text)
	}
	lead := "The task that was delegated to " + who(r) + " has come to its end."
	if r.Status == "error" || r.ErrorDetail != "" {
		lead = "The task that was delegated to " + who(r) + " has failed."
		e.Text = cmpOr(r.ErrorDetail, e.Text)
	}
	return e.quoted(lead+"\n\n", r.Target)
}

// who names the agent that a task was delegated to. It chooses its name itself, which
// stands in a sentence of ours.
func who(r platform.Row) string {
	if name := brief.Line(peerwords.Clean(brief.Head(r.PeerName, 8*longestName)), longestName); name != "" {
		return strconv.Quote(peerwords.WithoutMentions(name))
	}
	if r.Target != "" {
		return peerwords.Plain(r.Target)
	}
	return "a peer"
}

const longestName = 64

// quoted is what an agent says in a message that is not its own. The engine takes such a
// message for ours, so all that the agent says is marked here, the names of files, too:
// they are no files of the message. Of much the beginning is told.
func (e entry) quoted(lead, of string) entry {
	var said strings.Builder
	said.WriteString(e.Text)
	for _, f := range e.Files {
		said.WriteString("\n\nAttached: " + strings.TrimSpace(f.Name+" "+f.URI))
	}
	all := strings.TrimSpace(said.String())
	words := brief.Head(all, mostQuoted)
	e.Text, e.Files = lead+peerwords.Message(of, words), nil
	if e.Refused != "" || len(words) < len(all) {
		e.Text, e.Refused = e.Text+"\n\n(There was more of it, which is left out here.)", ""
	}
	return e
}

// cmpOr returns the first text in which there is something to see.
func cmpOr(texts ...string) string {
	for _, text := range texts {
		if strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}
