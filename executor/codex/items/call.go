package items

import "github.com/Molecule-AI/molecule-codex-runtime/appserver"

// A Call is a tool item while it is open. Items of several kinds may have one id.
type Call struct {
	kind appserver.ItemType
	id   string
}

// CallOf is the call that an item is.
func CallOf(item appserver.Item) Call { return Call{item.Type, item.ID} }

// IsAsked reports whether it takes the begin of an item to know that a second call has its id: a
// question about a tool of an MCP server has no id, and one about a change shows what began with
// it. One about a command has both, and codex tells of one begin only for two commands.
func (c Call) IsAsked() bool {
	return c.kind == appserver.ItemFileChange || c.kind == appserver.ItemMcpToolCall
}
