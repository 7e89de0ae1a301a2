package items

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// TestItemKindsAreFew: codex may invent kinds, and metrics would have a series of each for ever.
func TestItemKindsAreFew(t *testing.T) {
	for kind, want := range map[appserver.ItemType]agent.Kind{
		appserver.ItemAgentMessage: agent.KindMessage, appserver.ItemReasoning: agent.KindReasoning, appserver.ItemPlan: agent.KindPlan,
		appserver.ItemContextCompaction: agent.KindCompaction, appserver.ItemCommandExecution: agent.KindCommand,
		appserver.ItemFileChange: agent.KindFileChange, appserver.ItemMcpToolCall: agent.KindMCP, appserver.ItemDynamicToolCall: agent.KindTool,
		appserver.ItemWebSearch: agent.KindWebSearch, appserver.ItemImageGeneration: agent.KindOther, "invented": agent.KindOther,
	} {
		got := Of(appserver.Item{Type: kind})
		if got.Kind != want || got.Name != string(kind) || got.Kind.IsTool() != kind.IsTool() {
			t.Errorf("%s is %q, %q", kind, got.Kind, got.Name)
		}
	}
}

// TestItemsInOurWords: what came of a call, and why it could not be made, are texts.
func TestItemsInOurWords(t *testing.T) {
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	for _, c := range []struct {
		of            appserver.Item
		output, wrong string
	}{
		{appserver.Item{Type: appserver.ItemDynamicToolCall, ContentItems: raw(`[{"type":"inputText","text":"it"},{"type":"inputImage","imageUrl":"x"},{"type":"inputText","text":"is out"}]`)}, "it\nis out", ""},
		{appserver.Item{Type: appserver.ItemMcpToolCall, Result: raw(`{"content":[{"type":"text","text":"out"},5]}`)}, "out", ""},
		{appserver.Item{Type: appserver.ItemMcpToolCall, Result: raw(`null`), Error: raw(`{"message":"gone"}`)}, "gone", "gone"},
		{appserver.Item{Type: appserver.ItemCommandExecution, AggregatedOutput: "done"}, "done", ""},
	} {
		if got := Of(c.of); got.Output != c.output || got.Error != c.wrong {
			t.Errorf("%+v has %q, %q", c.of, got.Output, got.Error)
		}
	}
	picture, _ := json.Marshal([]byte("png"))
	if got := Of(appserver.Item{Type: appserver.ItemImageGeneration, Result: picture}); string(got.Picture) != "png" {
		t.Errorf("the picture is %q", got.Picture)
	}
	change := appserver.FileChange{Path: "/a", Diff: "+one"}
	change.Kind.Type, change.Kind.MovePath = "update", "/b"
	got := Of(appserver.Item{Type: appserver.ItemFileChange, Changes: []appserver.FileChange{change}}).Changes
	if diff := cmp.Diff([]agent.Change{{Path: "/a", To: "/b", Kind: "update", Diff: "+one"}}, got); diff != "" {
		t.Error(diff)
	}
}
