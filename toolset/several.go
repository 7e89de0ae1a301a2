package toolset

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// RegisterAll offers the tools of workspaces on an MCP server. Where there are several, each call that is one
// workspace's names it.
func RegisterAll(server *mcp.Server, sets ...*Set) {
	if len(sets) == 1 {
		sets[0].Register(server)
		return
	}
	for _, t := range sets[0].tools {
		schema := t.schema
		if t.acts != "" {
			schema = naming(schema, t.acts, sets)
		}
		server.AddTool(&mcp.Tool{Name: t.name, Description: t.description, InputSchema: schema},
			func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				thread, turn := callerOf(req.Params.Meta)
				set, err := chosen(sets, t.acts, req.Params.Arguments)
				if err != nil {
					return textOf(explain(err)), nil
				}
				return textOf(set.Call(ctx, Call{Tool: t.name, Arguments: req.Params.Arguments, Thread: thread, Turn: turn}).Text), nil
			})
	}
}

func textOf(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// chosen is the set of the workspace that one of the arguments names; any, where none does.
func chosen(sets []*Set, by string, arguments json.RawMessage) (*Set, error) {
	if by == "" {
		return sets[0], nil
	}
	var all map[string]json.RawMessage
	var id string
	_ = json.Unmarshal(arguments, &all) // what is of another form names none
	_ = json.Unmarshal(all[by], &id)
	at := slices.IndexFunc(sets, func(s *Set) bool { return strings.EqualFold(s.cfg.Workspace, strings.TrimSpace(id)) })
	if at < 0 {
		return nil, fmt.Errorf("name the workspace that acts in %s: it is one of %s", by, strings.Join(workspaces(sets), ", "))
	}
	return sets[at], nil
}

func workspaces(sets []*Set) (ids []string) {
	for _, s := range sets {
		ids = append(ids, s.cfg.Workspace)
	}
	return ids
}

// naming is a schema in which the workspace that acts has to be named.
func naming(schema json.RawMessage, by string, sets []*Set) json.RawMessage {
	var s struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties,omitempty"`
		Required   []string                   `json:"required,omitempty"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return schema // it is ours, and always of that form
	}
	if s.Properties == nil {
		s.Properties = map[string]json.RawMessage{}
	}
	s.Properties[by], _ = json.Marshal(map[string]any{"type": "string", "enum": workspaces(sets), "description": "the id of the workspace that acts; for a message, its arrival_workspace_id"})
	s.Required = append(s.Required, by)
	out, _ := json.Marshal(s)
	return out
}
