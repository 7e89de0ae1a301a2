package fakemodel_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// A turn is what the notifications of one turn told.
type turn struct {
	id, status string
	notes      []line
	items      []item // completed, in order
	err        string // the error of turn/completed, as JSON
}

type item struct {
	Type, ID, Text, Phase, Command, AggregatedOutput, Status string
	Summary                                                  []string
	ExitCode                                                 *int
}

// take reads one notification and reports whether it ended the turn.
func (t *turn) take(tb testing.TB, l line) bool {
	tb.Helper()
	var p struct {
		Item item `json:"item"`
		Turn struct {
			ID     string          `json:"id"`
			Status string          `json:"status"`
			Error  json.RawMessage `json:"error"`
		} `json:"turn"`
	}
	switch l.Method {
	case "turn/started", "turn/completed", "item/completed":
		if err := json.Unmarshal(l.Params, &p); err != nil {
			tb.Fatalf("%s: %v", l.Method, err)
		}
	}
	switch l.Method {
	case "turn/started":
		t.id = p.Turn.ID
	case "item/completed":
		t.items = append(t.items, p.Item)
	case "turn/completed":
		t.status, t.err = p.Turn.Status, string(p.Turn.Error)
		return true
	}
	return false
}

// text is what the agent said, messages joined by line breaks.
func (t *turn) text() string {
	var texts []string
	for _, it := range t.items {
		if it.Type == "agentMessage" {
			texts = append(texts, it.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// item returns the first completed item of a type.
func (t *turn) item(kind string) (item, bool) {
	for _, it := range t.items {
		if it.Type == kind {
			return it, true
		}
	}
	return item{}, false
}

// note returns the parameters of the last notification of a method, as JSON.
func (t *turn) note(method string) string {
	for _, v := range slices.Backward(t.notes) {
		if v.Method == method {
			return string(v.Params)
		}
	}
	return ""
}

func (t *turn) count(method string) int {
	n := 0
	for _, l := range t.notes {
		if l.Method == method {
			n++
		}
	}
	return n
}
