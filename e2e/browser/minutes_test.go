package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestFiveMinutes watches, steers and approves a turn as docs/getting-started.md says,
// with the words and the buttons that it names.
func TestFiveMinutes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(codextest.Root(t), "docs", "getting-started.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := regexp.MustCompile("(?s)Choose \\*(.+?)\\*, write\n\n```\n(.+?)\n```.*the box below says \\*(.+?)\\*\\. Write into it\n\n```\n(.+?)\n```\n\nand press \\*(.+?)\\*.*Press \\*(.+?)\\*: the command runs").FindSubmatch(text)
	if page == nil {
		t.Fatal("docs/getting-started.md says it in other words by now")
	}
	says := func(i int) string { return string(page[i]) }
	r := start(t)
	p := r.console(t)
	p.press("body", says(1))
	p.fill("#new-text", says(2))
	p.press("#new-form", "Send")
	p.sees(".message", "0000000000000000005")
	p.until("the box to steer", "document.querySelector('#task-text').placeholder === "+quote(says(3)))
	p.fill("#task-text", says(4))
	p.press("#task-form", says(5))
	p.sees(".question.open", "date > when.txt && cat when.txt")
	p.press(".question.open", says(6))
	p.sees("#task-state", "Done")
	if _, err := os.Stat(filepath.Join(r.Work, "when.txt")); err != nil {
		t.Error(err)
	}
}

// fill puts a text into a box, as typing does.
func (p *page) fill(selector, text string) {
	p.t.Helper()
	p.until("the box", fmt.Sprintf("document.querySelector(%s)?.checkVisibility()", quote(selector)))
	p.eval(fmt.Sprintf("(() => { const b = document.querySelector(%s); b.focus(); b.value = %s; b.dispatchEvent(new Event('input', {bubbles: true})); return 1 })()", quote(selector), quote(text)))
}
