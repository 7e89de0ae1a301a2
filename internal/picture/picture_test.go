package picture_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/picture"
)

// drawn is a picture of a size as an encoder writes it.
func drawn(t *testing.T, width, height int, encode func(io.Writer, image.Image) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black, color.White})); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func asJPEG(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) }
func asGIF(w io.Writer, m image.Image) error  { return gif.Encode(w, m, nil) }

func asDeepPNG(w io.Writer, m image.Image) error {
	return png.Encode(w, image.NewNRGBA64(m.Bounds()))
}

func decoded(t *testing.T, text string) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// chunk is one of a WebP.
func chunk(kind, body string) string {
	return kind + string([]byte{byte(len(body)), byte(len(body) >> 8), 0, 0}) + body + strings.Repeat("\x00", len(body)%2)
}

func riff(chunks ...string) string {
	return "RIFF\x00\x00\x00\x00WEBP" + strings.Join(chunks, "")
}

// TestPixels reads what encoders write, and what was put together to look smaller.
func TestPixels(t *testing.T) {
	lossy := decoded(t, "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	lossless := decoded(t, "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	jpg := drawn(t, 30, 20, asJPEG)
	frame := strings.Index(jpg, "\xff\xc0")
	huge := jpg[:frame] + "\xff\xc2\x00\x0b\x08\xff\xff\xff\xff\x01\x01\x11\x00" + jpg[frame:]
	large := drawn(t, 30, 20, asGIF)
	at := strings.Index(large, "\x2c\x00\x00\x00\x00")
	wide := large[:at+5] + "\xff\xff\xff\xff" + large[at+9:]
	still := chunk("VP8 ", lossy[20:])
	big := chunk("VP8 ", lossy[20:26]+"\xff\x3f\xff\x3f"+lossy[30:])
	one := "\x00\x00\x00\x00\x00\x00" // 1×1
	cases := map[string]struct {
		content string
		want    int64 // 0 is none
	}{
		"png":              {drawn(t, 30, 20, png.Encode), 600},
		"png-16-bit":       {drawn(t, 30, 20, asDeepPNG), 1200},
		"jpeg":             {jpg, 600},
		"jpeg-fill":        {jpg[:frame] + "\xff\xff" + jpg[frame:], 600},
		"jpeg-two-frames":  {huge, 65535 * 65535},
		"jpeg-odd-marker":  {jpg[:2] + "\xff\x01" + jpg[2:], 0},
		"jpeg-no-frame":    {jpg[:2] + jpg[strings.Index(jpg, "\xff\xda"):], 0},
		"jpeg-no-height":   {jpg[:frame+5] + "\x00\x00" + jpg[frame+7:], 0},
		"gif":              {large, 600},
		"gif-larger-frame": {wide, 600 + 65535*65535},
		"gif-with-comment": {large[:at] + "\x21\xfe\x03abc\x02de\x00" + large[at:], 600},
		"gif-long-comment": {large[:at] + "\x21\xfe" + strings.Repeat("\xff"+strings.Repeat("x", 255), 5000) + "\x00" + large[at:], 0},
		"webp-lossy":       {lossy, 1},
		"webp-lossless":    {lossless, 1},
		"webp-canvas":      {riff(chunk("VP8X", "\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff"), still), 1 << 48},
		"webp-stream":      {riff(chunk("VP8X", "\x00\x00\x00\x00"+one), big), 16383 * 16383},
		"webp-second":      {riff(still, big), 16383 * 16383},
		"webp-animated":    {riff(chunk("VP8X", "\x02\x00\x00\x00"+one), chunk("ANMF", one+one+"\x00\x00\x00\x00"+chunk("ALPH", "\x00")+still)), 1},
		"webp-frame":       {riff(chunk("VP8X", "\x02\x00\x00\x00"+one), chunk("ANMF", one+one+"\x00\x00\x00\x00"+big)), 16383 * 16383},
		"webp-odd-frame":   {riff(chunk("ANMF", one+one+"\x00\x00\x00\x00"+chunk("VP8X", one))), 0},
		"webp-tail":        {lossy + "tail", 1},
		"webp-empty":       {riff(chunk("EXIF", "x")), 0},
		"bmp":              {"BM" + strings.Repeat("\x00", 60), 0},
		"nothing":          {"", 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := picture.Pixels(strings.NewReader(c.content))
			if got != c.want || (c.want == 0) != errors.Is(err, picture.ErrUnreadable) {
				t.Errorf("%d, %v; want %d", got, err, c.want)
			}
			for n := range min(len(c.content), 200) { // what is cut off is smaller at most
				if got, err := picture.Pixels(strings.NewReader(c.content[:n])); got > c.want && c.want > 0 || err != nil && !errors.Is(err, picture.ErrUnreadable) {
					t.Fatalf("the first %d bytes: %d, %v", n, got, err)
				}
			}
		})
	}
}

type broken struct{}

func (broken) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }

// TestUnread tells what cannot be read from what is no picture.
func TestUnread(t *testing.T) {
	if _, err := picture.Pixels(broken{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}
