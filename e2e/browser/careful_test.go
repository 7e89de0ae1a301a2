package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// noted keeps what the page sends, which streams it opens and which buttons of a question
// could be pressed the moment they came; and it can say that nobody sees the page.
const noted = `window.sent = []; window.opened = 0; window.open_ = 0; window.early = 0; window.away = false;
Object.defineProperty(document, 'hidden', { get: () => window.away });
const real = window.fetch;
window.fetch = (url, options) => {
	if (options?.body) window.sent.push(options.body);
	if (String(url).endsWith('/events')) {
		window.opened++;
		window.open_++;
		options.signal.addEventListener('abort', () => { window.open_--; }, { once: true });
	}
	return real(url, options);
};
new MutationObserver((all) => {
	for (const { addedNodes } of all) for (const node of addedNodes) {
		if (node.querySelectorAll) window.early += [...node.querySelectorAll('.question.open button')].filter((b) => getComputedStyle(b).pointerEvents !== 'none').length;
	}
}).observe(document, { childList: true, subtree: true });`

// TestCareful: words go to the question that was read, a click to the button that was
// seen, and what a peer has made of nothing the page knows does not hide the rest.
func TestCareful(t *testing.T) {
	t.Parallel()
	r := start(t)
	p := blank(t)
	command(p, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: noted})
	p.run(chromedp.Navigate(r.URL + "/console"))
	p.sees("#link", "Live")

	p.begin("careful", "escalate touch one\nescalate touch two")
	p.sees(".question.open", "touch one")
	p.send("#task-text", "no")
	p.sees(".question.open", "touch two")
	if named := p.eval(`String(window.sent.some((body) => body.includes('{"text":"no"},{"data":{"id":"')))`); named != "true" {
		t.Error("the answer in words does not say to what")
	}
	p.until("the messages that were sent", "[...document.querySelectorAll('.entry.user .text')].map((e) => e.textContent).join('|') === "+quote("escalate touch one\nescalate touch two|no"))
	p.press(".question.open", "Accept")
	p.sees("#task-state", "Done")
	if early := p.eval("String(window.early)"); early != "0" {
		t.Errorf("%s buttons could be pressed by a click that was meant for something else", early)
	}

	p.begin("steering", "run until [ -e written ]; do sleep 0.1; done\nescalate touch four")
	p.sees(".work", "until [ -e written ]")
	p.write("#task-text", "ok")
	if err := os.WriteFile(filepath.Join(r.Work, "written"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.sees(".question.open", "touch four")
	enter := chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.run(enter)
	p.sees("#task-form .problem", "since you began to write")
	p.run(enter)
	p.sees("#task-state", "Done")
	p.sees(".question", "ok")

	id := r.postParts("odd", "odd", []object{{"data": "word"}, {"data": 7}, {"data": []any{1}}, {"data": true}})
	p.eval("(location.hash = '#/task/" + id + "', 1)")
	p.sees(".entry.user", `"word"`)
	p.sees(".message", "word")
	p.until("nothing to be wrong", "document.querySelector('#task-problem').hidden")

	waits := r.post("waits", "waits", "escalate touch three")
	row := "[...document.querySelectorAll('#task-list li')].find((li) => li.innerText.includes('touch three')).innerText"
	p.until("the question in the list", row+".includes('Needs an answer')")
	p.eval("(window.away = true, document.dispatchEvent(new Event('visibilitychange')), 1)")
	p.until("the connection to be given back", "window.open_ === 0")
	r.post("answered", "waits", "no") // and more happens than a new connection tells of
	ended := fmt.Sprintf(`import('/console/static/api.js').then(async (m) => {
		for (;;) {
			const { status } = await m.call('GetTask', { id: %s });
			if (status.state === 'TASK_STATE_COMPLETED') return status.state;
			await new Promise((resolve) => setTimeout(resolve, 100));
		}
	})`, quote(waits))
	get(p, chromedp.Evaluate[string](ended, chromedp.EvalAwaitPromise))
	for n := range 60 {
		r.post(fmt.Sprint("more-", n), fmt.Sprint("more-", n), "/status")
	}
	p.eval("(window.away = false, document.dispatchEvent(new Event('visibilitychange')), 1)")
	p.until("the page to look again", "window.open_ === 1")
	p.sees("#link", "Live")
	p.until("the answer to be known", "document.querySelector('#needs').hidden")
}
