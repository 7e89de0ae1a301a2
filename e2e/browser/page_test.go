package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// witness notes what the page's policy has refused, and what the page has announced; it is
// in the page before the page is.
const witness = `window.violations = [];
window.announced = [];
document.addEventListener('securitypolicyviolation', (e) => window.violations.push(e.violatedDirective + ' ' + e.blockedURI));
document.addEventListener('DOMContentLoaded', () => {
	const box = document.getElementById('said');
	if (box) new MutationObserver(() => window.announced.push(box.textContent)).observe(box, {childList: true, characterData: true, subtree: true});
});`

// A page is one tab. When the test ends it must not have seen an error of a script, or
// anything that its content security policy refused.
type page struct {
	t   *testing.T
	ctx context.Context

	dir string // where its pictures are kept

	mu     sync.Mutex // guards errors
	errors []string
}

// open opens a tab with no cookies at url.
func open(t *testing.T, url string) *page {
	t.Helper()
	p := blank(t)
	p.run(chromedp.Navigate(url))
	return p
}

// blank opens a tab with no cookies and nothing in it.
func blank(t *testing.T) *page {
	t.Helper()
	ctx, leave := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	p := &page{t: t, ctx: ctx, dir: os.Getenv("SCREENSHOTS")}
	if p.dir == "" {
		p.dir = t.ArtifactDir() // before the clean-up below, which may still need it
	}
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.look()
		leave()
	})
	command(p, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: witness})
	return p
}

func (p *page) hear(event any) {
	said := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		said = e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			said += " " + e.ExceptionDetails.Exception.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			for _, arg := range e.Args {
				said += " " + arg.Description + string(arg.Value)
			}
		}
	case *cdplog.EventEntryAdded:
		if e.Entry.Source == cdplog.EntrySourceSecurity {
			said = e.Entry.Text
		}
	}
	if said != "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.errors = append(p.errors, said)
	}
}

// look checks that the page has had no error, and keeps a picture of one that failed.
func (p *page) look() {
	p.t.Helper()
	if p.t.Failed() {
		p.picture("failed-" + strings.ReplaceAll(p.t.Name(), "/", "-"))
		p.t.Logf("the page says: %s", p.text("body"))
	}
	if refused := p.eval("JSON.stringify(window.violations)"); refused != "[]" {
		p.t.Errorf("the page's policy has refused %s", refused)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.errors) > 0 {
		p.t.Errorf("the page has had errors: %s", strings.Join(p.errors, "\n"))
	}
}

func (p *page) run(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, progtest.Patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("the browser: %v", err)
	}
}

// get is run for an action that returns something.
func get[T any](p *page, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, progtest.Patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		p.t.Fatalf("the browser: %v", err)
	}
	return value
}

// command is get for a command of the DevTools protocol.
func command[P, R any](p *page, c cdp.Command[P, R], params P) R {
	p.t.Helper()
	return get(p, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, c, params) })
}

// eval returns what an expression is, as JSON of it, or as it is if that is a text.
func (p *page) eval(expression string) string {
	p.t.Helper()
	return get(p, asText(expression))
}

func asText(expression string) chromedp.Action[string] {
	return chromedp.Evaluate[string](fmt.Sprintf("((v) => typeof v === 'string' ? v : JSON.stringify(v) ?? '')(%s)", expression))
}

// reload has the browser get the page anew.
func (p *page) reload() {
	p.t.Helper()
	p.run(chromedp.Reload())
}

// until waits until an expression holds.
func (p *page) until(what, expression string) {
	p.t.Helper()
	progtest.WaitFor(p.t, what, func() bool {
		ctx, cancel := context.WithTimeout(p.ctx, progtest.Patience)
		defer cancel()
		holds, err := chromedp.Run(ctx, asText("Boolean("+expression+")"))
		return err == nil && holds == "true" // an error is a page that goes away for another one
	})
}

// sees waits until what selector finds has words in it.
func (p *page) sees(selector, words string) {
	p.t.Helper()
	p.until(fmt.Sprintf("%q in %s", words, selector),
		fmt.Sprintf("[...document.querySelectorAll(%s)].some((e) => e.checkVisibility() && e.innerText.includes(%s))", quote(selector), quote(words)))
}

// text returns the text of what selector finds, as it is seen.
func (p *page) text(selector string) string {
	p.t.Helper()
	return p.eval(fmt.Sprintf("[...document.querySelectorAll(%s)].map((e) => e.innerText).join('\\n')", quote(selector)))
}

// click presses the first thing that selector finds, once it is there.
func (p *page) click(selector string) {
	p.t.Helper()
	p.clickOn(selector, fmt.Sprintf("document.querySelector(%s)", quote(selector)))
}

// press presses the button of that name in what selector finds.
func (p *page) press(selector, name string) {
	p.t.Helper()
	p.clickOn("the button "+name, fmt.Sprintf("[...document.querySelectorAll(%s)].flatMap((e) => [...e.querySelectorAll('button, a')]).find((b) => b.checkVisibility() && b.innerText.trim() === %s)",
		quote(selector), quote(name)))
}

// clickOn clicks on what an expression finds once a mouse could: nothing lies over it. The
// look and the click are one step, for between two of them the page may have moved it.
func (p *page) clickOn(what, find string) {
	p.t.Helper()
	p.until(what, fmt.Sprintf(`(() => {
		const e = %s;
		if (!e || e.disabled || !e.checkVisibility() || getComputedStyle(e).pointerEvents === 'none') return false;
		e.scrollIntoView({block: 'center'});
		const r = e.getBoundingClientRect();
		const top = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
		if (!top || !(e.contains(top) || top.contains(e))) return false;
		e.focus();
		e.click();
		return true;
	})()`, find))
}

// hears waits until the page has announced words, which stand in it for a moment only.
func (p *page) hears(words string) {
	p.t.Helper()
	p.until(fmt.Sprintf("%q to be announced", words), fmt.Sprintf("window.announced.some((text) => text.includes(%s))", quote(words)))
}

// write types into a field.
func (p *page) write(selector, text string) {
	p.t.Helper()
	p.run(chromedp.SendKeys(selector, text))
}

// send types a message and sends it with the keyboard.
func (p *page) send(selector, text string) {
	p.t.Helper()
	p.fill(selector, text)
	p.run(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
}

// begin sends a new message in a context, and waits until its task is shown.
func (p *page) begin(contextID, text string) {
	p.t.Helper()
	p.eval(fmt.Sprintf("(() => { location.hash = '#/new/' + %s; return 1 })()", quote(contextID)))
	p.until("the form", "document.body.dataset.view === 'new'")
	p.send("#new-text", text)
	p.until("the task", "document.body.dataset.view === 'task'")
}

// resize makes the page that large.
func (p *page) resize(width, height int64) {
	p.t.Helper()
	var options []chromedp.EmulateViewportOption
	if width < 600 {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	p.run(chromedp.EmulateViewport(width, height, options...))
}

// scheme makes the page light or dark.
func (p *page) scheme(name string) {
	p.t.Helper()
	command(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
}

// picture keeps a picture of the page, in SCREENSHOTS if that names a folder.
func (p *page) picture(name string) (path string, png []byte) {
	p.t.Helper()
	png = get(p, chromedp.CaptureScreenshot())
	path = filepath.Join(p.dir, name+".png")
	if err := os.WriteFile(path, png, 0o600); err != nil {
		p.t.Error(err)
	}
	return path, png
}

func quote(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}
