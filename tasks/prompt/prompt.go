// Package prompt makes what codex gets of a message: the text and the pictures of its parts,
// and the names of its files.
package prompt

import (
	"strings"
	"unicode/utf8"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// A Prompt is what codex gets of a message. The zero value is made by compose.
type Prompt struct {
	Input   []agent.Input
	Text    string            // of the text parts
	Data    any               // of the first data part
	brought map[string]string // digests of the pictures that the message has brought, by their paths
	shown   gallery           // the pictures that are shown to the model
	Listed  bool              // files are named in its text
}

// Compose makes a turn's input of a message.
func (p *Prompt) Compose(m *a2a.Message, from origin.Sender, files attach.Files) error {
	if err := p.gather(m, files); err != nil {
		return err
	}
	if err := p.measure(); err != nil { // before more is made of it
		return err
	}
	var texts []string
	for _, part := range m.Parts {
		texts = append(texts, part.Text())
	}
	p.Text = strings.Join(texts, "")
	p.frame(from)
	return p.measure()
}

// gather makes input of the parts of a message, in their order, and a list of its files.
func (p *Prompt) gather(m *a2a.Message, files attach.Files) error {
	var list []string
	said := false
	for _, part := range m.Parts {
		if p.Data == nil {
			p.Data = part.Data()
		}
		if files != nil && attach.IsFile(part) {
			list = append(list, p.attach(files, part))
			continue
		}
		if input, ok := p.inputOf(part); ok && (input.Type != "text" || input.Text != "") { // codex refuses a turn with an empty text
			p.Input = append(p.Input, input)
			said = said || input.Type != "text" || strings.TrimSpace(input.Text) != ""
		}
	}
	p.list(list)
	if !said && len(list) == 0 {
		return ErrEmpty
	}
	return nil
}

// attach gives a picture to the model, and returns the line that names the file.
func (p *Prompt) attach(files attach.Files, part *a2a.Part) string {
	line := func(rest string) string { return "- " + label(part, -1) + " " + rest }
	uri, ok := part.Content.(a2a.URL)
	if !ok {
		return line("could not be stored")
	}
	path, err := files.Path(string(uri))
	if err != nil {
		return line("is not available to you; it was sent as " + oneLine(string(uri)))
	}
	if !attach.Pictured(part, path) {
		return line("at " + path)
	}
	if why := p.shown.show(files, path); why != nil {
		return line("at " + path + unshown(why))
	}
	if digest, ok := part.Metadata[attach.MetaBrought].(string); ok {
		if p.brought == nil {
			p.brought = map[string]string{}
		}
		p.brought[path] = digest
	}
	p.Input = append(p.Input, agent.Input{Type: localImage, Path: path})
	return line("at " + path)
}

// list appends the names of the files to the text of the message. Without a text they
// are the text.
func (p *Prompt) list(lines []string) {
	if len(lines) == 0 {
		return
	}
	p.Listed = true
	manifest := "Attached files:\n" + strings.Join(lines, "\n")
	for i := len(p.Input) - 1; i >= 0; i-- {
		if p.Input[i].Type != "text" {
			continue
		}
		if strings.TrimSpace(p.Input[i].Text) != "" {
			manifest = p.Input[i].Text + "\n\n" + manifest
		}
		p.Input[i].Text = manifest
		return
	}
	p.Input = append(p.Input, agent.Text(manifest))
}

// frame has codex see whose words the input is. File names are the agent's words, too.
func (p *Prompt) frame(from origin.Sender) {
	if !from.IsPeer() {
		return
	}
	var texts []string
	framed := make([]agent.Input, 1, len(p.Input)+1)
	for _, input := range p.Input {
		if input.Type == "text" {
			texts = append(texts, input.Text)
		} else {
			framed = append(framed, input)
		}
	}
	framed[0] = agent.Text(peerwords.Message(from.ID, strings.Join(texts, "\n\n")))
	p.Input = framed
}

// longestText is how many characters codex takes as the input of a turn (seen
// on 0.169.0). More is refused here, before it is kept.
const longestText = 1 << 20

// ErrEmpty refuses a message with nothing in it.
var ErrEmpty = refusal.New(a2a.ErrInvalidParams, "the message is empty; send text or a file with instructions")

// measure refuses what codex would.
func (p *Prompt) measure() error {
	size := 0
	for _, input := range p.Input {
		size += utf8.RuneCountInString(input.Text)
	}
	if size > longestText {
		return refusal.New(a2a.ErrInvalidParams, "the message has %d characters, and codex takes at most %d; "+
			"put the text in a file where codex works, and name the file", size, longestText)
	}
	return nil
}

// inputOf is [inputOf] for what the message has in itself.
func (p *Prompt) inputOf(part *a2a.Part) (agent.Input, bool) {
	input, ok := inputOf(part)
	if !ok || input.Type != inlineImage {
		return input, ok
	}
	if why := p.shown.add(int64(len(part.Raw()))); why != nil {
		return notShown(part, why), true
	}
	return input, true
}
