package server

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	legacy "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

// keptParts are forms of parts that the doors of 0.3 and 1.0 may take; each of them is
// refused, or can be read again.
func keptParts() []string {
	return []string{
		`{"kind":"data","data":{},"metadata":{"data_part_compat":true}}`,
		`{"kind":"data","data":{"value":null},"metadata":{"data_part_compat":true}}`,
		`{"kind":"data","data":{"value":null,"other":1},"metadata":{"data_part_compat":true,"a":{"b":[null]}}}`,
		`{"kind":"data","data":{"value":[null]},"metadata":{"data_part_compat":true}}`,
		`{"kind":"data","data":{"value":false},"metadata":{"data_part_compat":true}}`,
		`{"kind":"data","data":{},"metadata":{"data_part_compat":"true"}}`,
		`{"kind":"data","data":{},"metadata":null}`, `{"kind":"data","data":{"":null}}`, `{"kind":"data","data":null}`,
		`{"kind":"data","data":{"data":null,"text":null}}`,
		`{"kind":"text","text":"","metadata":{}}`, `{"kind":"text","text":"\u0000\ud800"}`,
		`{"kind":"file","file":{"bytes":"\n"}}`, `{"kind":"file","file":{"bytes":"\r\n\r\n"}}`, `{"kind":"file","file":{"bytes":""}}`,
		`{"kind":"file","file":{"bytes":"===="}}`, `{"kind":"file","file":{"bytes":"","uri":""}}`, `{"kind":"file","file":{"bytes":"aA","uri":""}}`,
		`{"kind":"file","file":{"uri":"\u0000"}}`, `{"kind":"file","file":{"uri":" ","name":"\u0000"}}`,
		`{"kind":"file","file":{"uri":"x"},"metadata":{"kept":"../y"}}`,
		`{"text":null,"data":{}}`, `{"data":null}`, `{"data":null,"mediaType":"a/b","metadata":{"c":null}}`, `{"data":[]}`, `{"data":{}}`, `{"data":0}`, `{"data":""}`,
		`{"raw":""}`, `{"raw":"\n"}`, `{"raw":"aA"}`, `{"raw":null}`, `{"url":" "}`, `{"url":"\u0000"}`, `{"text":"x","filename":"\ud800"}`,
		`{"text":"x","metadata":{"a":1e308,"b":-0,"c":12345678901234567890,"\ud800":null}}`,
		`{"data":{"data":{"value":null}},"metadata":{"data_part_compat":true}}`, `{"data":{"data":{}},"metadata":{"data_part_compat":true}}`,
		`{"data":{"data":{"value":"NaN"}},"metadata":{"data_part_compat":true}}`, `{"data":{"data":{}}}`, `{"data":{"data":null}}`,
		`{"file":{"fileWithBytes":"\n"}}`, `{"file":{"fileWithBytes":""}}`, `{"file":{"fileWithBytes":"Cg=="}}`, `{"file":{"fileWithBytes":"YUE9PQ=="}}`,
		`{"file":{"fileWithUri":" "}}`, `{"file":{"fileWithUri":""}}`, `{"file":{"fileWithUri":"\u0000"}}`,
	}
}

// TestPartsAreReadAgain: whatever is taken at one door, each reader can read, and the
// lists, which are everyone's, go on.
func TestPartsAreReadAgain(t *testing.T) {
	longtest.Mark(t)
	ts := start(t, Config{Handler: engine(t)})
	taken := map[string]int{}
	for _, part := range keptParts() {
		for door, send := range map[string][2]string{
			"0.3":      {"/", v0Send1(`{"messageId":"m` + t.Name() + `","role":"user","parts":[{"kind":"text","text":"x"},PART]}`)},
			"1.0":      {"/", v1Send(`{"message":{"messageId":"M","role":"ROLE_USER","parts":[{"text":"x"},PART]}}`)},
			"REST 0.3": {"/v1/message:send", `{"message":{"messageId":"M","role":"ROLE_USER","content":[{"text":"x"},PART]}}`},
			"REST 1.0": {"/message:send", `{"message":{"messageId":"M","role":"ROLE_USER","parts":[{"text":"x"},PART]}}`},
		} {
			body := strings.NewReplacer("PART", part, `"M"`, `"`+a2a.NewMessageID()+`"`, "m"+t.Name(), a2a.NewMessageID()).Replace(send[1])
			a := do(t, "POST", ts.URL+send[0], body)
			if a.status >= 500 || strings.Contains(a.body, "-32603") {
				t.Errorf("%s of %s: %d %s", part, door, a.status, a.body)
			}
			if a.status == http.StatusOK && !strings.Contains(a.body, `"error"`) {
				taken[door]++
			}
			readable(t, ts.URL, part+" of "+door)
		}
	}
	if len(taken) != 4 {
		t.Errorf("taken: %v", taken)
	}
}

