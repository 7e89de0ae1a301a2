package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
)

// TestActions has every action of the workflows be one commit, which no tag can be moved
// from, and every job that may write run nothing of this repository.
func TestActions(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(codextest.Root(t), ".github/workflows/*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the workflows: %q, %v", files, err)
	}
	pinned := regexp.MustCompile(`uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "uses:") && !pinned.MatchString(strings.TrimRight(line, "\n")) {
				t.Errorf("%s: no commit with its version: %s", filepath.Base(file), line)
			}
		}
		for _, job := range regexp.MustCompile(`(?m)^  [\w-]+:`).Split(string(text), -1) {
			for _, ours := range []string{"make ", ".ci/", "scripts/", "actions/checkout@", "container:", "--privileged"} {
				if strings.Contains(job, ": write") && strings.Contains(job, ours) {
					t.Errorf("%s: a job that may write has %q in it", filepath.Base(file), ours)
				}
			}
		}
	}
}

// TestBases has every base of the image take a digest, and the file of digests hold no
// other.
func TestBases(t *testing.T) {
	root := codextest.Root(t)
	dockerfile, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	takes := map[string]string{}
	for _, from := range regexp.MustCompile(`(?m)^FROM (?:--platform=\S+ )?(\S+)`).FindAllStringSubmatch(string(dockerfile), -1) {
		if from[1] == "system" {
			continue
		}
		name, digest, ok := strings.Cut(from[1], "${")
		digest = digest[strings.LastIndex(digest, "{")+1:]
		if !ok || !strings.HasSuffix(digest, "_DIGEST}") {
			t.Errorf("FROM %s takes no digest", from[1])
			continue
		}
		takes[strings.TrimSuffix(digest, "}")] = name
	}
	lock, err := os.ReadFile(filepath.Join(root, "image/bases.lock"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`^(\w+) (\S+) sha256:[0-9a-f]{64}$`)
	for line := range strings.Lines(string(lock)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := row.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil || takes[m[1]] == "" || !strings.HasPrefix(m[2], takes[m[1]]) {
			t.Errorf("image/bases.lock: %s", line)
		}
	}
}
