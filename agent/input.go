package agent

import "context"

// An Input is one piece of what a turn is given.
type Input struct {
	Type InputType `json:"type"`
	Text string    `json:"text,omitempty"`
	URL  string    `json:"url,omitempty"`
	Path string    `json:"path,omitempty"`
}

// An InputType says which member of an [Input] is set.
type InputType string

// The types of input.
const (
	InputText       InputType = "text"       // Text
	InputImage      InputType = "image"      // URL
	InputLocalImage InputType = "localImage" // Path
)

// Text returns a text input.
func Text(s string) Input { return Input{Type: InputText, Text: s} }

// A Lender makes of the input of an attempt what the agent is given of it, which may have more
// or fewer parts. Its paths are good until giveBack is called, at the end of the turn. It may
// be called once more for each further attempt. When ctx ends, what it has made by then is
// not used.
type Lender func(ctx context.Context, input []Input) (lent []Input, giveBack func())

// A TraceContext is a place in a distributed trace, by W3C Trace Context; the zero value is none.
type TraceContext struct {
	Parent string `json:"traceparent"`
	State  string `json:"tracestate,omitempty"`
}