// unreadWords stand in place of what was kept and cannot be read.
const unreadWords = "(the runtime could not read"

// readable reads the newest task, and the lists that it is in, in both versions.
func readable(t *testing.T, url, what string) {
	t.Helper()
	var list a2a.ListTasksResponse
	for _, path := range []string{"/tasks?pageSize=1", "/v1/tasks?pageSize=1"} {
		a := do(t, "GET", url+path, "")
		if a.status != http.StatusOK {
			t.Errorf("%s: %s: %d %s", what, path, a.status, a.body)
			return
		}
		if strings.Contains(a.body, unreadWords) {
			t.Errorf("%s: %s: what was kept cannot be read: %s", what, path, a.body)
		}
		if path[1] == 't' {
			if err := json.Unmarshal([]byte(a.body), &list); err != nil {
				t.Errorf("%s: 1.0 cannot read it: %v: %s", what, err, a.body)
			}
		}
	}
	if len(list.Tasks) == 0 {
		return
	}
	var task legacy.Task
	a := do(t, "POST", url+"/", `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"`+string(list.Tasks[0].ID)+`"}}`)
	if err := json.Unmarshal(a.rpc(t).Result, &task); err != nil {
		t.Errorf("%s: 0.3 cannot read it: %v: %s", what, err, a.body)
	}
}

// TestWrappedNull: what the SDKs of 0.3 make of data that are null is taken as in 1.0, over
// both bindings.
func TestWrappedNull(t *testing.T) {
	ts := start(t, Config{Handler: engine(t)})
	for part, path := range map[string]string{
		`{"kind":"data","data":{},"metadata":{"data_part_compat":true}}`:                     "/",
		`{"kind":"data","data":{"value":null},"metadata":{"data_part_compat":true,"a":"b"}}`: "/",
		`{"data":{"data":{"value":null}},"metadata":{"data_part_compat":true,"a":"b"}}`:      "/v1/message:send",
	} {
		body := v0Send1(`{"messageId":"` + a2a.NewMessageID() + `","role":"user","parts":[` + part + `]}`)
		if path != "/" {
			body = `{"message":{"messageId":"` + a2a.NewMessageID() + `","role":"ROLE_USER","content":[` + part + `]}}`
		}
		if a := do(t, "POST", ts.URL+path, body); a.status != http.StatusOK || strings.Contains(a.body, `"error"`) {
			t.Errorf("%s: %d %s", part, a.status, a.body)
			continue
		}
		var list a2a.ListTasksResponse
		if err := json.Unmarshal([]byte(do(t, "GET", ts.URL+"/tasks?pageSize=1", "").body), &list); err != nil {
			t.Fatal(err)
		}
		got := list.Tasks[0].History[0].Parts[0]
		if got.Text() != "null" || path == "/" && got.MediaType != "application/json" || got.Metadata["data_part_compat"] != nil || strings.Contains(part, `"a"`) != (got.Metadata["a"] == "b") {
			t.Errorf("%s became %+v", part, got)
		}
	}
}

// TestIDOnOneLine: an id of any type stands in each event of a stream, which ends with its line.
func TestIDOnOneLine(t *testing.T) {
	ts := start(t, Config{Handler: engine(t), ReplyAsMessage: true, Reply: reply.Of})
	a := do(t, "POST", ts.URL+"/", strings.Replace(v0Stream, `"id":1`, "\"id\":{\"a\":\r\n\n[ 1,\n\"b c\"]}", 1))
	events := a.sseData()
	if len(events) == 0 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for _, event := range events {
		if !json.Valid([]byte(event)) || !strings.Contains(event, `"id":{"a":[1,"b c"]}`) {
			t.Errorf("%s", event)
		}
	}
}
