package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestActions has every action of the workflows be one commit, which no tag can be moved
// from, and every job that may write run nothing of this repository. One that may write issues
// and nothing else runs the script that does.
func TestActions(t *testing.T) {
	pinned := regexp.MustCompile(`uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for name, text := range workflows(t) {
		for line := range strings.Lines(text) {
			if strings.Contains(line, "uses:") && !pinned.MatchString(strings.TrimRight(line, "\n")) {
				t.Errorf("%s: no commit with its version: %s", name, line)
			}
		}
		for _, job := range regexp.MustCompile(`(?m)^  [\w-]+:`).Split(text, -1) {
			if strings.Count(job, ": write") == strings.Count(job, "issues: write") {
				job = strings.NewReplacer("scripts/report.sh", "", "actions/checkout@", "").Replace(job)
			}
			for _, ours := range []string{"make ", ".ci/", "scripts/", "actions/checkout@", "container:", "--privileged"} {
				if strings.Contains(job, ": write") && strings.Contains(job, ours) {
					t.Errorf("%s: a job that may write has %q in it", name, ours)
				}
			}
		}
	}
}

// TestBases has every base of the image take a digest, and the file of digests hold them and
// no other; and the workflows run in the Go that the image is built with.
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
	row := regexp.MustCompile(`^(\w+) (\S+) (sha256:[0-9a-f]{64})$`)
	for line := range strings.Lines(string(lock)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := row.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil || takes[m[1]] == "" || !strings.HasPrefix(m[2], takes[m[1]]) {
			t.Errorf("image/bases.lock: %s", line)
			continue
		}
		delete(takes, m[1])
		if m[1] == "GO_DIGEST" {
			runIn(t, m[2]+"@"+m[3])
		}
	}
	for argument := range takes {
		t.Errorf("image/bases.lock has no %s: make bases writes it", argument)
	}
}

// runIn fails the test if a workflow runs in another image.
func runIn(t *testing.T, image string) {
	t.Helper()
	for name, text := range workflows(t) {
		for _, m := range regexp.MustCompile(`(?m)^ *image: *(.*)$`).FindAllStringSubmatch(text, -1) {
			if m[1] != image {
				t.Errorf("%s runs in %s, and not in %s: make bases writes it", name, m[1], image)
			}
		}
	}
}

// workflows returns the texts of the workflows by their names.
func workflows(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(codextest.Root(t), ".github/workflows/*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the workflows: %q, %v", files, err)
	}
	texts := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(file)] = string(text)
	}
	return texts
}
