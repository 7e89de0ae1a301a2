package channel

import (
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
)

// The kinds of rows.
const (
	kindCanvas     = "canvas"     // of the user
	kindPeer       = "peer"       // of another agent
	kindDelegation = "delegation" // the end of a task that was given away
	kindUpload     = "upload"     // tells of a file
	kindOwn        = "own"        // what we did ourselves
	kindUnknown    = "unknown"
)

// names are those of the conversations of a workspace.
type names struct {
	workspace string
	several   bool // there are other workspaces
}

func (n names) canvas() string { return kindCanvas + ":" + n.workspace }

func (n names) peer(id string) string { return n.of(kindPeer + ":" + peerwords.Plain(id)) }

// unknown is that of all that a sender says by methods that are not known: as many as there
// are would otherwise wait beside each other. An agent's is one of its conversations.
func (n names) unknown(sender string) string {
	if sender == "" {
		return n.of(kindUnknown + ":")
	}
	return n.peer(sender) + "/" + kindUnknown
}

// of keeps apart what two workspaces talk about with the same peer.
func (n names) of(name string) string {
	if n.several {
		return name + "@" + n.workspace
	}
	return name
}

// WorkspaceOf returns the workspace that a conversation belongs to: only is the answer
// where there is one only.
func WorkspaceOf(conversation, only string) string {
	conversation, _, _ = strings.Cut(strings.TrimPrefix(conversation, "command:"), "/")
	if only != "" {
		return only
	}
	if id, ok := strings.CutPrefix(conversation, kindCanvas+":"); ok {
		return id
	}
	_, id, _ := strings.Cut(conversation, "@")
	return id
}

// ConversationOf returns the conversation that an older bridge called by the name of a
// chat, canvas:<workspace> or peer:<workspace>; "" if there is none. With several
// workspaces nobody can tell which of them a peer has talked to.
func ConversationOf(chat string, workspaces []string) string {
	of, id, _ := strings.Cut(chat, ":")
	switch {
	case of == kindCanvas && slices.Contains(workspaces, id):
		return names{workspace: id}.canvas()
	case of == kindPeer && id != "" && len(workspaces) == 1:
		return names{workspace: workspaces[0]}.peer(id)
	}
	return ""
}
