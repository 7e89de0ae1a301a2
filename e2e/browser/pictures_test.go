package browser

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
)

const most = 150_000 // bytes of a picture

// TestPictures makes the pictures of the README, for which make screenshots keeps them.
func TestPictures(t *testing.T) {
	t.Parallel()
	work, err := os.MkdirTemp("", "uploader-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(work) })
	if out, err := exec.Command("git", "init", "-q", work).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v, %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(work, "upload.go"), []byte(uploader), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, "RUNTIME_WORKDIR="+work)
	r.Model.SetScript(story)
	p := r.console(t)
	p.resize(1360, 850)
	p.scheme("light")

	r.post("p1", "ci", "Why is TestUpload flaky on arm64?")
	p.sees("#task-list", "Done")
	p.begin("uploads", ask)
	p.sees(".question.open", "git push")
	r.post("p2", "notes", "Draft the release notes for 2.4")
	r.post("p3", "notes", "Then write the entry for the changelog")
	p.sees("#task-list", "entry for the changelog")
	p.sees("#card-queue", "1 waiting")
	p.until("nothing to be announced", "!document.querySelector('#said').classList.contains('shown')")
	p.keep("console-light")

	p.press(".question.open", "Accept")
	p.sees("#task-state", "Done")
	p.scheme("dark")
	p.until("nothing to be announced", "!document.querySelector('#said').classList.contains('shown')")
	p.keep("console-dark")
}

// keep is picture, in as few bytes as that takes.
func (p *page) keep(name string) {
	p.t.Helper()
	path, taken := p.picture(name)
	picture, err := png.Decode(bytes.NewReader(taken))
	if err != nil {
		p.t.Fatal(err)
	}
	var small bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&small, fewer(picture)); err != nil {
		p.t.Fatal(err)
	}
	if small.Len() > most {
		p.t.Errorf("%s has %d bytes, more than %d", name, small.Len(), most)
	}
	if err := os.WriteFile(path, small.Bytes(), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// fewer is a picture with the 256 colours that are most of it.
func fewer(picture image.Image) image.Image {
	area, counts := picture.Bounds(), map[color.Color]int{}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			counts[picture.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(counts), func(a, b color.Color) int { return counts[b] - counts[a] })
	palette := color.Palette(colours[:min(256, len(colours))])
	index := map[color.Color]uint8{}
	for c := range counts {
		index[c] = uint8(palette.Index(c))
	}
	small := image.NewPaletted(area, palette)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			small.SetColorIndex(x, y, index[picture.At(x, y)])
		}
	}
	return small
}

const ask = "Retry uploads that fail with a 5xx, with backoff, and push the branch"

const uploader = `package upload

// Put sends the body once.
func (c *Client) Put(ctx context.Context, name string, body []byte) error {
	return c.put(ctx, name, body)
}
`

const change = `*** Begin Patch
*** Update File: upload.go
@@
-// Put sends the body once.
+// Put sends the body, and once more after each 5xx, until ctx ends.
 func (c *Client) Put(ctx context.Context, name string, body []byte) error {
-	return c.put(ctx, name, body)
+	return retry(ctx, c.backoff, func() error {
+		return c.put(ctx, name, body)
+	})
 }
*** End Patch
`

// story is a turn as a model takes it: each request is the step behind the last.
func story(t *fakemodel.Turn) {
	text := t.LastUserText()
	switch {
	case strings.HasPrefix(text, ask):
		steps(t)
	case strings.Contains(text, "release notes"):
		t.OpenMessage("final_answer")
		for word := range strings.FieldsSeq(strings.Repeat("Uploads that meet a server error are sent again. ", 40)) {
			t.Delta(word + " ")
			select {
			case <-t.Context().Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
		t.EndMessage("")
	default:
		t.Say("The clock of the test server is read twice; on arm64 the second read can be the earlier one.")
	}
}

func steps(t *fakemodel.Turn) {
	plan := func(done int) {
		list := []fakemodel.Step{{Step: "Read how uploads fail today"}, {Step: "Retry with backoff"}, {Step: "Push the branch"}}
		for i := range list {
			list[i].Status = map[bool]string{true: "completed", false: "pending"}[i < done]
			if i == done {
				list[i].Status = "in_progress"
			}
		}
		t.Plan(list)
	}
	run := func(more map[string]any) {
		args, _ := json.Marshal(more)
		t.Call("exec_command", string(args))
	}
	t.Usage(4210, 380)
	switch len(t.NewToolOutputs()) {
	case 0:
		t.Reason("**Looking for the place where an upload gives up**")
		t.OpenMessage("commentary")
		t.Delta("I read how uploads fail today, then add the retry where they all pass.")
		t.EndMessage("")
		plan(0)
	case 1:
		run(map[string]any{"cmd": "grep -n 'func' upload.go", "yield_time_ms": 5000})
	case 2:
		plan(1)
	case 3:
		t.ApplyPatch(change)
	case 4:
		plan(2)
	case 5:
		run(map[string]any{"cmd": "git push origin retry-uploads || true", "yield_time_ms": 5000, "sandbox_permissions": "require_escalated", "justification": "The sandbox has no network, and a push needs it."})
	case 6:
		plan(3)
	default:
		t.Say("Uploads are tried again after a 5xx, with **jitter**, until the caller's context ends:\n\n- `Put` goes through `retry`; nothing else had to change\n- a 4xx is still final")
	}
}
