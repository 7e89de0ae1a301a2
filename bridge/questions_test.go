package bridge_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

func TestQuestions(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		kind, method, status string
		args                 bridge.Args
		data, response       object
	}{
		{"command", "item/commandExecution/requestApproval", "waiting_for_approval", bridge.Args{},
			object{"id": "0", "decision": "decline"}, object{"decision": "decline"}},
		{"command", "item/commandExecution/requestApproval", "waiting_for_approval", bridge.Args{Decision: "acceptForSession"},
			object{"id": "0", "decision": "acceptForSession"}, object{"decision": "acceptForSession"}},
		{"fileChange", "item/fileChange/requestApproval", "waiting_for_approval", bridge.Args{Decision: "accept"},
			object{"id": "0", "decision": "accept"}, object{"decision": "accept"}},
		{"input", "item/tool/requestUserInput", "waiting_for_user_input",
			bridge.Args{Answers: object{"q1": object{"answers": []any{"blue"}}}},
			object{"id": "0", "answers": object{"q1": object{"answers": []any{"blue"}}}}, object{"answers": object{"q1": object{"answers": []any{"blue"}}}}},
		{"input", "item/tool/requestUserInput", "waiting_for_user_input", bridge.Args{Decision: "accept"},
			object{"id": "0", "decision": "decline"}, object{"decision": "decline"}},
		{"tool", "mcpServer/elicitation/request", "waiting_for_approval", bridge.Args{Decision: "accept"},
			object{"id": "0", "decision": "accept"}, object{"decision": "accept"}},
		{"form", "mcpServer/elicitation/request", "waiting_for_user_input",
			bridge.Args{Answers: object{"name": object{"answers": []any{"Ada"}}, "age": 36.0}},
			object{"id": "0", "content": object{"name": "Ada", "age": 36.0}}, object{"content": object{"name": "Ada", "age": 36.0}}},
		{"form", "mcpServer/elicitation/request", "waiting_for_user_input", bridge.Args{},
			object{"id": "0", "decision": "decline"}, object{"decision": "decline"}},
	} {
		id, j := w.start("x")
		j.observe(agent.Question{ID: "0", Text: "may I?", Data: object{"type": "question", "id": "0", "kind": c.kind, "command": "ls"}})
		task := w.status(id)
		pending, _ := task["pending_requests"].([]any)
		if task["status"] != c.status || len(pending) != 1 {
			t.Fatalf("%s: %v, pending %v", c.kind, task["status"], pending)
		}
		asked, _ := pending[0].(object)
		if asked["request_id"] != "0" || asked["method"] != c.method || asked["status"] != "pending" || asked["created_at"] == nil ||
			asked["payload"].(object)["command"] != "ls" || len(asked) != 5 {
			t.Errorf("%s: pending request %v", c.kind, asked)
		}
		c.args.Action, c.args.TaskID, c.args.Instruction = "respond", id, "0"
		answer := w.do(c.args)
		if !reflect.DeepEqual(answer["response"], c.response) || answer["success"] != true || answer["task"].(object)["status"] != "working" {
			t.Errorf("%s: respond = %v", c.kind, answer)
		}
		if got := <-w.runner.answers; got.Question != "0" || !reflect.DeepEqual(got.Data, c.data) {
			t.Errorf("%s: the turn was given %+v, want %v", c.kind, got, c.data)
		}
		if task := w.status(id); len(task["pending_requests"].([]any)) != 0 {
			t.Errorf("%s: still pending: %v", c.kind, task["pending_requests"])
		}
		j.end("done")
	}
}

func TestAnswersToNobody(t *testing.T) {
	w := newWorld(t)
	id, j := w.start("x")
	if why := w.refused(bridge.Args{Action: "respond", TaskID: id, Instruction: "0"}); !strings.Contains(why, "None is open") {
		t.Error(why)
	}
	j.observe(agent.Question{ID: "7", Text: "may I?", Data: object{"type": "question", "id": "7", "kind": "command"}})
	if why := w.refused(bridge.Args{Action: "respond", TaskID: id, Instruction: "0"}); why != `No pending Codex request "0" for task `+id+`. Open: 7.` {
		t.Error(why)
	}
	if why := w.refused(bridge.Args{Action: "steer", TaskID: id, Instruction: "yes"}); !strings.Contains(why, "respond to 7 first") {
		t.Error(why)
	}
	if why := w.refused(bridge.Args{Action: "respond", TaskID: id, Instruction: "7", Decision: "maybe"}); !strings.Contains(why, "decision must be one of") {
		t.Error(why)
	}
	j.end("done")
	if why := w.refused(bridge.Args{Action: "respond", TaskID: id, Instruction: "7"}); !strings.Contains(why, "is not active") {
		t.Error(why)
	}
}

