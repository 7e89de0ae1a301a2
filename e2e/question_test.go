package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// answer is a 1.0 message to a task, of text, or of data.
func answer(task object, id string, content any) object {
	part := object{"data": content}
	if text, ok := content.(string); ok {
		part = object{"text": text}
	}
	return object{"message": object{"messageId": id, "taskId": task["id"], "role": "ROLE_USER", "parts": []object{part}}}
}

// answerV0 is the same in 0.3.
func answerV0(task object, id string, content any) object {
	part := object{"kind": "data", "data": content}
	if text, ok := content.(string); ok {
		part = object{"kind": "text", "text": text}
	}
	m := object{"kind": "message", "messageId": id, "taskId": task["id"], "role": "user", "parts": []object{part}}
	return object{"message": m, "configuration": object{"blocking": true}}
}

// asked checks a task that waits for an answer and returns the data of its nth question.
func asked(t *testing.T, task object, n int, words string) object {
	t.Helper()
	if s := state(task); s != "TASK_STATE_INPUT_REQUIRED" && s != "input-required" {
		t.Fatalf("task = %v, want it to ask", task["status"])
	}
	parts, _ := at(task, "status", "message", "parts").([]any)
	if text, _ := at(parts, 0, "text").(string); !strings.Contains(text, words) {
		t.Errorf("asked %q, want %q in it", text, words)
	}
	var all []object
	for _, part := range parts {
		if data, ok := at(part, "data").(object); ok {
			all = append(all, data)
		}
	}
	if n >= len(all) {
		t.Fatalf("%d questions in %v", len(all), parts)
	}
	return all[n]
}

// TestAnswers asks and is answered in words and in data, in either version.
func TestAnswers(t *testing.T) {
	t.Parallel()
	p := start(t)
	for i, c := range []struct {
		content any
		want    string
	}{
		{"yes", "ran"},
		{"no", "rejected by user"},
		{object{"decision": "accept"}, "ran"},
		{object{"decision": "decline"}, "rejected by user"},
	} {
		task := p.send(fmt.Sprintf("m%d", i), "one", "escalate echo ran") // blocks until it asks
		data := asked(t, task, 0, "echo ran")
		if data["kind"] != "command" || data["deadline"] == nil || data["reason"] != "may I?" {
			t.Errorf("data %v", data)
		}
		var ended object
		if i%2 == 0 {
			ended = p.task(p.call("SendMessage", answer(task, fmt.Sprintf("a%d", i), c.content)))
		} else {
			ended, _ = p.call("message/send", answerV0(task, fmt.Sprintf("a%d", i), c.content))["result"].(object)
		}
		if s := state(ended); s != "TASK_STATE_COMPLETED" && s != "completed" || ended["id"] != task["id"] || !strings.Contains(text(ended), c.want) {
			t.Errorf("%v: task = %v with %q, want %q", c.content, ended["status"], text(ended), c.want)
		}
	}
}

// TestAskedInV0 poses a question in 0.3, and again after an answer that is none.
func TestAskedInV0(t *testing.T) {
	t.Parallel()
	p := start(t)
	first := object{"message": object{
		"kind": "message", "messageId": "m1", "role": "user", "parts": []object{{"kind": "text", "text": "escalate echo ran"}},
	}, "configuration": object{"blocking": true}}
	task, _ := p.call("message/send", first)["result"].(object)
	id := asked(t, task, 0, "echo ran")["id"]
	task, _ = p.call("message/send", answerV0(task, "a1", "perhaps"))["result"].(object)
	if again := asked(t, task, 0, "not understood"); again["id"] != id {
		t.Errorf("asked again as %v, before as %v", again["id"], id)
	}
	task, _ = p.call("message/send", answerV0(task, "a2", "cancel"))["result"].(object)
	if state(task) != "canceled" {
		t.Errorf("task = %v, want it canceled", task["status"])
	}
	if after := p.send("m2", "", "say still here"); text(after) != "still here" {
		t.Errorf("afterwards %q", text(after))
	}
}

// TestRules for all conversations are neither offered to callers nor taken from them, unless
// the operator has said so.
func TestRules(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	rule := object{"acceptWithExecpolicyAmendment": object{"execpolicy_amendment": []string{"echo", "ran"}}}
	for setting, given := range map[string]bool{"CODEX_RULES=operator": false, "CODEX_RULES=callers": true} {
		p := start(t, setting)
		task := p.send("m1", "one", "escalate echo ran")
		data := asked(t, task, 0, "echo ran")
		if offered := strings.Contains(fmt.Sprint(data), "Amendment"); offered != given {
			t.Errorf("%s: offered %v", setting, data)
		}
		task = p.task(p.call("SendMessage", answer(task, "a1", object{"decision": rule})))
		if !given {
			asked(t, task, 0, "the operator's to make")
			task = p.task(p.call("SendMessage", answer(task, "a2", "yes")))
		}
		if !strings.Contains(text(task), "ran") {
			t.Errorf("%s: the task is %v", setting, task)
		}
		if rules, _ := filepath.Glob(filepath.Join(p.Home, "rules", "*")); (len(rules) > 0) != given {
			t.Errorf("%s: codex keeps %q", setting, rules)
		}
	}
}

