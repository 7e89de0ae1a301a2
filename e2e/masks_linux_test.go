package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestMasksThatGo: in its sandbox codex hides folders that are not there by empty ones, which
// it makes and removes by their paths, outside of it. With a link in the place of a turn's
// folder it removes that of the working directory's .codex, and with it what hid that from
// other commands: they write no settings there all the same.
func TestMasksThatGo(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t, "CODEX_APPROVAL_POLICY=never")
	outside := filepath.Join(codextest.Dir(t, "outside"), "server")
	p.send("m1", "c1", "run mkdir sub; echo made")
	below := p.task(p.call("SendMessage", object{
		"message": func() object {
			m := message("m2", "c2", "run until [ -e "+p.Work+"/go ]; do sleep 0.05; done; echo went")
			m["metadata"] = object{"cwd": "sub"}
			return m
		}(), "configuration": object{"returnImmediately": true},
	}))
	progtest.WaitFor(t, "the command in the folder", func() bool { return progtest.Find(p.Child(), "sleep 0.05") != 0 })
	beside := p.begin("m3", "c3", "run mv sub sub2 && ln -s . sub; touch go; n=0; while [ $n -lt 20 ]; do [ -e ended ] && n=$((n+1)); sleep 0.05; "+
		"mkdir .codex && printf '[mcp_servers.x]\\ncommand = \"touch\"\\nargs = [\""+outside+"\"]\\n' >.codex/config.toml && break; done; echo looked")
	ends := func(task object) {
		progtest.WaitFor(t, "a task to end", func() bool { return strings.HasPrefix(state(p.get(task["id"])), "TASK_STATE_COMPLETED") })
	}
	ends(below)
	writeFile(t, filepath.Join(p.Work, "ended"), "")
	ends(beside)
	p.send("m4", "c4", "say hello")
	if _, err := os.Lstat(outside); err == nil {
		t.Error("codex has started the server that a command has named")
	}
	if _, err := os.Lstat(filepath.Join(p.Work, ".codex", "config.toml")); err == nil {
		t.Error("a command in the sandbox has written the folder's settings")
	}
}
