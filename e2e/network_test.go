package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// answersEnv names the runtime that a copy of this binary answers, in [answerItself].
const answersEnv = "E2E_ANSWERS"

// answerItself is a command that says yes to the first task that asks. Once it has been told
// anything at all, there is a file "reached".
func answerItself(url string) {
	p := &program{Program: &progtest.Program{URL: url}}
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		all, err := p.tryCall(context.Background(), "ListTasks", object{"status": "TASK_STATE_INPUT_REQUIRED"})
		if err != nil {
			continue
		}
		if err := os.WriteFile("reached", nil, 0o600); err != nil {
			panic(err)
		}
		if task, ok := at(all, "result", "tasks", 0).(object); ok {
			_, err = p.tryCall(context.Background(), "SendMessage", answer(task, "of-a-command", "yes"))
			fmt.Println(err)
			os.Exit(0)
		}
	}
	os.Exit(0)
}

// TestNetworkedCommandsAnswerNothing: where codex's own configuration gives commands the network and
// callers need no token, a command can call this program, and what codex asks has no answer: none
// can let its own turn out of the sandbox.
func TestNetworkedCommandsAnswerNothing(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home, escaped := codextest.Dir(t, "home"), filepath.Join(codextest.Dir(t, "outside"), "escaped")
	writeFile(t, filepath.Join(home, "config.toml"), "[sandbox_workspace_write]\nnetwork_access = true\n")
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		switch strings.Count(string(turn.Body), `"function_call_output"`) {
		case 0: // it goes on beside those below
			turn.Call("exec_command", fmt.Sprintf(`{"cmd":%q,"yield_time_ms":250}`, turn.LastUserText()))
		case 1:
			turn.Exec("until test -e reached; do sleep 0.05; done")
		case 2:
			turn.Call("exec_command", fakemodel.Escalated("touch "+escaped))
		default:
			turn.Say("done")
		}
	})
	p := startOn(t, binary, model, "CODEX_HOME="+home)
	stream := p.stream(t.Context(), "SendStreamingMessage", object{"message": message("m1", "c1", answersEnv+"="+p.URL+" exec "+exe)})
	task := stream.next()
	told := fmt.Sprint(task)
	for event := stream.next(); event != nil; event = stream.next() {
		told += fmt.Sprint(event)
	}
	p.ended(at(task, "task", "id")) // without an answer of ours
	if _, err := os.Stat(filepath.Join(p.Work, "reached")); err != nil {
		t.Fatalf("the command has not called the runtime: %v, %s", err, told)
	}
	if _, err := os.Stat(escaped); err == nil {
		t.Errorf("a command has answered its own turn, and left the sandbox")
	}
	if strings.Contains(told, "INPUT_REQUIRED") || !strings.Contains(told, "set RUNTIME_TOKEN") {
		t.Errorf("the sender is told %s", told)
	}
	if _, page := p.fetch("/readyz"); !strings.Contains(page, "set RUNTIME_TOKEN") {
		t.Errorf("/readyz: %s", page)
	}
}
