package channel

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
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

func (n names) peer(id string) string { return n.of(kindPeer + ":" + plain(id)) }

func (n names) unknown(activity string) string { return n.of(kindUnknown + ":" + plain(activity)) }

// plain is an id as it stands in a name. It is the platform's: one that could be read as
// another part of the name, that of another workspace, stands there as its digest.
func plain(id string) string {
	if plainID.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

var plainID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

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
