package rollout

import (
	"strings"
	"testing"
)

const (
	lineStart = `{"timestamp":"2026-11-21T09:44:46.053Z","ordinal":1,"type":"event_msg","payload":{"type":"task_started","turn_id":"TURN"}}` + "\n"
	lineUser  = `{"timestamp":"2026-11-21T09:44:46.082Z","ordinal":12,"type":"event_msg","payload":{"type":"item_completed","turn_id":"TURN","item":{"type":"UserMessage","id":"u","client_id":"CLIENT"}}}` + "\n"
	lineSay   = `{"timestamp":"2026-11-21T09:44:46.126Z","ordinal":14,"type":"response_item","payload":{"type":"message","role":"assistant"}}` + "\n"
	lineCall  = `{"timestamp":"2026-11-21T09:44:46.175Z","ordinal":22,"type":"response_item","payload":{"type":"function_call","status":"completed","name":"exec_command","arguments":"{}","internal_chat_message_metadata_passthrough":{"turn_id":"TURN"}}}` + "\n"
	linePlan  = `{"timestamp":"2026-11-21T09:44:46.175Z","ordinal":22,"type":"response_item","payload":{"type":"function_call","status":"completed","name":"update_plan"}}` + "\n"
	lineExec  = `{"timestamp":"2026-11-21T09:44:46.175Z","ordinal":22,"type":"response_item","payload":{"type":"custom_tool_call","name":"exec"}}` + "\n"
	lineDone  = `{"timestamp":"2026-11-21T09:44:46.175Z","ordinal":23,"type":"event_msg","payload":{"type":"item_completed","turn_id":"TURN","item":{"type":"CommandExecution","id":"c"}}}` + "\n"
	lineEnd   = `{"timestamp":"2026-11-21T09:44:46.175Z","ordinal":24,"type":"event_msg","payload":{"type":"task_complete","turn_id":"TURN"}}` + "\n"
	lineNew   = `{"timestamp":"2026-11-21T09:44:46.175Z","ordinal":23,"type":"event_msg","payload":{"type":"teleported","turn_id":"TURN"}}` + "\n"
	lineOdd   = `{"timestamp":"2026-11-21T09:44:46.175Z","ordinal":23,"type":"novelty","payload":{}}` + "\n"
)

// of puts lines into a turn.
func of(turn, client string, lines ...string) string {
	return strings.NewReplacer("TURN", turn, "CLIENT", client).Replace(lineStart + strings.Join(lines, ""))
}

func TestReadTrace(t *testing.T) {
	text := of("t0", "c0", lineUser, lineSay)
	cases := map[string]struct {
		file string
		want Trace
	}{
		"empty":                {"", Trace{}},
		"another-turn":         {of("t0", "c0", lineUser, lineCall), Trace{}},
		"before-the-message":   {of("t1", "c1"), Trace{}},
		"message":              {text + of("t1", "c1", lineUser), Trace{Found: true}},
		"text":                 {text + of("t1", "c1", lineUser, lineSay), Trace{Found: true}},
		"plan":                 {of("t1", "c1", lineUser, linePlan), Trace{Found: true, Called: true}},
		"plan-of-a-server":     {of("t1", "c1", lineUser, strings.Replace(linePlan, `"name"`, `"namespace":"mcp__asker","name"`, 1)), Trace{Found: true, Tool: true, Called: true}},
		"call":                 {of("t1", "c1", lineUser, lineCall), Trace{Found: true, Tool: true, Called: true}},
		"call-in-javascript":   {of("t1", "c1", lineUser, lineExec), Trace{Found: true, Tool: true, Called: true}},
		"command":              {of("t1", "c1", lineUser, lineDone), Trace{Found: true, Tool: true, Called: true}},
		"call-before":          {of("t0", "c0", lineUser, lineCall) + of("t1", "c1", lineUser, lineSay), Trace{Found: true}},
		"call-after":           {of("t1", "c1", lineUser) + of("t2", "c2", lineUser, lineCall), Trace{Found: true}},
		"nameless-call-after":  {of("t1", "c1", lineUser) + of("t2", "c2", lineUser, lineExec), Trace{Found: true}},
		"earlier-command-ends": {of("t1", "c1", lineUser, strings.ReplaceAll(lineDone, "TURN", "t0")), Trace{Found: true}},
		"inner-turn":           {of("t1", "c1", lineUser) + of("t1b", "", strings.ReplaceAll(lineCall, "TURN", "t1")), Trace{Found: true, Tool: true, Called: true}},
		"unknown-event":        {of("t1", "c1", lineUser, lineNew), Trace{Found: true, Tool: true, Called: true}},
		"unknown-line":         {of("t1", "c1", lineUser, lineOdd), Trace{Found: true, Tool: true, Called: true}},
		"complete":             {of("t1", "c1", lineUser, lineSay, lineEnd), Trace{Found: true, Ended: true}},
		"aborted":              {of("t1", "c1", lineUser, strings.Replace(lineEnd, "task_complete", "turn_aborted", 1)), Trace{Found: true, Ended: true}},
		"not-read":             {of("t1", "c1", strings.Replace(lineUser, "CLIENT", "c0", 1), lineSay, lineUser, lineEnd), Trace{Found: true, Ended: true, Unread: true}},
		"two-not-read":         {of("t1", "c1", lineSay, lineUser, strings.Replace(lineUser, "CLIENT", "c2", 1), lineEnd), Trace{Found: true, Ended: true, Unread: true}},
		"read-in-silence":      {of("t1", "c1", lineUser, strings.Replace(lineEnd, "task_complete", "token_count", 1), lineEnd), Trace{Found: true, Ended: true}},
		"plan-alone":           {of("t1", "c1", lineUser, linePlan, lineEnd), Trace{Found: true, Called: true, Ended: true}},
		"end-of-another":       {of("t1", "c1", lineUser, strings.Replace(lineEnd, "TURN", "t2", 1)), Trace{Found: true}},
		"torn-text":            {of("t1", "c1", lineUser) + lineSay[:120], Trace{Found: true}},
		"torn-call":            {of("t1", "c1", lineUser) + lineCall[:130], Trace{Found: true, Tool: true, Called: true}},
		"torn-anything":        {of("t1", "c1", lineUser) + lineSay[:60], Trace{Found: true, Tool: true, Called: true}},
		"torn-message":         {of("t1", "c1") + strings.ReplaceAll(lineUser, "CLIENT", "c1")[:180], Trace{Found: true}},
		"torn-and-written-on":  {of("t1", "c1", lineUser) + lineSay[:120] + lineSay, Trace{Found: true}},
		"no-line-at-all":       {of("t1", "c1", lineUser) + "\x00\x00\x00", Trace{Found: true, Tool: true, Called: true}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := readTrace(strings.NewReader(test.file), "c1")
			if err != nil || got != test.want {
				t.Errorf("trace = %+v, %v, want %+v\n%s", got, err, test.want, test.file)
			}
		})
	}
}

func TestReadTraceOfNothing(t *testing.T) {
	for _, path := range []string{"", t.TempDir(), t.TempDir() + "/none"} {
		if trace, err := ReadTrace(path, "c1"); err == nil {
			t.Errorf("ReadTrace(%q) = %+v, want an error", path, trace)
		}
	}
}
