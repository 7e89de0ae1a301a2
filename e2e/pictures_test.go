package e2e

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	endian "encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// greyPNG is a whole PNG of one grey: a thousandth of its pixels in bytes.
func greyPNG(t *testing.T, width, height uint32) []byte {
	t.Helper()
	var rows bytes.Buffer
	z, err := zlib.NewWriterLevel(&rows, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]byte, width+1)
	for range height {
		if _, err := z.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	head := endian.BigEndian.AppendUint32(endian.BigEndian.AppendUint32(nil, width), height)
	out := []byte("\x89PNG\r\n\x1a\n")
	for _, chunk := range []struct {
		kind string
		body []byte
	}{{"IHDR", append(head, 8, 0, 0, 0, 0)}, {"IDAT", rows.Bytes()}, {"IEND", nil}} {
		out = endian.BigEndian.AppendUint32(out, uint32(len(chunk.body)))
		at := len(out)
		out = append(append(out, chunk.kind...), chunk.body...)
		out = endian.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[at:]))
	}
	return out
}

// screenGIF is a GIF of one pixel on a screen of 12,000×12,000.
const screenGIF = "GIF89a\xe0\x2e\xe0\x2e\x81\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00\x3b"

// TestPicturesAreNotUnfolded: a small file with very many pixels is named to the model and
// not given to codex as a picture, which would take more than a gigabyte for it; another one
// is.
func TestPicturesAreNotUnfolded(t *testing.T) {
	t.Parallel()
	p := start(t)
	bomb := greyPNG(t, 10_000, 10_000)
	if err := os.WriteFile(filepath.Join(p.Work, "here.png"), bomb, 0o600); err != nil {
		t.Fatal(err)
	}
	inline := func(name, media string, content []byte) object {
		return object{"raw": base64.StdEncoding.EncodeToString(content), "filename": name, "mediaType": media}
	}
	cases := map[string]struct {
		part  object
		shown bool
	}{
		"small":  {inline("small.png", "image/png", greyPNG(t, 100, 100)), true},
		"inline": {inline("bomb.png", "image/png", bomb), false},
		"place":  {object{"url": "workspace:" + filepath.Join(p.Work, "here.png"), "filename": "here.png", "mediaType": "image/png"}, false},
		"screen": {inline("bomb.gif", "image/gif", []byte(screenGIF)), false},
		"other":  {inline("other.webp", "image/webp", []byte(screenGIF)), false},
	}
	for name, c := range cases {
		m := message(name, name, "say seen")
		m["parts"] = append([]object{c.part}, m["parts"].([]object)...)
		if task := p.task(p.call("SendMessage", object{"message": m})); state(task) != "TASK_STATE_COMPLETED" {
			t.Errorf("%s: %v", name, task["status"])
		}
		requests := p.Model.Requests()
		last := requests[len(requests)-1]
		if got := bytes.Contains(last.Body, []byte(`"image_url":"data:`)); got != c.shown {
			t.Errorf("%s: shown as a picture: %v", name, got)
		}
		if said := strings.Contains(last.LastUserText(), "not shown to you as a picture: it "); said == c.shown {
			t.Errorf("%s: the model is told %q", name, last.LastUserText())
		}
	}
	if peak := progtest.PeakMemory(t, p.Codex()) >> 20; peak > 300 {
		t.Errorf("codex took %d MiB", peak)
	}
}
