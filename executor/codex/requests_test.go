package codex

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestAnswersOfOurOwn checks what codex is told where nobody is asked.
func TestAnswersOfOurOwn(t *testing.T) {
	t.Parallel()
	pinned := codextest.NewSchema(t)
	pinned.Check(t, "DynamicToolCallResponse", toolAnswer(agent.ToolResult{Text: "no", Failed: true}))
	answer, ok := atOnce("currentTime/read")
	if !ok {
		t.Error("the time is not told")
	}
	if pinned.Has("CurrentTimeReadResponse") { // 0.171.0 does not ask
		pinned.Check(t, "CurrentTimeReadResponse", answer)
	}
}
