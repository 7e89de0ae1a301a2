package image

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestStartShowsTheAgentNothing runs start.sh without a container, on programs that stand in for
// those of root: what it starts as the agent, beside whose commands it may run (docker exec),
// has nothing of its environment but PATH.
func TestStartShowsTheAgentNothing(t *testing.T) {
	dir := codextest.Dir(t, "start")
	bin, told, work := filepath.Join(dir, "bin"), filepath.Join(dir, "told"), filepath.Join(dir, "work")
	for _, folder := range []string{bin, work} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	standIns(t, bin, told)
	start := filepath.Join(dir, "start.sh")
	script, err := os.ReadFile(filepath.Join(codextest.Root(t), "start.sh"))
	if err != nil || os.WriteFile(start, lookedForIn(bin, script), 0o700) != nil {
		t.Fatal(err)
	}
	for _, with := range []string{"sudo", "two users"} {
		if with == "two users" && os.Remove(filepath.Join(bin, "sudo")) != nil {
			t.Fatal("sudo stays")
		}
		for _, command := range []string{"serve", "doctor"} {
			cmd := exec.CommandContext(t.Context(), "/bin/sh", start, command)
			cmd.Env = []string{
				"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + work, "TMPDIR=" + work, "RUNTIME_WORKDIR=" + work, "CONFIGS_DIR=" + filepath.Join(dir, "configs"),
				"WORKSPACE_GIVE=nothing", "WORKSPACE_ID=planted", "RUNTIME_TOKEN=planted", "MOLECULE_WORKSPACE_TOKEN=planted", "OPENAI_API_KEY=planted",
			}
			cmd.Stdin = strings.NewReader("") // by a pipe
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", command, err, out)
			}
		}
	}
	text := shown(t, told)
	if strings.Contains(text, "pipe:") {
		t.Errorf("the agent is lent a pipe of root's:\n%s", text)
	}
	for _, command := range []string{"true", "test -w " + work, "mkdir -p " + work} {
		if !strings.Contains(text, "started "+command) {
			t.Errorf("%s was not started as the agent:\n%s", command, text)
		}
	}
}

// TestCodexShowsTheAgentNothing has root call codex: it is the agent's, which has as little of root's,
// and what it says leaves root's terminal as it is.
func TestCodexShowsTheAgentNothing(t *testing.T) {
	dir := codextest.Dir(t, "codex")
	told, codex := filepath.Join(dir, "told"), filepath.Join(dir, "codex")
	standIns(t, dir, told)
	script, err := os.ReadFile(filepath.Join(codextest.Root(t), "image", "bin", "codex"))
	if err != nil {
		t.Fatal(err)
	}
	writeScript(t, codex, `printf '\033[31mred \302\233 \302\001\2336n \302\302\205\233 \235 ä\n'; echo "$HOME $CODEX_HOME $(pwd) $*"; exit 7`)
	writeScript(t, filepath.Join(dir, "call"), strings.Replace(string(lookedForIn(dir, script)), "/opt/codex/bin/codex", codex, 1))
	cmd := exec.CommandContext(t.Context(), "/bin/sh", filepath.Join(dir, "call"), "login", "a b")
	cmd.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "HOME=/root", "CODEX_HOME=/configs/.codex", "RUNTIME_TOKEN=planted"}
	cmd.Stdin = strings.NewReader("") // by a pipe, as a key comes
	out, err := cmd.CombinedOutput()
	if want := "[31mred  6n   \n/home/agent /configs/.codex / login a b\n"; string(out) != want || cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("%v: %q, want %q and exit code 7", err, out, want)
	}
	if text := shown(t, told); !strings.Contains(text, "started "+codex+" login a b") {
		t.Errorf("codex was not started as the agent:\n%s", text)
	}
}

// lookedForIn is a script that looks for programs in bin first.
func lookedForIn(bin string, script []byte) []byte {
	return bytes.Replace(script, []byte("PATH=/usr/local/sbin"), []byte("PATH="+bin+":/usr/local/sbin"), 1)
}

// standIns are programs in the place of those of root; in told they tell what the agent is shown.
func standIns(t *testing.T, bin, told string) {
	t.Helper()
	for name, script := range map[string]string{
		"chown": `exit 0`,
		"id":    `case $1 in -u) echo 0 ;; -G) echo 1000 ;; *) echo root ;; esac`,
		"sudo":  `exit 1`, // with it all is the agent's
		// It stays who it is. The start ends where start.sh or the program would be it.
		"setpriv": fmt.Sprintf(`who=$1; while case $1 in --*) ;; *) false ;; esac; do shift; done
case $1 in */start.sh) exit 0 ;; esac
lent=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2)
[ "$who" != --reuid=agent ] || [ "$1" != env ] || shift 2
[ "$who" != --reuid=agent ] || { echo "started $*"; env; echo "$lent"; echo session "$(cut -d' ' -f6 /proc/$$/stat)" of $$; } >>%s
exec "$@"`, told),
	} {
		writeScript(t, filepath.Join(bin, name), script)
	}
}

func writeScript(t *testing.T, path, script string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// shown is what was told, which has nothing of root's.
func shown(t *testing.T, told string) string {
	t.Helper()
	text, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	started := ""
	for line := range strings.Lines(string(text)) {
		if after, ok := strings.CutPrefix(line, "started "); ok {
			started = after
		}
		if strings.Contains(line, "planted") {
			t.Errorf("the agent's %q has %s", started, line)
		}
		if strings.HasPrefix(line, "/dev/") && line != "/dev/null\n" {
			t.Errorf("the agent's %q is lent %s", started, line)
		}
		if session, of, found := strings.Cut(strings.TrimSpace(line), " of "); found && session != "session "+of {
			t.Errorf("the agent's %q is in another's %s", started, line)
		}
	}
	return string(text)
}
