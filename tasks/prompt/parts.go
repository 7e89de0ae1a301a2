package prompt

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
)

// mostInline is how large a text file may be to be put into the prompt.
const mostInline = 256 << 10

// inputOf makes codex input of a part. Codex takes text and pictures; other
// files are named to it, and those that are text are quoted.
func inputOf(p *a2a.Part) (agent.Input, bool) {
	switch c := p.Content.(type) {
	case a2a.Text:
		return agent.Text(string(c)), true
	case a2a.Data:
		return agent.Text(fenced("json", string(codec.Encode(c.Value)))), true
	case a2a.URL:
		return agent.Text(fmt.Sprintf("Attached file: %s at %s", label(p, -1), oneLine(string(c)))), true
	case a2a.Raw:
		return fileInput(p, c), true
	}
	return agent.Input{}, false
}

func fileInput(p *a2a.Part, raw []byte) agent.Input {
	media := attach.MediaOf(p)
	switch {
	case attach.IsPicture(media):
		if why := showable(bytes.NewReader(raw)); why != nil {
			return notShown(p, why)
		}
		return agent.Input{Type: inlineImage, URL: "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(raw)}
	case strings.HasPrefix(media, "text/") && utf8.Valid(raw) && len(raw) <= mostInline:
		return agent.Text("Attached file: " + label(p, len(raw)) + "\n" + fenced("", string(raw)))
	}
	return agent.Text("Attached file: " + label(p, len(raw)) + ". Its content is not available to you.")
}

// label names a file: name, type, and size unless that is negative.
func label(p *a2a.Part, size int) string {
	name, media := oneLine(p.Filename), attach.MediaOf(p)
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

func oneLine(s string) string { return brief.Clip(strings.Join(strings.Fields(s), " "), 1024) }

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
