package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestManyPicturesOfOneFile: a small message that names one picture very often, also a
// large one of few pixels, has its turn, and codex lives and stays small: the model sees as
// many as are shown, and is told of the others.
func TestManyPicturesOfOneFile(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t)
	p.send("first", "first", "say hello")
	before := p.Codex()
	for name, c := range map[string]struct {
		size  int64 // that zeros behind the picture make
		shown int
		why   string
	}{
		"small.png": {0, 20, "at most 20 pictures of a message are shown"},
		"large.png": {20 << 20, 2, "have at most 40 MiB together"},
	} {
		path := filepath.Join(p.Work, name)
		if err := os.WriteFile(path, greyPNG(t, 8, 8), 0o600); err != nil {
			t.Fatal(err)
		}
		if c.size > 0 {
			if err := os.Truncate(path, c.size); err != nil {
				t.Fatal(err)
			}
		}
		m := message(name, name, "say seen")
		for range 250 {
			m["parts"] = append(m["parts"].([]object), object{"url": "file://" + path, "mediaType": "image/png"})
		}
		if task := p.task(p.call("SendMessage", object{"message": m})); state(task) != "TASK_STATE_COMPLETED" {
			t.Fatalf("%s: %v", name, task["status"])
		}
		requests := p.Model.Requests()
		last := requests[len(requests)-1]
		if shown := bytes.Count(last.Body, []byte(`"image_url":"data:`)); shown != c.shown {
			t.Errorf("%s: %d pictures are shown, want %d", name, shown, c.shown)
		}
		if said := strings.Count(string(last.Body), c.why); said != 250-c.shown {
			t.Errorf("%s: of %d is said why they are not shown", name, said)
		}
	}
	if p.Codex() != before {
		t.Error("codex was restarted")
	}
	peak := progtest.PeakMemory(t, p.Codex()) >> 20
	if t.Logf("codex took %d MiB", peak); peak > 1024 {
		t.Errorf("codex took %d MiB", peak)
	}
	progtest.WaitFor(t, "the copies to be given back", func() bool { return len(lent(p)) == 0 })
}
