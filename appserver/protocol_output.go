package appserver

import (
	"encoding/json"
	"strings"
)

// Output is what a tool has said: a command's output, or the texts that came of a call.
// It is "" for other items.
func (i Item) Output() string {
	switch i.Type {
	case ItemDynamicToolCall:
		return texts(i.ContentItems)
	case ItemMcpToolCall:
		var result struct {
			Content json.RawMessage `json:"content"`
		}
		_ = json.Unmarshal(i.Result, &result) // null where the call could not be made
		var failed struct {
			Message string `json:"message"`
		}
		if text := texts(result.Content); text != "" || json.Unmarshal(i.Error, &failed) != nil {
			return text
		}
		return failed.Message
	}
	return i.AggregatedOutput
}

// texts are those of a list of contents, of whatever else there is in it.
func texts(raw json.RawMessage) string {
	var contents []json.RawMessage
	_ = json.Unmarshal(raw, &contents)
	var all []string
	for _, one := range contents {
		var content struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(one, &content) == nil && content.Text != "" {
			all = append(all, content.Text)
		}
	}
	return strings.Join(all, "\n")
}
