package appserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestScanEnvelope(t *testing.T) {
	tests := map[string]struct {
		line                         string
		ok                           bool
		method, id, thread, ans, err string
	}{
		"delta":          {`{"method":"item/agentMessage/delta","params":{"threadId":"t1","delta":"a \"threadId\":\"no\" \\"},"emittedAtMs":1}`, true, "item/agentMessage/delta", "", "t1", "", ""},
		"thread-last":    {`{"method":"item/completed","params":{"item":{"threadId":"no","a":[{"b":"}]"}]},"threadId":"t1"}}`, true, "item/completed", "", "t1", "", ""},
		"params-first":   {`{"params":{"threadId":"t1"},"method":"m"}`, true, "m", "", "t1", "", ""},
		"request":        {`{"method":"m","id":-7,"params":{"threadId":"t1"}}`, true, "m", "-7", "t1", "", ""},
		"string-id":      {`{"method":"m","id":"a\"b"}`, true, "m", `"a\"b"`, "", "", ""},
		"answer":         {`{"id":3,"result":{"method":"no","threadId":"no"}}`, true, "", "3", "", `{"method":"no","threadId":"no"}`, ""},
		"null-answer":    {`{"id":3,"result":null}`, true, "", "3", "", "null", ""},
		"refusal":        {`{"error":{"code":-32600,"message":"{"},"id":3}`, true, "", "3", "", "", `{"code":-32600,"message":"{"}`},
		"spaces":         {" {\t\"method\" : \"m\" , \"params\" : { \"threadId\" : \"t1\" } } \r", true, "m", "", "t1", "", ""},
		"null-params":    {`{"method":"m","params":null}`, true, "m", "", "", "", ""},
		"array-params":   {`{"method":"m","params":[{"threadId":"no"}]}`, true, "m", "", "", "", ""},
		"thread-null":    {`{"method":"m","params":{"threadId":null}}`, true, "m", "", "", "", ""},
		"empty":          {`{}`, true, "", "", "", "", ""},
		"text":           {`npm notice`, false, "", "", "", "", ""},
		"array":          {`[{"method":"m"}]`, false, "", "", "", "", ""},
		"cut":            {`{"method":"m","params":{"threadId":"t1","delta":"ab`, false, "m", "", "t1", "", ""},
		"cut-in-escape":  {`{"method":"m","params":{"threadId":"t1","delta":"ab\"`, false, "m", "", "t1", "", ""},
		"more-behind":    {`{"method":"m"}{"method":"n"}`, false, "m", "", "", "", ""},
		"no-colon":       {`{"method" "m"}`, false, "", "", "", "", ""},
		"trailing-comma": {`{"method":"m",}`, false, "m", "", "", "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e, ok := scanEnvelope([]byte(test.line))
			got := fmt.Sprintf("%v %s %s %s %s %s", ok, e.method, e.id, e.threadID, e.result, e.err)
			want := fmt.Sprintf("%v %s %s %s %s %s", test.ok, test.method, test.id, test.thread, test.ans, test.err)
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestLines(t *testing.T) {
	for _, size := range []int{0, 1, 99, 100, 101, 102, lineBuffer - 1, lineBuffer, lineBuffer + 1, 3 * lineBuffer} {
		for _, limit := range []int{100, lineBuffer, 2 * lineBuffer, 10 * lineBuffer} {
			for _, end := range []string{"\n", "\r\n"} {
				checkLines(t, size, limit, end)
			}
		}
	}
}

// checkLines reads a line of size between two small ones, in halves.
func checkLines(t *testing.T, size, limit int, end string) {
	t.Helper()
	input := "before" + end + strings.Repeat("x", size) + end + "behind" + end + "cut"
	l := newLineReader(iotest.HalfReader(strings.NewReader(input)), limit)
	var got []string
	for {
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if line.tooLong {
			if size <= limit || line.size < int64(size) || line.size > int64(size+2) || len(line.head) > lostHead || len(line.tail) > lostTail {
				t.Errorf("size %d, limit %d: lost %d bytes, head %d, tail %d", size, limit, line.size, len(line.head), len(line.tail))
			}
			got = append(got, strings.Repeat("x", size))
			continue
		}
		if len(line.text) > limit {
			t.Errorf("size %d, limit %d: a line of %d was passed", size, limit, len(line.text))
		}
		got = append(got, string(line.text))
	}
	want := []string{"before", strings.Repeat("x", size), "behind", "cut"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("size %d, limit %d: %d lines that differ", size, limit, len(got))
	}
}

func TestOwnerOfLostLine(t *testing.T) {
	filler := strings.Repeat(`\"threadId\":\"no\" `, 2000)
	tests := map[string]struct{ line, method, id, thread string }{
		"thread-behind": {`{"method":"item/completed","params":{"item":{"text":"` + filler + `","senderThreadId":"no"},"threadId":"t1","turnId":"u"},"emittedAtMs":1}`, "item/completed", "", "t1"},
		"thread-before": {`{"method":"turn/diff/updated","params":{"threadId":"t1","diff":"` + filler + `"}}`, "turn/diff/updated", "", "t1"},
		"no-thread":     {`{"method":"account/updated","params":{"x":"` + filler + `"}}`, "account/updated", "", ""},
		"answer":        {`{"id":7,"result":{"x":"` + filler + `"}}`, "", "7", ""},
		"refusal":       {`{"error":{"code":1,"message":"` + filler + `"},"id":7}`, "", "7", ""},
		"request":       {`{"method":"item/tool/call","id":0,"params":{"threadId":"t1","x":"` + filler + `"}}`, "item/tool/call", "0", "t1"},
		"noise":         {filler, "", "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			line, err := newLineReader(strings.NewReader(test.line+"\n"), 20_000).next()
			if err != nil || !line.tooLong {
				t.Fatalf("too long = %v, %v", line.tooLong, err)
			}
			e := line.owner()
			if string(e.method) != test.method || string(e.id) != test.id || string(e.threadID) != test.thread {
				t.Errorf("owner = %q %q %q", e.method, e.id, e.threadID)
			}
		})
	}
}

func TestStderrTail(t *testing.T) {
	var last tail
	for i := range 1000 {
		fmt.Fprintf(&last, "\x1b[2mline %d\x1b[0m with some words\n", i)
	}
	got := last.String()
	if !strings.HasPrefix(got, "line ") || !strings.HasSuffix(got, "line 999 with some words") || len(got) > tailBytes {
		t.Errorf("tail = %q … %q", got[:20], got[len(got)-40:])
	}
	if _, err := last.Write(bytes.Repeat([]byte{0xff}, 3*tailBytes)); err != nil || len(last.b) != tailBytes {
		t.Errorf("kept %d bytes, %v", len(last.b), err)
	}
}

func TestStaleTurnSpellings(t *testing.T) {
	for _, message := range []string{
		"expected active turn id `a-1` but found `b-2`",
		"expected active turn id a-1 but found b-2",
		"cannot interrupt: expected active turn id a-1 but found b-2.",
	} {
		found, ok := StaleTurn(fmt.Errorf("wrapped: %w", &RPCError{Message: message}))
		if !ok || found != "b-2" {
			t.Errorf("StaleTurn(%q) = %q, %v", message, found, ok)
		}
	}
}

// FuzzLines holds the reader and the scan to what encoding/json says of each line.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"method\":\"m\",\"params\":{\"threadId\":\"t\"}}\nnoise\n{\"id\":1,\"result\":{}}"), 10)
	f.Add([]byte(`{"error":{"code":1},"id":"3"}`+"\r\n\n{\"a\":\"\\\\\\\"\"}"), 100)
	f.Fuzz(func(t *testing.T, input []byte, limit int) {
		limit = max(1, limit%(4*lineBuffer))
		l := newLineReader(iotest.OneByteReader(bytes.NewReader(input)), limit)
		for {
			line, err := l.next()
			if err != nil {
				return
			}
			if line.tooLong {
				line.owner()
				continue
			}
			if len(line.text) > limit {
				t.Fatalf("a line of %d bytes with a limit of %d", len(line.text), limit)
			}
			e, ok := scanEnvelope(line.text)
			checkScan(t, line.text, e, ok)
		}
	})
}

// checkScan compares a scan with a decoded line. The scan may accept what is no
// JSON, but not refuse what is an object, nor read another thread in it.
func checkScan(t *testing.T, line []byte, e envelope, ok bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(line, &members) != nil || members == nil {
		return
	}
	if !ok {
		t.Fatalf("refused %q", line)
	}
	if bytes.ContainsRune(line, '\\') || bytes.Count(line, []byte("threadId")) > 1 || bytes.Count(line, []byte("params")) > 1 {
		return // escaped or repeated keys, which codex does not send
	}
	var want struct{ ThreadID json.RawMessage }
	if members["params"] != nil && json.Unmarshal(members["params"], &want) == nil {
		if got := string(e.threadID); bytes.HasPrefix(want.ThreadID, []byte(`"`)) && strings.Contains(string(line), `"threadId"`) && `"`+got+`"` != string(want.ThreadID) {
			t.Fatalf("thread %q of %q", got, line)
		}
	}
}
