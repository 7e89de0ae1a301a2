package codex

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// A freshness says why a turn runs on a thread without the conversation's earlier
// history; empty if it has it.
type freshness string

const (
	historyLost freshness = "lost"  // the thread could not be resumed
	otherTools  freshness = "tools" // the thread has other tools than are offered now
)

// toModel is what the model is told.
func (f freshness) toModel() string {
	why := "The earlier history of this conversation could not be loaded and is lost. "
	if f == otherTools {
		why = "The tools that you can call have changed, so this conversation goes on in a new thread, without its earlier history. "
	}
	return why + "If the user refers to something you do not know, say so and ask."
}

// toSender is what whoever sent the message reads.
func (f freshness) toSender() string {
	if f == otherTools {
		return "The tools of codex have changed; it starts afresh, without the earlier history of this conversation."
	}
	return "The earlier history of this conversation was lost; codex starts afresh."
}

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
		fresh = otherTools
	}
	d.forget(c, nil)
	c.fresh, c.tools = fresh, ""
}

// toolSet names a set of tools, by what a call of them looks like: a description
// in other words is no reason to give up a thread and its history.
func toolSet(tools []appserver.DynamicTool) string {
	if len(tools) == 0 {
		return ""
	}
	calls := make([]string, 0, len(tools))
	for _, tool := range tools {
		var schema any
		_ = json.Unmarshal(tool.InputSchema, &schema) // one that is no JSON is codex's to refuse
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
