package bench

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// BenchmarkExecResume is what a turn costs a program that runs codex exec resume
// for each, with the same overrides, environment and model, against a turn of
// the bare app-server and one of ours.
func BenchmarkExecResume(b *testing.B) {
	const turns = 30
	p := sides(b)
	ours, direct, launch := p.ours, p.direct, p.launch
	thread := codexExec(b, launch)
	took := series{}
	for n := range turns + 2 {
		began := time.Now()
		codexExec(b, launch, "resume", thread)
		resumed := time.Since(began)
		_, whole := direct.turn("say hello", "hello")
		sent := ours.send("say hello", "hello")
		if n < 2 { // warm
			continue
		}
		took.add("exec-resume", resumed)
		took.add("bare", whole)
		took.add("send", sent)
	}
	took.spread(b, "exec-resume", "bare", "send")
	row(b, "added-exec-resume", "paired-ms", ms(took.paired("exec-resume", "bare")))
	row(b, "added-send", "paired-ms", ms(took.paired("send", "bare")))
}

// codexExec runs a turn by codex exec and returns the id of its thread.
func codexExec(b *testing.B, launch adapter.Launch, resume ...string) string {
	b.Helper()
	args := slices.Concat([]string{"exec"}, launch.Args(), []string{
		"-c", `approval_policy="on-request"`, "-c", `sandbox_mode="workspace-write"`,
		"--skip-git-repo-check", "--json",
	}, resume, []string{"say hello"})
	cmd := exec.Command(codextest.Bin(b), args...)
	cmd.Dir, cmd.Env = launch.WorkDir, launch.Env()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `"text":"hello"`) || !strings.Contains(string(out), "turn.completed") {
		b.Fatalf("codex exec: %v\n%s%s", err, out, &stderr)
	}
	var started struct {
		ThreadID string `json:"thread_id"`
	}
	first, _, _ := strings.Cut(string(out), "\n")
	if err := json.Unmarshal([]byte(first), &started); err != nil || started.ThreadID == "" {
		b.Fatalf("codex exec began with %s", first)
	}
	return started.ThreadID
}