func TestSteerAndInterrupt(t *testing.T) {
	w := newWorld(t)
	id, j := w.start("x")
	answer := w.do(bridge.Args{Action: "steer", TaskID: id, Instruction: "more"})
	if result, _ := answer["result"].(object); result["turnId"] != "turn" || result["turn"] == nil {
		t.Errorf("steer = %v", answer)
	}
	// Where it becomes a turn of its own, that has no more leave than the first one.
	if got := w.next(); got.Input[0].Text != "more" || got.Options != j.Options || got.Options.Sandbox != "read-only" {
		t.Errorf("the next turn was told %q, with %+v", got.Input[0].Text, got.Options)
	}
	answer = w.do(bridge.Args{Action: "interrupt", TaskID: id})
	if answer["task"].(object)["status"] != "cancelled" || answer["result"] == nil {
		t.Errorf("interrupt = %v", answer)
	}
	if why := w.refused(bridge.Args{Action: "cancel", TaskID: id}); !strings.Contains(why, "is not active") {
		t.Error(why)
	}
}

// TestSteerHasTheLeaveOfTheNewest: a steer asks for what the newest message of the task asked for,
// which is not what the first did, and an answer asks for nothing: the runtime knows what the turn
// has that asks.
func TestSteerHasTheLeaveOfTheNewest(t *testing.T) {
	w := newWorld(t)
	id, first := w.start("x")
	task, err := w.engine.GetTask(t.Context(), &a2a.GetTaskRequest{ID: tasks.TaskOf(first.ID)})
	if err != nil {
		t.Fatal(err)
	}
	m := a2a.NewMessageForTask(a2a.MessageRoleUser, task, a2a.NewTextPart("and more"))
	m.Metadata = object{"sandbox": "workspace-write", "approvalPolicy": "on-request", "model": "other"}
	if _, err := w.engine.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: m, Config: &a2a.SendMessageConfig{ReturnImmediately: true}}); err != nil {
		t.Fatal(err)
	}
	first.end("done")
	second := w.next().start()
	second.observe(agent.Question{ID: "0", Text: "may I?", Data: object{"type": "question", "id": "0", "kind": "command"}})
	w.do(bridge.Args{Action: "respond", TaskID: id, Instruction: "0", Decision: "accept"})
	if task, err = w.engine.GetTask(t.Context(), &a2a.GetTaskRequest{ID: task.ID}); err != nil {
		t.Fatal(err)
	}
	if answer := task.History[len(task.History)-1]; answer.Role != a2a.MessageRoleUser || len(answer.Metadata) > 0 {
		t.Errorf("the answer is %+v, with %v", answer, answer.Metadata)
	}
	w.do(bridge.Args{Action: "steer", TaskID: id, Instruction: "go on"})
	if got := w.next(); got.Input[0].Text != "go on" || got.Options != second.Options || got.Options == first.Options {
		t.Errorf("the steer %q has %+v, want %+v", got.Input[0].Text, got.Options, second.Options)
	}
}

// TestStatusSaysHowToAnswer: a person who reads a status can answer without the documents.
func TestStatusSaysHowToAnswer(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		asked agent.Question
		want  string
	}{
		"approval": {agent.Question{ID: "0", Text: "May I run this?\n\n    ls", Accepts: "Answer yes or no.", Data: object{
			"id": "0", "kind": "command", "choices": []any{"accept", object{"acceptWithExecpolicyAmendment": object{}}, "decline"},
		}}, `  asks      May I run this?
            
                ls
            
            Answer yes or no.
            runtime task respond ID 0 --decision 'accept|decline'
`},
		"input": {agent.Question{ID: "0", Text: "Which?", Data: object{
			"id": "0", "kind": "input", "questions": []any{object{"id": "it's"}, object{"id": "size"}}, "choices": []any{"decline"},
		}}, `  asks      Which?
            runtime task respond ID 0 --answer 'it'\''s=…' --answer 'size=…'
`},
		"form": {agent.Question{ID: "0", Text: "Who?", Data: object{
			"id": "0", "kind": "form", "schema": object{"properties": object{"name": object{}, "age": object{}}},
		}}, `  asks      Who?
            runtime task respond ID 0 --answer 'age=…' --answer 'name=…'
`},
		"odd-id": {agent.Question{ID: "x; touch it #", Text: "Go on?", Data: object{
			"id": "x; touch it #", "kind": "command", "choices": []any{"accept"},
		}}, `  asks      Go on?
            runtime task respond ID 'x; touch it #' --decision 'accept'
`},
		"form-without-fields": {agent.Question{ID: "0", Text: "Go on?", Data: object{
			"id": "0", "kind": "form", "schema": object{}, "choices": []any{"accept", "decline"},
		}}, `  asks      Go on?
            runtime task respond ID 0 --decision 'accept|decline'
`},
	} {
		t.Run(name, func(t *testing.T) {
			id, j := w.start("x")
			defer j.end("done")
			j.observe(c.asked)
			answer, err := w.client.Do(t.Context(), bridge.Args{Action: "status", TaskID: id})
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if err := bridge.WriteHuman(&out, answer); err != nil {
				t.Fatal(err)
			}
			_, asks, _ := strings.Cut(out.String(), "  asks ")
			if got, want := "  asks "+asks, strings.ReplaceAll(c.want, "ID", id); got != want {
				t.Errorf("status says\n%s\nwant\n%s", got, want)
			}
		})
	}
}
