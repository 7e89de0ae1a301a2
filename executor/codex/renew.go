package codex

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/told"
)

// renew gives the thread of c up if it was started with other tools than are
// offered now: codex never changes those of a thread. What is offered is settled
// when this process starts, so nothing of an earlier turn runs on the thread any
// more. No attempt is left to be found out about.
func (d *Driver) renew(c *conversation) {
	if c.threadID == "" || c.tools == d.toolSet || c.foreign() {
		return
	}
	d.log.Info("a thread has other tools than are offered and is replaced by a new one", "thread_id", c.threadID)
	fresh := c.fresh
	if c.history {
		fresh = told.OtherTools
	}
	d.forget(c, nil)
	c.fresh, c.tools = fresh, ""
}

// toolSet names a set of tools, by what a call of them looks like: a description
// in other words is no reason to give up a thread and its history.
func toolSet(tools []agent.Tool) string {
	if len(tools) == 0 {
		return ""
	}
	calls := make([]string, 0, len(tools))
	for _, tool := range tools {
		var schema any
		_ = json.Unmarshal(tool.Schema, &schema) // one that is no JSON is codex's to refuse
		shape, _ := json.Marshal(withoutDescriptions(schema))
		calls = append(calls, tool.Name+" "+string(shape))
	}
	slices.Sort(calls)
	sum := sha256.Sum256([]byte(strings.Join(calls, "\n")))
	return hex.EncodeToString(sum[:8])
}

// withoutDescriptions returns a schema without the texts in it. A property may be
// called description: that is no text.
func withoutDescriptions(schema any) any {
	switch x := schema.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range x {
			if _, text := value.(string); key == "description" && text {
				continue
			}
			out[key] = withoutDescriptions(value)
		}
		return out
	case []any:
		out := make([]any, 0, len(x))
		for _, value := range x {
			out = append(out, withoutDescriptions(value))
		}
		return out
	}
	return schema
}
