package items

import (
	"encoding/json"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// Of is an item of codex's. This is the one switch over its kinds.
func Of(i appserver.Item) agent.Item {
	item := agent.Item{
		ID: i.ID, Kind: agent.KindOther, Name: string(i.Type), Status: i.Status, DurationMs: i.DurationMs, Output: i.Output(),
		Server: i.Server, Tool: i.Tool, Arguments: i.Arguments,
	}
	switch i.Type {
	case appserver.ItemAgentMessage:
		item.Kind, item.Text, item.Phase = agent.KindMessage, i.Text, i.Phase
	case appserver.ItemReasoning:
		item.Kind, item.Summary = agent.KindReasoning, i.Summary
	case appserver.ItemPlan:
		item.Kind, item.Text = agent.KindPlan, i.Text
	case appserver.ItemContextCompaction:
		item.Kind = agent.KindCompaction
	case appserver.ItemCommandExecution:
		item.Kind, item.Command, item.Cwd, item.ExitCode = agent.KindCommand, i.Command, i.Cwd, i.ExitCode
	case appserver.ItemFileChange:
		item.Kind, item.Changes = agent.KindFileChange, Changes(i.Changes)
	case appserver.ItemMcpToolCall:
		item.Kind, item.Error = agent.KindMCP, errorIn(i.Error)
	case appserver.ItemDynamicToolCall:
		item.Kind = agent.KindTool
	case appserver.ItemWebSearch:
		item.Kind, item.Query = agent.KindWebSearch, i.Query
	case appserver.ItemImageGeneration:
		item.Picture = i.Picture()
	}
	return item
}

// Changes are those of a file change.
func Changes(all []appserver.FileChange) []agent.Change {
	changes := make([]agent.Change, 0, len(all))
	for _, c := range all {
		changes = append(changes, agent.Change{Path: c.Path, To: c.Kind.MovePath, Kind: c.Kind.Type, Diff: c.Diff})
	}
	return changes
}

func errorIn(raw json.RawMessage) string {
	var said struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(raw, &said) // null where there is none
	return said.Message
}

// Steps are those of a plan.
func Steps(plan []appserver.PlanStep) []agent.PlanStep {
	steps := make([]agent.PlanStep, 0, len(plan))
	for _, s := range plan {
		steps = append(steps, agent.PlanStep(s))
	}
	return steps
}

// Inputs is the input of a turn, in codex's words.
func Inputs(input []agent.Input) []appserver.UserInput {
	all := make([]appserver.UserInput, 0, len(input))
	for _, i := range input {
		all = append(all, appserver.UserInput{Type: string(i.Type), Text: i.Text, URL: i.URL, Path: i.Path})
	}
	return all
}
