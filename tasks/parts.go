package tasks

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// mostInline is how large a text file may be to be put into the prompt.
const mostInline = 256 << 10

// digestOf digests what the parts say. Metadata and media types are left out:
// callers rewrite them when they send a message again, and another version of
// the protocol loses them.
func digestOf(parts a2a.ContentParts) [32]byte {
	h := sha256.New()
	for _, p := range parts {
		switch c := p.Content.(type) {
		case a2a.Text:
			field(h, "text", []byte(c))
		case a2a.Data:
			field(h, "data", encode(c.Value))
		case a2a.Raw:
			field(h, "raw", c)
			field(h, "name", []byte(p.Filename))
		case a2a.URL:
			field(h, "url", []byte(c))
			field(h, "name", []byte(p.Filename))
		}
	}
	return [32]byte(h.Sum(nil))
}

func field(h hash.Hash, kind string, value []byte) {
	fmt.Fprintf(h, "%s %d ", kind, len(value))
	_, _ = h.Write(value) // a hash never fails
}

// encode renders data as JSON with its keys in order. What came in over the
// wire can always be encoded; anything else is shown as Go prints it.
func encode(value any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return fmt.Appendf(nil, "%v", value)
	}
	return bytes.TrimSpace(b.Bytes())
}

// inputOf makes codex input of a part. Codex takes text and pictures; other
// files are named to it, and those that are text are quoted.
func inputOf(p *a2a.Part) (agent.Input, bool) {
	switch c := p.Content.(type) {
	case a2a.Text:
		return agent.Text(string(c)), true
	case a2a.Data:
		return agent.Text(fenced("json", string(encode(c.Value)))), true
	case a2a.URL:
		return agent.Text(fmt.Sprintf("Attached file: %s at %s", label(p, -1), oneLine(string(c)))), true
	case a2a.Raw:
		return fileInput(p, c), true
	}
	return agent.Input{}, false
}

func fileInput(p *a2a.Part, raw []byte) agent.Input {
	media := mediaOf(p)
	switch {
	case isPicture(media):
		if why := showable(bytes.NewReader(raw)); why != nil {
			return notShown(p, why)
		}
		return agent.Input{Type: inlineImage, URL: "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(raw)}
	case strings.HasPrefix(media, "text/") && utf8.Valid(raw) && len(raw) <= mostInline:
		return agent.Text("Attached file: " + label(p, len(raw)) + "\n" + fenced("", string(raw)))
	}
	return agent.Text("Attached file: " + label(p, len(raw)) + ". Its content is not available to you.")
}

func mediaOf(p *a2a.Part) string {
	media, _, err := mime.ParseMediaType(p.MediaType)
	if err != nil {
		return ""
	}
	return media
}

// label names a file: name, type, and size unless that is negative.
func label(p *a2a.Part, size int) string {
	name, media := oneLine(p.Filename), mediaOf(p)
	if name == "" {
		name = "(no name)"
	}
	if media == "" {
		media = "unknown type"
	}
	if size < 0 {
		return fmt.Sprintf("%s (%s)", name, media)
	}
	return fmt.Sprintf("%s (%s, %d bytes)", name, media, size)
}

func oneLine(s string) string { return clip(strings.Join(strings.Fields(s), " "), 1024) }

// fenced quotes text in a fence that does not occur in it.
func fenced(language, text string) string {
	run, longest := 0, 2
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}
