package browser

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
)

// What a model could say to a page that believes it.
const (
	markup = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script><a href="javascript:window.pwned=1">x</a>`
	turned = "echo \u202egnp.exe\u202c \u2066hidden\u2069" // what is between shows from right to left
)

// hostile shows text as text, wherever it comes from.
func hostile(t *testing.T, r *program) {
	p := r.console(t)
	p.begin(markup, "plan\nthink "+markup+"\nsay **"+markup+"** `"+markup+"` [x](javascript:window.pwned=1)")
	p.sees("#task-state", "Done")
	p.sees(".message", markup)
	p.sees(".reasoning", "<img src=x")
	p.sees("#task-list .title", "<img src=x")
	p.sees(".entry.user", markup)
	p.eval("(document.querySelectorAll('details').forEach((d) => { d.open = true; }), 1)")

	p.begin("hostile", "escalate "+turned)
	p.sees(".question.open pre", "U+202E")
	p.sees(".work", "U+202E")
	p.press(".question.open", "Decline")
	p.sees("#task-state", "Done")

	if pwned := p.eval("String(window.pwned)"); pwned != "undefined" {
		t.Error("what was said has been run")
	}
	if made := p.eval("document.querySelectorAll('#task img, #task script, #task a[href^=javascript], #tasks img').length"); made != "0" {
		t.Errorf("%s elements were made of what was said", made)
	}
}

// TestLongLine takes a megabyte without a space in it, and keeps a window of it in the page.
func TestLongLine(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	r := start(t)
	r.Model.SetScript(func(t *fakemodel.Turn) { t.Say(strings.Repeat("<b>&amp;", size/8)) })
	p := r.console(t)
	p.begin("long", "go")
	p.sees("#task-state", "Done")
	p.sees(".message", "<b>&amp;<b>&amp;")
	if shown := p.eval("document.querySelector('.message .text').textContent.length < 80000"); shown != "true" {
		t.Error("all of it is in the page")
	}
	p.press(".message", "Show earlier text (983 kB)")
	p.until("more of it", "document.querySelector('.message .text').textContent.length > 120000")
	p.noOverflow("a long line")
}

// noOverflow checks that nothing makes the page scroll sideways.
func (p *page) noOverflow(where string) {
	p.t.Helper()
	const wide = `(() => {
		const width = document.documentElement.clientWidth;
		const scrolls = (e) => e && e !== document.body && (/(auto|scroll|hidden|clip)/.test(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
		const found = [...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > width + 1 && !scrolls(e.parentElement));
		const views = [...document.querySelectorAll('#tasks, #scroll, #runtime, #new')].filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1);
		return [...(document.documentElement.scrollWidth > width ? ['the page'] : []), ...found.map((e) => e.outerHTML.slice(0, 120)), ...views.map((e) => '#' + e.id)].join('\n');
	})()`
	if found := p.eval(wide); found != "" {
		p.t.Errorf("%s: too wide:\n%s", where, found)
	}
}
