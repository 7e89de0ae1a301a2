package appserver

import (
	"encoding/json"
	"testing"
)

// TestPicturesOfItems: the result of an item that makes a picture is its content, and
// that of any other is none.
func TestPicturesOfItems(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"imageGeneration","id":"c1","status":"completed","result":"cGljdHVyZQ==","savedPath":"/h/c1.png"}`: "picture",
		`{"type":"imageGeneration","id":"c1","status":"in_progress","result":""}`:                                   "",
		`{"type":"imageGeneration","id":"c1","status":"completed","fileId":"f"}`:                                    "",
		`{"type":"imageGeneration","id":"c1","result":"no base64"}`:                                                 "",
		`{"type":"mcpToolCall","id":"c1","result":{"content":[]}}`:                                                  "",
		`{"type":"mcpToolCall","id":"c1","result":null}`:                                                            "",
	} {
		var item Item
		if err := json.Unmarshal([]byte(text), &item); err != nil || string(item.Picture()) != want {
			t.Errorf("%s: %q, %v", text, item.Picture(), err)
		}
	}
}
