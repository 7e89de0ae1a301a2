package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzScan: what is JSON is decided as the decoders behind us decide it, but that
// it must be UTF-8. Within what is too deep, nobody looks.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		"", " ", "null", "nul", "nullx", "true", "false", "0", "-0", "01", "-", "1.", "1.5e+7", "1e", "1E-9", ".5", "+1", "NaN", "0x1",
		`""`, `"`, `"a`, `"\n\u00e9\\\/"`, `"\x"`, `"\u12g4"`, "\"\\u\x10\x111a\"", "\"\t\"", "\"\x00\"", "\"\x7f\"", "\"\xff\"", "\"é\"", "\"\xed\xa0\x80\"", `"\ud800"`,
		"[]", "[ ]", "[1,]", "[,]", "[1 2]", "[1]]", "[", "{}", "{ }", `{"a":1}`, `{"a":1,}`, `{"a" : 1 , "b":[{}]}`, `{"a"}`, `{1:2}`, `{"a":}`, `{"a":1 "b":2}`, "{", "{]", "[}",
		v0Hi, v1Hi, nested(deepest, "[", "1", "]"), nested(deepest-1, `{"a":`, "1", "}"),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, at := range []place{inEnvelope, inRequest, inCallers} {
			s, err := scanBody(body, at)
			if s.fault != nil && strings.Contains(s.fault.Error(), "too deep") {
				continue
			}
			if want := json.Valid(body) && utf8.Valid(body); (err == nil) != want {
				t.Fatalf("%q: %v, want valid %t", body, err, want)
			}
		}
	})
}

// TestScanFaults: what is JSON and not taken all the same.
func TestScanFaults(t *testing.T) {
	many := func(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	inParams := func(params string) string { return `{"jsonrpc":"2.0","id":1,"method":"x","params":` + params + `}` }
	tests := []struct {
		name, body string
		at         place
		want       string
	}{
		{"fine", v1Hi, inEnvelope, ""},
		{"deep", nested(deepest, "[", "", "]"), inRequest, ""},
		{"tooDeep", nested(deepest+1, "[", "", "]"), inRequest, "at most 40 levels"},
		{"tooDeepWithStrings", nested(deepest, "[", `["]","\""]`, "]"), inRequest, "at most 40 levels"},
		{"tooDeepObjects", nested(1_000_000, `{"a":`, "1", "}"), inRequest, "at most 40 levels"},
		{"values", "[" + many(mostValues-1, "1") + "]", inRequest, ""},
		{"tooManyValues", "[" + many(mostValues, "1") + "]", inRequest, "has 200001 values"},
		{"parts", inParams(`{"message":{"parts":[` + many(mostParts, "{}") + `]}}`), inEnvelope, ""},
		{"tooManyParts", inParams(`{"message":{"parts":[` + many(mostParts+1, "{}") + `]}}`), inEnvelope, "more than 1000 parts"},
		{"tooManyPartsEscaped", `{"message":{"p\u0061rts":[` + many(mostParts+1, "{}") + `]}}`, inRequest, "more than 1000 parts"},
		{"tooMuchContent", `{"message":{"content":[` + many(mostParts+1, "{}") + `]}}`, inRequest, "more than 1000 parts"},
		{"partsOfACaller", `{"message":{"parts":[{"data":{"message":{"parts":[` + many(mostParts+1, "{}") + `]}}}]}}`, inRequest, ""},
		{"otherCase", inParams(`{"message":{"messageID":"m"}}`), inEnvelope, `"messageID" must be written messageId`},
		{"otherCaseKelvin", inParams("{\"message\":{\"ta\u017f\u212aId\":\"m\"}}"), inEnvelope, "must be written taskId"},
		{"otherCaseOfACaller", inParams(`{"metadata":{"ID":1,"id":1,"Id":1,"id":2},"message":{"parts":[{"data":{"Text":1,"a":1,"a":2}}]}}`), inEnvelope, ""},
		{"otherCaseOfAPart", `{"message":{"parts":[{"Text":"x"}]}}`, inRequest, "must be written text"},
		{"otherCaseEscaped", `{"\u0049d":1}`, inRequest, `"Id" must be written id`},
		{"otherCaseOfTheEnvelope", `{"jsonrpc":"2.0","id":1,"METHOD":"x"}`, inEnvelope, "must be written method"},
		{"unknownToTheEnvelope", `{"jsonrpc":"2.0","id":1,"method":"x","Role":1,"Role":2,"role":1,"role":1}`, inEnvelope, ""},
		{"twice", inParams(`{"id":"a","id":"b"}`), inEnvelope, `"id" is there twice`},
		{"twiceInTheEnvelope", `{"jsonrpc":"2.0","id":1,"id":2}`, inEnvelope, `"id" is there twice`},
		{"twiceApart", `{"id":"a","message":{"taskId":"x"},"configuration":{"taskPushNotificationConfig":{"id":"b","taskId":"y"}}}`, inRequest, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := scanBody([]byte(tt.body), tt.at)
			if err != nil {
				t.Fatal(err)
			}
			if (tt.want == "") != (s.fault == nil) || s.fault != nil && !strings.Contains(s.fault.Error(), tt.want) {
				t.Errorf("fault %v, want %q", s.fault, tt.want)
			}
		})
	}
}

