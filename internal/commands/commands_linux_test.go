package commands

import (
	"strings"
	"testing"
)

// endless is the environment of a process that has made it so.
type endless struct {
	text string
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text)
	e.text = e.text[n:]
	clear(p[n:])
	e.read += len(p)
	return len(p), nil
}

func TestCommandOfAnEnvironment(t *testing.T) {
	const ids = "CODEX_THREAD_ID=t\x00CODEX_SESSION_ID=s\x00CODEX_TOOL_CALL_ID=c\x00"
	whole := Command{ThreadID: "t", SessionID: "s", CallID: "c"}
	marked := Command{ThreadID: "t", SessionID: "s", CallID: "c", Mark: "m/r"}
	for name, c := range map[string]struct {
		text string
		want Command
	}{
		"others":       {"A=1\x00=\x00\x00CODEX_THREAD_IDS=x\x00B", Command{}},
		"first":        {ids, whole},
		"between":      {"A=1\x00" + ids + "B=2", whole},
		"unended":      {"CODEX_THREAD_ID=t", Command{ThreadID: "t"}},
		"behind-long":  {"A=" + strings.Repeat("CODEX_THREAD_ID=x", 20_000) + "\x00" + ids, whole},
		"marked":       {"MOLECULE_MACHINE_RUNTIME=m/r\x00" + ids, marked},
		"marked-last":  {ids + "MOLECULE_MACHINE_RUNTIMES=x\x00MOLECULE_MACHINE_RUNTIME=m/r", marked},
		"mark-alone":   {"MOLECULE_MACHINE_RUNTIME=m/r", Command{Mark: "m/r"}},
		"empty":        {"", Command{}},
		"none-of-them": {strings.Repeat("A=1\x00", 1000), Command{}},
	} {
		t.Run(name, func(t *testing.T) {
			var got Command
			got.read(strings.NewReader(c.text))
			if got != c.want {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestCommandOfAnEndlessEnvironment: a process chooses itself what its environment is
// (prctl, PR_SET_MM_MAP), gigabytes too.
func TestCommandOfAnEndlessEnvironment(t *testing.T) {
	var got Command
	e := &endless{text: "CODEX_THREAD_ID=t\x00CODEX_TOOL_CALL_ID=c\x00"}
	got.read(e)
	if want := (Command{ThreadID: "t", CallID: "c"}); got != want || e.read > mostEnviron {
		t.Errorf("%+v, after %d bytes", got, e.read)
	}
}
