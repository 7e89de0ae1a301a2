package tasks_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

func raw(name, media, content string) *a2a.Part {
	p := a2a.NewRawPart([]byte(content))
	p.Filename, p.MediaType = name, media
	return p
}

func TestPartsBecomeInput(t *testing.T) {
	url := a2a.NewFileURLPart("https://example.com/a b\nc", "image/png")
	url.Filename = "shot.png"
	dot := pixelHeader(1, 1)
	cases := map[string]struct {
		part *a2a.Part
		want agent.Input
	}{
		"text":        {a2a.NewTextPart("hi\n"), agent.Text("hi\n")},
		"data":        {a2a.NewDataPart(map[string]any{"b": 1, "a": "<"}), agent.Text("```json\n{\"a\":\"<\",\"b\":1}\n```")},
		"data-null":   {a2a.NewDataPart([]any{nil}), agent.Text("```json\n[null]\n```")},
		"text-file":   {raw("n.txt", "text/plain; charset=utf-8", "one\n```\ntwo\n"), agent.Text("Attached file: n.txt (text/plain, 12 bytes)\n````\none\n```\ntwo\n````")},
		"not-utf8":    {raw("n.txt", "text/plain", "\xff\xfe"), agent.Text("Attached file: n.txt (text/plain, 2 bytes). Its content is not available to you.")},
		"picture":     {raw("p.png", "image/png", dot), agent.Input{Type: "image", URL: "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(dot))}},
		"no-picture":  {raw("p.png", "image/png", "png"), agent.Text("Attached file: p.png (image/png, 3 bytes); not shown to you as a picture: it cannot be read as PNG, JPEG, GIF or WebP")},
		"odd-picture": {raw("p.tiff", "image/tiff", "tiff"), agent.Text("Attached file: p.tiff (image/tiff, 4 bytes). Its content is not available to you.")},
		"unknown":     {raw("", "", "x"), agent.Text("Attached file: (no name) (unknown type, 1 bytes). Its content is not available to you.")},
		"bad-type":    {raw("a\nb", "image/png\n; evil", "x"), agent.Text("Attached file: a b (unknown type, 1 bytes). Its content is not available to you.")},
		"url":         {url, agent.Text("Attached file: shot.png (image/png) at https://example.com/a b c")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			e := newEngine(t, r)
			req := request("m1", "c", "first")
			req.Message.Parts = append(req.Message.Parts, a2a.NewTextPart(""), c.part)
			begin(t, e, req)
			if diff := cmp.Diff([]agent.Input{agent.Text("first"), c.want}, r.next(t).Input); diff != "" {
				t.Errorf("input (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFences: the fence is longer than each within, and found in one look: one that grew by a backtick at a
// time took hours for a message of these.
func TestFences(t *testing.T) {
	const most = 340_000 // thrice of them is what a message may have
	r := newRunner()
	e := newEngine(t, r)
	for ticks, text := range map[int]string{
		3: "x `a` ``b`` y", 4: "```", 5: "a ```` b ``` c", most + 1: "``" + strings.Repeat("`", most-2) + " ```",
	} {
		req := request(fmt.Sprint("m", ticks), fmt.Sprint("c", ticks), "first")
		req.Message.Parts = append(req.Message.Parts, a2a.NewDataPart(text))
		begin(t, e, req)
		got := r.next(t).Input[1].Text
		fence := strings.Repeat("`", ticks)
		if !strings.HasPrefix(got, fence+"json\n\"") || !strings.HasSuffix(got, "\"\n"+fence) || len(got) != len(text)+2*ticks+len("json\n\"\"\n") {
			t.Errorf("%d: %.50q has %d bytes", ticks, got, len(got))
		}
	}
}

func TestFileAlone(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	req := request("m1", "c", "  ")
	req.Message.Parts = append(req.Message.Parts, raw("x.bin", "application/octet-stream", "x"))
	begin(t, e, req)
	if got := r.next(t).prompt(); !strings.Contains(got, "x.bin") {
		t.Errorf("prompt = %q", got)
	}
}

// FuzzParts sends whatever parts decode. Nothing of it may panic, and the same
// parts must be the same message.
func FuzzParts(f *testing.F) {
	for _, seed := range []string{
		`[{"text":"hi"}]`, `[null]`, `[{"data":{"a":[1,null]}}]`, `[{"raw":"AAEC","mediaType":"text/x","filename":"a"}]`,
		`[{"url":"http://x/","mediaType":";;"}]`, `[{"text":" "},{"data":null}]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var parts, again a2a.ContentParts
		if json.Unmarshal([]byte(body), &parts) != nil || json.Unmarshal([]byte(body), &again) != nil {
			return
		}
		e := newEngine(t, newRunner())
		var ids []string
		for _, p := range []a2a.ContentParts{parts, again} {
			req := request("m1", "c", "")
			req.Message.Parts = p
			req.Config.ReturnImmediately = true
			task, err := e.SendMessage(t.Context(), req)
			if err != nil {
				ids = append(ids, err.Error())
				continue
			}
			ids = append(ids, fmt.Sprint(task.TaskInfo().TaskID))
		}
		if ids[0] != ids[1] {
			t.Errorf("%s became %s and then %s", body, ids[0], ids[1])
		}
	})
}