// TestTwoQuestions of one turn, answered by id, the second first.
func TestTwoQuestions(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.Model.SetScript(func(t *fakemodel.Turn) {
		outputs := t.NewToolOutputs()
		if len(outputs) == 0 {
			for _, command := range []string{"echo ran-one", "echo ran-two"} {
				t.Call("exec_command", fakemodel.Escalated(command))
			}
			return
		}
		t.Say(outputs[0].Text + outputs[1].Text)
	})
	task := p.begin("m1", "one", "go")
	progtest.WaitFor(t, "both questions", func() bool {
		parts, _ := at(p.get(task["id"]), "status", "message", "parts").([]any)
		return len(parts) == 4
	})
	task = p.get(task["id"])
	one, two := asked(t, task, 0, "echo ran"), asked(t, task, 1, "echo ran")
	if strings.Contains(fmt.Sprint(two["command"]), "ran-one") {
		one, two = two, one
	}
	left := p.task(p.call("SendMessage", answer(task, "a1", object{"id": two["id"], "decision": "accept"})))
	if asked(t, left, 0, "ran-one")["id"] != one["id"] {
		t.Errorf("left is %v", left["status"])
	}
	ended := p.task(p.call("SendMessage", answer(task, "a2", object{"id": one["id"], "decision": "decline"})))
	if got := text(ended); !strings.Contains(got, "ran-two") || !strings.Contains(got, "rejected by user") {
		t.Errorf("task = %v with %q", ended["status"], got)
	}
}

func TestQuestionExpires(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t, "CODEX_QUESTION_TTL=5s")
	task := p.send("m1", "one", "escalate echo ran")
	asked(t, task, 0, "echo ran")
	ended := p.ended(task["id"])
	history, _ := json.Marshal(ended["history"])
	if !strings.Contains(text(ended), "rejected by user") || !strings.Contains(string(history), "within 5s (CODEX_QUESTION_TTL)") {
		t.Errorf("task = %v with %q, history %s", ended["status"], text(ended), history)
	}
}

// TestNobodyIsAsked leaves nothing open under never.
func TestNobodyIsAsked(t *testing.T) {
	t.Parallel()
	p := start(t, "CODEX_APPROVAL_POLICY=never")
	if task := p.send("m1", "one", "escalate echo ran"); state(task) != "TASK_STATE_COMPLETED" {
		t.Errorf("task = %v", task["status"])
	}
}

// restarts are the ways from one process to the next.
var restarts = map[string]func(*program){
	"kill": func(p *program) { p.again() },
	"stop": func(p *program) {
		p.Signal(syscall.SIGTERM)
		<-p.Exited()
		p.Program = p.Restart()
	},
}

// TestQuestionSurvivesKill goes on asking in the next process, and the answer
// starts one new turn, on the same thread.
func TestQuestionSurvivesKill(t *testing.T) {
	t.Parallel()
	for name, end := range restarts {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			task := p.send("m1", "one", "escalate echo ran")
			before := asked(t, task, 0, "echo ran")
			end(p)
			task = p.get(task["id"])
			if stale := asked(t, task, 0, "restarted"); stale["id"] != before["id"] || stale["stale"] != true {
				t.Errorf("asked %v, before %v", stale, before)
			}
			requests := len(p.Model.Requests())
			ended := p.task(p.call("SendMessage", answer(task, "a1", "say on we go")))
			if state(ended) != "TASK_STATE_COMPLETED" || !strings.Contains(text(ended), "on we go") || ended["id"] != task["id"] {
				t.Errorf("task = %v with %q", ended["status"], text(ended))
			}
			asked := p.Model.Requests()[requests:]
			if len(asked) != 1 || !strings.Contains(asked[0].LastUserText(), "echo ran") {
				t.Errorf("the model was asked %d times: %q", len(asked), asked[0].LastUserText())
			}
			if then, now := at(task, "metadata", "threadId"), at(ended, "metadata", "threadId"); then != now {
				t.Errorf("thread %v, before %v", now, then)
			}
		})
	}
}
