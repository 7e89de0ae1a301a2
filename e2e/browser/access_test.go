package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// keyboard does without a mouse, and names everything to a screen reader.
func keyboard(t *testing.T, r *program) {
	r.post("keyboard-1", "keyboard", "say first by keyboard")
	p := r.console(t)
	p.sees("#task-list", "first by keyboard")
	p.key("n")
	p.until("the box to have the focus", "document.activeElement.id === 'new-text'")
	p.run(chromedp.KeyEvent("escalate echo by-keyboard"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	p.sees(".question.open", "by-keyboard")
	p.run(chromedp.KeyEvent(kb.Escape))
	p.key("a")
	p.until("the answer to have the focus", "document.activeElement.innerText === 'Accept'")
	if outline := p.eval("getComputedStyle(document.activeElement).outlineStyle"); outline == "none" {
		t.Error("the focus is not to be seen")
	}
	p.named("a question")
	p.run(chromedp.KeyEvent(kb.Enter))
	p.sees("#task-state", "Done")
	before := p.eval("location.hash")
	p.key("j")
	p.until("another task", "location.hash !== "+quote(before))
	p.key("?")
	p.sees("dialog", "Keyboard shortcuts")
	p.named("the shortcuts")
	p.click("#keys-off")
	p.run(chromedp.KeyEvent(kb.Escape))
	before = p.eval("location.hash")
	p.key("r")
	p.key("?")
	if p.eval("location.hash") != before || p.eval("document.querySelector('dialog').open") != "false" {
		t.Error("single keys count although they are switched off")
	}
	p.click("#keys-open")
	p.click("#keys-off")
	p.run(chromedp.KeyEvent(kb.Escape))
	p.until("the dialog to be closed", "!document.querySelector('dialog').open")
	p.key("/")
	p.run(chromedp.KeyEvent("nothing like this"))
	p.sees("#no-tasks", "matches")
	for _, landmark := range []string{"header", "nav", "main", "aside"} {
		if p.eval("Boolean(document.querySelector("+quote(landmark)+"))") != "true" {
			t.Errorf("the page has no %s", landmark)
		}
	}
}

// key presses a key, which writes its letter unless the page has taken it.
func (p *page) key(letter string) {
	p.t.Helper()
	down := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: letter, Text: letter}
	command(p, input.DispatchKeyEvent, down)
	command(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: letter})
}

// named checks that everything that can be used has a name.
func (p *page) named(where string) {
	p.t.Helper()
	tree := command(p, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	used := "button link textbox searchbox checkbox radio combobox region dialog img meter"
	for _, node := range tree.Nodes {
		if node.Ignored || node.Role == nil {
			continue
		}
		role := strings.Trim(string(node.Role.Value), `"`)
		if !strings.Contains(" "+used+" ", " "+role+" ") {
			continue
		}
		if node.Name == nil || strings.Trim(string(node.Name.Value), `" `) == "" {
			p.t.Errorf("%s: a %s has no name", where, role)
		}
	}
}

// widths looks at each view as a phone, a tablet and a desk show it, by day and by night.
func widths(t *testing.T, r *program) {
	p := r.console(t)
	p.begin("widths", "plan\nrun echo "+strings.Repeat("long", 60)+"\npatch "+strings.Repeat("folder-", 20)+"file.txt\nescalate echo "+strings.Repeat("wide", 60))
	p.sees(".question.open", "Accept")
	task := p.eval("location.hash")
	for _, size := range [][2]int64{{360, 740}, {820, 1100}, {1360, 850}} {
		p.resize(size[0], size[1])
		for _, at := range [][2]string{{"#/", "tasks"}, {"#/new", "new"}, {"#/runtime", "runtime"}, {task, "task"}} {
			view := at[0]
			p.eval("(location.hash = " + quote(view) + ", 1)")
			p.until("the view", "document.body.dataset.view === "+quote(at[1]))
			p.noOverflow(view)
			if view == "#/runtime" {
				p.picture(fmt.Sprintf("runtime-%d", size[0]))
			}
			for _, scheme := range []string{"light", "dark"} {
				p.scheme(scheme)
				p.contrast(scheme + " " + view)
			}
		}
		p.picture(fmt.Sprintf("question-%d", size[0]))
	}
	p.scheme("dark")
	dark := p.eval("getComputedStyle(document.documentElement).backgroundColor")
	p.scheme("light")
	if light := p.eval("getComputedStyle(document.documentElement).backgroundColor"); light == dark {
		t.Errorf("by day and by night the page is %s", light)
	}
	p.press(".question.open", "Decline")
	p.sees("#task-state", "Done")
}

// contrast checks that all text that is shown can be read: 4.5 to 1, as WCAG's AA has it.
func (p *page) contrast(where string) {
	p.t.Helper()
	const faint = `(() => {
		const rgba = (text) => { const n = text.match(/[\d.]+/g).map(Number); return { c: n.slice(0, 3), a: n[3] ?? 1 }; };
		const over = (top, under) => top.c.map((c, i) => c * top.a + under[i] * (1 - top.a));
		const behind = (e) => { if (!e) return [255, 255, 255]; const b = rgba(getComputedStyle(e).backgroundColor); return b.a === 1 ? b.c : over(b, behind(e.parentElement)); };
		const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
		const found = [];
		for (const e of document.querySelectorAll('body *')) {
			if (e.id === 'said' || !e.checkVisibility({ opacityProperty: true }) || e.matches(':disabled') || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
			const ground = behind(e);
			const [a, b] = [light(over(rgba(getComputedStyle(e).color), ground)), light(ground)];
			const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
			if (ratio < 4.5) found.push(ratio.toFixed(2) + ' ' + e.outerHTML.slice(0, 100));
		}
		return found.slice(0, 5).join('\n');
	})()`
	if found := p.eval(faint); found != "" {
		p.t.Errorf("%s: too faint to read:\n%s", where, found)
	}
}
