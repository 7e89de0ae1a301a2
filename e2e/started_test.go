package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A newcomer has a clone with a built program that serves on the built-in model, and the
// documents.
type newcomer struct {
	*progtest.Program
	t     *testing.T
	clone string
}

func newNewcomer(t *testing.T) *newcomer {
	t.Helper()
	clone := t.TempDir()
	if err := os.Mkdir(filepath.Join(clone, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binary, filepath.Join(clone, "bin", "runtime")); err != nil {
		t.Fatal(err)
	}
	return &newcomer{Program: progtest.Start(t, binary, "RUNTIME_MODEL=scripted"), t: t, clone: clone}
}

// does has the newcomer do what a page says under a mark.
func (n *newcomer) does(page, mark string) *exec.Cmd {
	return n.inClone(fromPageOf(n.t, page, mark, "http://127.0.0.1:8000", n.URL))
}

func (n *newcomer) inClone(cmd *exec.Cmd) *exec.Cmd {
	cmd.Dir = n.clone
	cmd.Env = append(os.Environ(), "RUNTIME_URL="+n.URL)
	return cmd
}

// sees runs a command whose output has to have these words in it, and returns that.
func (n *newcomer) sees(cmd *exec.Cmd, want ...string) string {
	n.t.Helper()
	out, err := cmd.CombinedOutput()
	for _, words := range want {
		if err != nil || !strings.Contains(string(out), words) {
			n.t.Fatalf("%v: want %s in what it says: %s\n%s", err, words, cmd.Args[2], out)
		}
	}
	return string(out)
}

// TestReadme does what README.md says, and the calls of docs/getting-started.md.
func TestReadme(t *testing.T) {
	n := newNewcomer(t)
	n.sees(n.does("README.md", "talk"), "hello\ncodex-", "completed", "TASK_STATE_COMPLETED")
	const page = "docs/getting-started.md"
	n.sees(n.does(page, "answer"), "hello", "TASK_STATE_COMPLETED")
	events := n.sees(n.does(page, "stream"), "id: 1.0\n", "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", `"append":true`, `9 "}]`, `"lastChunk":true`, "TASK_STATE_COMPLETED")
	if first := regexp.MustCompile(`(?m)^data: .*"artifactUpdate".*$`).FindString(events); first == "" || strings.Contains(first, `"append"`) {
		t.Errorf("the first piece of the text is %q, want one that is appended to nothing", first)
	}
	n.sees(n.does(page, "cancel"), "TASK_STATE_CANCELED")
}

// A screen is what a terminal shows.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestFiveMinutes watches, steers and approves a turn in terminals, as
// docs/getting-started.md says, and goes by what they show.
func TestFiveMinutes(t *testing.T) {
	n := newNewcomer(t)
	const page = "docs/getting-started.md"
	var shown screen
	watch := n.does(page, "watch")
	watch.Stdout, watch.Stderr = &shown, &shown
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	progtest.WaitFor(t, "words", func() bool { return strings.Contains(shown.String(), "0000000000000000005") })
	n.sees(n.does(page, "steer"), "steered")
	answer := regexp.MustCompile(`runtime task respond codex-\S+ \S+ --decision 'accept`)
	progtest.WaitFor(t, "the question", func() bool { return answer.MatchString(shown.String()) })
	n.sees(n.inClone(exec.CommandContext(t.Context(), "sh", "-euc", "bin/"+strings.Replace(answer.FindString(shown.String()), "'", "", 1))), "codex-")
	if err := watch.Wait(); err != nil || !strings.Contains(shown.String(), "completed") {
		t.Errorf("%v: %s", err, &shown)
	}
	if _, err := os.Stat(filepath.Join(n.Work, "when.txt")); err != nil {
		t.Error(err)
	}
}
