package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Register offers the tool on an MCP server.
func Register(server *mcp.Server, c *Client) {
	open, harmful := true, true
	server.AddTool(&mcp.Tool{
		Name: ToolName, Title: "Codex tasks", Description: toolDescription, InputSchema: Schema(),
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &harmful, OpenWorldHint: &open},
	}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return c.tool(ctx, req.Params.Arguments), nil
	})
}

// tool performs a call. An answer is a result, also one without success; what is no
// answer is an error of the tool, which the model that has called it is to see.
func (c *Client) tool(ctx context.Context, raw json.RawMessage) *mcp.CallToolResult {
	args, err := readArgs(raw)
	var answer any
	if err == nil {
		answer, err = c.Do(ctx, args)
	}
	if err != nil {
		answer = FailureAnswer{Error: err.Error()}
	}
	return &mcp.CallToolResult{
		IsError:           err != nil,
		Content:           []mcp.Content{&mcp.TextContent{Text: strings.TrimSuffix(asJSON(answer), "\n")}},
		StructuredContent: answer,
	}
}

func readArgs(raw json.RawMessage) (args Args, err error) {
	if len(raw) == 0 {
		return args, nil
	}
	if err := json.Unmarshal(raw, &args); err != nil {
		return args, fmt.Errorf("the arguments of %s do not have the shape of its schema: %w", ToolName, err)
	}
	return args, nil
}