// TestScanFindsTheEnvelope: its members are found whatever else is wrong.
func TestScanFindsTheEnvelope(t *testing.T) {
	s, err := scanBody([]byte(` { "params" :`+nested(100, "[", "{}", "]")+` , "id" : "é" ,"method":null,"jsonrpc" : "2.0" } `), inEnvelope)
	if err != nil || s.fault == nil {
		t.Fatal(err, s.fault)
	}
	if got := fmt.Sprintf("%s", s.members[:3]); got != `["2.0" "é" null]` {
		t.Error(got)
	}
}

// TestScanMakesNothing of a body that is as it should be.
func TestScanMakesNothing(t *testing.T) {
	body := []byte(v1Hi)
	if n := testing.AllocsPerRun(100, func() {
		if s, err := scanBody(body, inEnvelope); err != nil || s.fault != nil {
			t.Fatal(err, s.fault)
		}
	}); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

// TestBoundsOfHostileSizes: a body of the largest size is refused before it has cost
// anything to speak of, at every door.
func TestBoundsOfHostileSizes(t *testing.T) {
	ts := start(t, Config{Handler: engine(t)})
	fill := func(head, one, tail string) string {
		return head + strings.TrimSuffix(strings.Repeat(one+",", (4<<20)/(len(one)+1)), ",") + tail
	}
	for name, tt := range map[string]struct{ params, want string }{
		"parts":    {fill(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[`, `{}`, `]}}`), "more than 1000 parts"},
		"content":  {fill(`{"message":{"messageId":"m","role":"ROLE_USER","content":[`, `{}`, `]}}`), "more than 1000 parts"},
		"metadata": {fill(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}],"metadata":{"a":[`, `{}`, `]}}}`), "values"},
		"names":    {fill(`{`, `"Xy":0`, `}`), "values"},
		"escaped":  {fill(`{`, `"\u0058y":0`, `}`), "values"},
	} {
		for _, door := range []string{"SendMessage", "message/send", "/message:send", "/v1/message:send"} {
			t.Run(name+"/"+strings.ReplaceAll(strings.TrimPrefix(door, "/"), "/", "_"), func(t *testing.T) {
				begin := time.Now()
				if strings.HasPrefix(door, "/") {
					badParams(tt.want).wantREST(t, do(t, "POST", ts.URL+door, tt.params))
				} else {
					badParams(tt.want).wantRPC(t, do(t, "POST", ts.URL, `{"jsonrpc":"2.0","id":1,"method":"`+door+`","params":`+tt.params+`}`), strings.Contains(door, "/"))
				}
				if took := time.Since(begin); took > time.Minute { // a second, on a machine of its own
					t.Errorf("took %v", took)
				}
			})
		}
	}
}
