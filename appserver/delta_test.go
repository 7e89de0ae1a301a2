package appserver

import (
	"encoding/json"
	"testing"
)

var deltas = []string{
	`{"threadId":"t","turnId":"u","itemId":"i","delta":"text"}`,
	"{ \"delta\" : \"a\\nb \\\"q\\\" \\u00e9\\ud83d\\ude00 é\u2028😀\",\n\"itemId\":\"\" } ",
	`{}`, `{"delta":""}`, `{"delta":null}`, `{"delta":1}`, `{"delta":"a","delta":"b"}`,
	`{"Delta":"a","DELTA":"b"}`, `{"delta":"x","more":{"delta":"y"}}`, `{"delta":"x","summaryIndex":0}`,
	`{"delta":"x"`, `{"delta":"x"}}`, `{"delta":"x",}`, `["delta"]`, `null`, ``, `{"delta":"\x"}`, `{"delta":"\ud800"}`,
	"{\"delta\":\"\xff\"}", "{\"delta\":\"a\tb\"}", `{"del\u0074a":"x"}`,
}

func checkDelta(t *testing.T, params []byte) {
	t.Helper()
	var got, want DeltaNote
	err := Notification{Params: params}.Decode(&got)
	wanted := json.Unmarshal(params, &want)
	if (err == nil) != (wanted == nil) || err == nil && got != want {
		t.Errorf("%q is read as %q (%v), want %q (%v)", params, got, err, want, wanted)
	}
}

// TestDelta: a delta that is scanned is what it is decoded.
func TestDelta(t *testing.T) {
	for _, params := range deltas {
		checkDelta(t, []byte(params))
	}
	for _, params := range deltas[:2] {
		if !new(DeltaNote).scan([]byte(params)) {
			t.Errorf("%q is not scanned", params)
		}
	}
}

func FuzzDelta(f *testing.F) {
	for _, params := range deltas {
		f.Add([]byte(params))
	}
	f.Fuzz(checkDelta)
}

func BenchmarkDecodeDelta(b *testing.B) {
	note := Notification{Params: json.RawMessage(`{"threadId":"01a1feca-b7cf-75fa-82e9-cab914cab29f","turnId":"01a1feca-b7cf-75e9-ba4a-bc90c997c619","itemId":"msg_01","delta":"a word "}`)}
	for b.Loop() {
		var d DeltaNote
		if err := note.Decode(&d); err != nil {
			b.Fatal(err)
		}
	}
}
