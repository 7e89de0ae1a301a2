package prompt

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/whole"
)

// An Identity is what AGENTS.md says of the workspace.
type Identity struct {
	Name, Role, Description string
	URL                     string // of its A2A
}

// agentsFile is what codex reads from the folder that it works in.
const agentsFile = "AGENTS.md"

// agentsMark is how a file of ours begins. Whoever takes it out keeps the file as it is.
const agentsMark = "<!-- Written by molecule-codex-runtime at each start. Delete this line to keep your changes. -->"

// WriteAgents writes AGENTS.md into a folder, unless somebody else's is there. It
// reports whether there is one of ours now.
func WriteAgents(dir string, id Identity) (bool, error) {
	path, text := filepath.Join(dir, agentsFile), agentsText(id)
	old, err := standing(path, int64(len(text))+1)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil || !bytes.HasPrefix(old, []byte(agentsMark)):
		return false, err
	case bytes.Equal(old, text):
		return true, nil
	}
	return true, whole.Write(path, text, 0o644)
}

// standing is the beginning of a file; nothing of a link, which is somebody's own doing.
func standing(path string, most int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	return regular.Read(path, most)
}

func agentsText(id Identity) []byte {
	name := strings.TrimSpace(id.Name)
	if name == "" {
		name = "Workspace"
	}
	role := ""
	if id.Role != "" {
		role = "**Role:** " + id.Role
	}
	endpoint := ""
	if id.URL != "" {
		endpoint = "## A2A Endpoint\n\n" + id.URL
	}
	return []byte(joined(agentsMark, "# "+name, role, titled("## Description", id.Description), endpoint,
		"## MCP Tools\n\nThe tools of the workspace are on the server `molecule`; `list_peers` says who else is there.") + "\n")
}
