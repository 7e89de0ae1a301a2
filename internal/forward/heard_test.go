package forward

import (
	"io"
	"strings"
	"testing"
)

// TestAnswersEndWithTheirLastEvent: codex has all that it reads by then, and closes. In whatever pieces it comes the
// call is told of once, with the tokens that stand in that event, and before the last piece goes on.
func TestAnswersEndWithTheirLastEvent(t *testing.T) {
	long := strings.Repeat("x", 3*tailBytes)
	text := "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"\\\"response.completed\\\"\"}\n\n"
	usage := `{"output":"` + long + `","usage":{"input_tokens":1,"output_tokens":42}}}`
	for name, last := range map[string]string{
		"completed":  "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":" + usage + "\n\n",
		"incomplete": "data: {\"type\": \"response.incomplete\",\"response\":" + usage + "\n\n",
		"failed":     "data: {\"type\":\"response.failed\",\"response\":" + usage + "\r\n\r\n",
	} {
		for _, size := range []int{1, 7, 100, len(text), 1 << 20} {
			var told []Call
			call := &recorder{tell: func(c Call) { told = append(told, c) }}
			call.begin(Call{Thread: "t"})
			answer := text + last
			body := &heard{ReadCloser: io.NopCloser(strings.NewReader(answer)), call: call, status: 200}
			for read, piece := 0, make([]byte, size); read < len(answer); {
				if len(told) > 0 {
					t.Errorf("%s by %d: told after %d bytes of %d", name, size, read, len(answer))
				}
				n, err := body.Read(piece)
				if read += n; err != nil {
					t.Fatal(err)
				}
			}
			call.end(0) // codex has gone
			if len(told) != 1 || told[0].Status != 200 || told[0].Tokens != 42 {
				t.Errorf("%s by %d: told of %+v", name, size, told)
			}
		}
	}
}
