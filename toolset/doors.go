package toolset

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Definition is a tool as a model is told of it.
type Definition struct {
	Name, Description string
	Schema            json.RawMessage // of the arguments; a JSON object
}

// Definitions are all tools, in their order.
func (s *Set) Definitions() []Definition {
	all := make([]Definition, 0, len(s.tools))
	for _, t := range s.tools {
		all = append(all, Definition{Name: t.name, Description: t.description, Schema: t.schema})
	}
	return all
}

// Server is what the tools' MCP server is called in codex, and their prefix on the
// platform, by whichever door they are offered.
const Server = "molecule"

// Reported is what a tool is called on the platform.
func Reported(server, tool string) string { return "mcp__" + server + "__" + tool }

// Names are what the tools are called on the platform.
func (s *Set) Names() []string {
	all := make([]string, 0, len(s.tools))
	for _, t := range s.tools {
		all = append(all, Reported(Server, t.name))
	}
	return all
}

// Register offers the tools on an MCP server. What goes wrong is a text like any
// other there, and not marked: that is what clients have been written for.
func (s *Set) Register(server *mcp.Server) {
	for _, t := range s.tools {
		server.AddTool(&mcp.Tool{Name: t.name, Description: t.description, InputSchema: t.schema},
			func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				thread, turn := callerOf(req.Params.Meta)
				result := s.Call(ctx, Call{Tool: t.name, Arguments: req.Params.Arguments, Thread: thread, Turn: turn})
				return textOf(result.Text), nil
			})
	}
}

// callerOf reads who calls off what codex sends with each call.
func callerOf(meta mcp.Meta) (thread, turn string) {
	of := func(m map[string]any, key string) string {
		text, _ := m[key].(string)
		return text
	}
	about, _ := meta["x-codex-turn-metadata"].(map[string]any)
	return of(meta, "threadId"), of(about, "turn_id")
}
