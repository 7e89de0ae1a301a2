package fakemodel

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

const (
	runYield    = 30_000 // ms that codex waits for a command before it tells the model that it still runs; its maximum
	detachYield = 250    // its minimum
	pollYield   = 300_000
	shownOutput = 2000 // bytes of a command's output that an answer repeats
)

// toolVerb returns the commands that call tools.
func toolVerb(word string) (verb, bool) {
	switch word {
	case "run": // run COMMAND: answers its output when it has ended
		return verb{takes: something, start: runner(runYield), report: showOutput}, true
	case "escalate": // escalate COMMAND: the same outside the sandbox, for which codex wants leave
		return verb{takes: something, start: escalate, report: showOutput}, true
	case "background": // background COMMAND: the turn ends while it runs
		return verb{takes: something, start: runner(detachYield), report: showSession, detached: true}, true
	case "output": // output BYTES: a command that prints that much on one line
		return verb{takes: isNumber, start: printBytes, report: countOutput}, true
	case "patch": // patch FILE: creates a file
		return verb{takes: isWord, start: patchFile, report: patched}, true
	case "plan":
		return verb{takes: nothing, start: showPlan, report: func(_ string, out execOutput) string { return "plan: " + out.text }}, true
	case "call": // call TOOL JSON, call NAMESPACE::TOOL JSON
		return verb{takes: isCall, start: callTool, report: func(_ string, out execOutput) string { return out.text }}, true
	}
	return verb{}, false
}

func isWord(args string) bool { return args != "" && !strings.ContainsAny(args, " \t") }

func isCall(args string) bool {
	name, data, _ := strings.Cut(args, " ")
	return name != "" && json.Valid([]byte(data))
}

func runner(yield int) func(*Turn, string) {
	return func(t *Turn, cmd string) {
		t.Call(toolExec, marshal(map[string]any{"cmd": cmd, "yield_time_ms": yield}))
	}
}

// escalate calls a command that the sandbox is not to hold.
func escalate(t *Turn, cmd string) {
	t.Call(toolExec, Escalated(cmd))
}

// Escalated are the arguments of exec_command for a command that wants out of
// the sandbox.
func Escalated(cmd string) string {
	return marshal(map[string]any{
		"cmd": cmd, "yield_time_ms": runYield, "sandbox_permissions": "require_escalated", "justification": "may I?",
	})
}

func pollSession(t *Turn, session int) {
	t.Call(toolStdin, marshal(map[string]any{"session_id": session, "chars": "", "yield_time_ms": pollYield}))
}

func printBytes(t *Turn, args string) {
	runner(runYield)(t, "head -c "+args+" /dev/zero | tr '\\0' x")
}

func patchFile(t *Turn, path string) {
	t.ApplyPatch(AddFile(path, "one\ntwo\nthree\n"))
}

func showPlan(t *Turn, _ string) {
	t.Plan([]Step{
		{"read the message", "completed"},
		{"make a plan", "in_progress"},
		{"answer", "pending"},
	})
}

func callTool(t *Turn, args string) {
	name, data, _ := strings.Cut(args, " ")
	if namespace, tool, ok := strings.Cut(name, "::"); ok {
		t.CallIn(namespace, tool, data)
		return
	}
	t.Call(name, data)
}

// An execOutput is what codex tells the model about a command, taken apart.
type execOutput struct {
	text    string // what it printed, or all of an output of another kind
	exit    string // the exit code; empty if it still runs, or is no command
	session int    // where it goes on running; 0 if it does not
}

var (
	exitLine    = regexp.MustCompile(`(?m)^(?:Process exited with code|Exit code:) (-?\d+)$`)
	sessionLine = regexp.MustCompile(`(?m)^Process running with session ID (\d+)$`)
)

func parseExec(text string) execOutput {
	head, body, found := strings.Cut(text, "Output:\n")
	if !found {
		return execOutput{text: text}
	}
	out := execOutput{text: body}
	if m := exitLine.FindStringSubmatch(head); m != nil {
		out.exit = m[1]
	}
	if m := sessionLine.FindStringSubmatch(head); m != nil {
		out.session, _ = strconv.Atoi(m[1])
	}
	return out
}

func showOutput(_ string, out execOutput) string {
	text := strings.TrimSuffix(out.text, "\n")
	if len(text) > shownOutput {
		text = fmt.Sprintf("%s… (%d bytes in all)", strings.ToValidUTF8(text[:shownOutput], ""), len(text))
	}
	if out.exit == "0" && text != "" || out.exit == "" {
		return text
	}
	return strings.TrimPrefix(text+"\n(exit code "+out.exit+")", "\n")
}

func showSession(args string, out execOutput) string {
	if out.session == 0 {
		return showOutput(args, out)
	}
	return "goes on in session " + strconv.Itoa(out.session)
}

func countOutput(args string, out execOutput) string {
	return fmt.Sprintf("%s bytes printed, %d of them shown to the model", args, strings.Count(out.text, "x"))
}

func patched(path string, out execOutput) string {
	if strings.Contains(out.text, "Success") {
		return "created " + path
	}
	return "could not create " + path + ": " + out.text
}
