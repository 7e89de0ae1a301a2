package fakemodel_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/progtest"
)

func noise(w, h int) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	rand.Read(m.Pix)
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 255
	}
	return m
}

func TestZZ(t *testing.T) {
	enc := func(f func(*bytes.Buffer)) []byte { var b bytes.Buffer; f(&b); return b.Bytes() }
	pics := map[string][]byte{
		"small.png": enc(func(b *bytes.Buffer) { png.Encode(b, noise(100, 100)) }),
		"mid.png":   enc(func(b *bytes.Buffer) { png.Encode(b, noise(2500, 1000)) }),
		"big.jpg":   enc(func(b *bytes.Buffer) { jpeg.Encode(b, noise(3600, 2700), &jpeg.Options{Quality: 88}) }),
		"bad.png":   []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00garbage"),
	}
	dir := t.TempDir()
	for name, b := range pics {
		for _, mode := range []string{"localImage", "image", "imageNoType"} {
			c := start(t, fakemodel.Script(func(tn *fakemodel.Turn) { tn.Say("ok") }))
			path := filepath.Join(dir, name)
			os.WriteFile(path, b, 0o600)
			th := c.thread()
			c.run(th, "hi")
			before := progtest.PeakMemory(t, c.pid)
			in := map[string]any{"type": "localImage", "path": path}
			media := map[bool]string{true: "image/png", false: "image/jpeg"}[strings.HasSuffix(name, "png")]
			if mode == "image" {
				in = map[string]any{"type": "image", "url": "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(b)}
			} else if mode == "imageNoType" {
				in = map[string]any{"type": "image", "url": "data:application/octet-stream;base64," + base64.StdEncoding.EncodeToString(b)}
			}
			began := time.Now()
			c.post("turn/start", map[string]any{"threadId": th, "input": []any{map[string]any{"type": "text", "text": "look"}, in}})
			tn := c.finish()
			took := time.Since(began)
			after := progtest.PeakMemory(t, c.pid)
			rs := c.model.Requests()
			body := rs[len(rs)-1].Body
			var wire struct{ Input []json.RawMessage }
			json.Unmarshal(body, &wire)
			last := wire.Input[len(wire.Input)-1]
			short := regexp.MustCompile(`base64,[A-Za-z0-9+/=]{60,}`).ReplaceAllStringFunc(string(last), func(s string) string { return s[:40] + fmt.Sprintf("…%d", len(s)) })
			notes := 0
			var kinds []string
			for _, l := range tn.notes {
				if len(l.Params) > 20000 {
					kinds = append(kinds, fmt.Sprintf("%s %d", l.Method, len(l.Params)))
				}
				notes += len(l.Params)
			}
			home, _ := exec.Command("sh", "-c", fmt.Sprintf("tr '\\0' '\\n' </proc/%d/environ | sed -n 's/^CODEX_HOME=//p'", c.pid)).Output()
			sz, _ := exec.Command("sh", "-c", "find "+strings.TrimSpace(string(home))+" -name '*.jsonl' -printf '%s %f\n'; find "+strings.TrimSpace(string(home))+" -name '*.sqlite*' -printf '%s %f\n'").Output()
			res := c.call("thread/turns/list", map[string]any{"threadId": th})
			t.Logf("%s %s (%d bytes): %v, peak %d→%d MiB, request %d, notes %d %v, history %d\n%s\n%s", name, mode, len(b), took, before>>20, after>>20, len(body), notes, kinds, len(res), short, sz)
			for _, l := range tn.notes {
				if strings.Contains(string(l.Method), "warn") || strings.Contains(l.Method, "error") {
					t.Logf("  %s %s", l.Method, l.Params)
				}
			}
		}
	}
}
