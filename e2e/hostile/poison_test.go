package hostile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A poison is a message that may be taken, and whose task could then not be read again,
// alone or in a list.
type poison struct{ door, part string }

// call sends it; further is more of the message.
func (p poison) call(id, further string) call {
	message := `{"messageId":"` + id + `","role":"ROLE_USER",` + further + `"parts":[{"text":"say poisoned"},` + p.part + `]}`
	body, path := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":`+message+`}}`, "/"
	switch p.door {
	case "0.3":
		body = strings.NewReplacer("SendMessage", "message/send", "ROLE_USER", "user").Replace(body)
	case "REST 1.0":
		body, path = `{"message":`+message+`}`, "/message:send"
	case "REST 0.3":
		body, path = strings.Replace(`{"message":`+message+`}`, `"parts"`, `"content"`, 1), "/v1/message:send"
	}
	return call{method: "POST", path: path, body: body, header: []string{"Content-Type: application/json"}}
}

func poisons() []poison {
	return []poison{
		{"0.3", `{"kind":"data","data":{},"metadata":{"data_part_compat":true}}`},
		{"0.3", `{"kind":"data","data":{"value":null},"metadata":{"data_part_compat":true}}`},
		{"0.3", `{"kind":"file","file":{"bytes":"\n"}}`},
		{"0.3", `{"kind":"file","file":{"uri":"\u0000"}}`},
		{"1.0", `{"data":null}`}, {"1.0", `{"raw":""}`}, {"1.0", `{"raw":"\n"}`}, {"1.0", `{"text":"\u0000\ud800","metadata":{"\u0000":1e308}}`},
		{"REST 1.0", `{"data":null}`}, {"REST 1.0", `{"url":"","raw":null,"text":"x"}`},
		{"REST 1.0", `{"text":"","filename":"\u0000","mediaType":"\ud800"}`},
		{"REST 0.3", `{"data":{"data":{"value":null}},"metadata":{"data_part_compat":true}}`},
		{"REST 0.3", `{"data":{"data":{}},"metadata":{"data_part_compat":true}}`},
		{"REST 0.3", `{"file":{"fileWithBytes":"\n"}}`},
		{"REST 0.3", `{"data":{"data":{"value":"NaN"}},"metadata":{"data_part_compat":true}}`},
	}
}

// poisons sends each of them, one into the running task of another caller, and looks that
// everyone can still read everything, also after a kill.
func (x *world) poisons(t *testing.T) {
	theirs := taskOf(x.send(x.ours(rpc("SendMessage", object{"configuration": object{"returnImmediately": true}, "message": object{
		"messageId": "victim", "role": "ROLE_USER", "parts": []object{{"text": "run sleep 60"}},
	}}))))
	progtest.WaitFor(t, "the victim's command", func() bool { return progtest.Find(x.Pid(), "sleep 60") != 0 })
	into := poisons()[0].call("poison-into", `"taskId":"`+theirs+`",`)
	into.body = strings.Replace(into.body, `"params":{`, `"params":{"configuration":{"blocking":false},`, 1)
	serving(t, "into another's task", x.send(into))
	for i, row := range poisons() {
		serving(t, row, x.send(row.call(fmt.Sprintf("poison-%d", i), "")))
	}
	x.readable(t, "sent")
	x.Kill()
	x.Program = x.Restart()
	x.readable(t, "restarted")
	canceled := x.send(x.ours(rpc("CancelTask", object{"id": theirs})))
	if strings.Contains(canceled.body, `"error"`) && !strings.Contains(canceled.body, "has ended") {
		t.Errorf("the victim's task is out of reach: %s", canceled)
	}
	x.readable(t, "canceled")
	x.unharmed(t)
}

// readable reads each task, and the lists, by every door that has them.
func (x *world) readable(t *testing.T, when string) {
	t.Helper()
	const unread = "the runtime could not read"
	var list struct{ Tasks []struct{ ID string } }
	for _, path := range []string{"/v1/tasks?pageSize=100", "/tasks?pageSize=100&includeArtifacts=true"} {
		got := x.send(call{method: "GET", path: path})
		if got.status != 200 || strings.Contains(got.body, unread) {
			t.Errorf("%s: %s: %s", when, path, got)
		}
		_ = json.Unmarshal([]byte(got.body), &list)
	}
	if len(list.Tasks) < 5 {
		t.Errorf("%s: the list has %d tasks", when, len(list.Tasks))
	}
	for _, task := range list.Tasks {
		for _, method := range []string{"GetTask", "tasks/get"} {
			if got := x.send(x.ours(rpc(method, object{"id": task.ID}))); got.status != 200 || strings.Contains(got.body, `"error"`) || strings.Contains(got.body, unread) {
				t.Errorf("%s: %s: %s", when, method, got)
			}
		}
	}
	x.console(t, when, len(list.Tasks))
}

// console reads the console's list until it has all tasks.
func (x *world) console(t *testing.T, when string, tasks int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, x.URL+"/console/api/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	seen := 0
	for lines := bufio.NewReader(res.Body); seen < min(tasks, 5); {
		line, err := lines.ReadString('\n')
		seen += strings.Count(line, "event: task")
		if err != nil {
			t.Errorf("%s: the console ends after %d of %d tasks: %v", when, seen, tasks, err)
			return
		}
	}
}
