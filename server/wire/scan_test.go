package wire

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzScan: what is JSON is decided as the decoders behind us decide it, but that
// it must be UTF-8. Within what is too deep, nobody looks.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		"", " ", "null", "nul", "nullx", "true", "false", "0", "-0", "01", "-", "1.", "1.5e+7", "1e", "1E-9", ".5", "+1", "NaN", "0x1",
		`""`, `"`, `"a`, `"\n\u00e9\\\/"`, `"\x"`, `"\u12g4"`, "\"\\u\x10\x111a\"", "\"\t\"", "\"\x00\"", "\"\x7f\"", "\"\xff\"", "\"é\"", "\"\xed\xa0\x80\"", `"\ud800"`,
		"[]", "[ ]", "[1,]", "[,]", "[1 2]", "[1]]", "[", "{}", "{ }", `{"a":1}`, `{"a":1,}`, `{"a" : 1 , "b":[{}]}`, `{"a"}`, `{1:2}`, `{"a":}`, `{"a":1 "b":2}`, "{", "{]", "[}",
		hiV1, nested(deepest, "[", "1", "]"), nested(deepest-1, `{"a":`, "1", "}"),
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
		{"fine", hiV1, inEnvelope, ""},
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
	body := []byte(hiV1)
	if n := testing.AllocsPerRun(100, func() {
		if s, err := scanBody(body, inEnvelope); err != nil || s.fault != nil {
			t.Fatal(err, s.fault)
		}
	}); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

const hiV1 = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}}`

func nested(n int, open, inner, shut string) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(shut, n)
}

func manyOf(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }

// TestWeight: what is decoded takes about as much as a scan has said.
func TestWeight(t *testing.T) {
	members := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"%d":0`, i)
		}
		return "{" + b.String()[1:] + "}"
	}
	for name, text := range map[string]string{
		"numbers": manyOf(100_000, "0.5"), "texts": manyOf(100_000, `"ab"`), "arrays": manyOf(50_000, "[0]"), "empty arrays": manyOf(100_000, "[]"),
		"objects": manyOf(50_000, `{"":0}`), "empty objects": manyOf(100_000, "{}"), "nested objects": manyOf(3_000, nested(30, `{"ab":`, "0", "}")),
		"objects of 8": manyOf(10_000, members(8)), "objects of 9": manyOf(10_000, members(9)), "objects of 15": manyOf(6_000, members(15)), "one object": members(100_000),
	} {
		text = "[" + text + "]"
		s, err := scanBody([]byte(text), inCallers)
		if err != nil {
			t.Fatal(err)
		}
		before := heap()
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		takes, said := heap()-before, int64(s.weight+len(text))
		if takes > said+said/8 || takes < said/4 {
			t.Errorf("%s: %d bytes are taken, and %d said", name, takes, said)
		}
		if v == nil {
			t.Error("nothing is decoded")
		}
	}
}

// heap is what is in memory, garbage aside.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestStringsByEights: what may not stand in a string is found wherever it stands.
func TestStringsByEights(t *testing.T) {
	for at := range 20 {
		for c := range 256 {
			body := []byte(`"aaaaaaaaaaaaaaaaaaaaé"`)
			body[1+at] = byte(c)
			_, err := scanBody(body, inCallers)
			if want := json.Valid(body) && utf8.Valid(body); (err == nil) != want {
				t.Fatalf("%q: %v, want valid %t", body, err, want)
			}
		}
	}
}

func BenchmarkScan(b *testing.B) {
	for name, part := range map[string]string{
		"text": `{"text":"` + strings.Repeat("All work and no play. ", 750) + `"}`, "utf8": `{"text":"` + strings.Repeat("Ünïcödé wörds — ", 750) + `"}`,
		"file": `{"raw":"` + strings.Repeat("QUJD", 1<<18) + `"}`, "data": `{"data":[` + manyOf(2_000, `{"a":0.5,"b":"some text","c":[true,null]}`) + `]}`,
	} {
		body := []byte(strings.Replace(hiV1, `{"text":"hi"}`, part, 1))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if s, err := scanBody(body, inEnvelope); err != nil || s.fault != nil {
					b.Fatal(err, s.fault)
				}
			}
		})
	}
}
