package browser

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestQuestionsThatMove: two subagents ask, and the turn says something long, so that the page, which keeps
// to its end, moves up by what is between the two buttons. A click that was aimed at the first is for
// neither.
func TestQuestionsThatMove(t *testing.T) {
	var first, second string
	var subagents, calls atomic.Int64
	lines, asked := make(chan int, 1), make(chan struct{})
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		switch {
		case turn.FromSubagent():
			if n := subagents.Add(1); n <= 2 {
				turn.Call("exec_command", fakemodel.Escalated("touch "+[]string{first, second}[n-1]))
				return
			}
			turn.Say("done")
		case calls.Add(1) == 1:
			turn.CallIn("collaboration", "spawn_agent", `{"task_name":"one","message":"go"}`)
		case calls.Load() == 2:
			<-asked // its question is above the other
			turn.CallIn("collaboration", "spawn_agent", `{"task_name":"two","message":"go"}`)
		default:
			n := <-lines
			turn.OpenMessage("commentary")
			turn.Delta(strings.Repeat("word\n", n) + "and more")
			<-turn.Context().Done()
		}
	})
	r := &program{Program: progtest.Start(t, binary, "OPENAI_BASE_URL="+model.BaseURL(), "OPENAI_API_KEY=key-of-the-browser-suite"), Model: model, t: t}
	first, second = filepath.Join(r.Work, "first"), filepath.Join(r.Work, "second")
	p := r.console(t)
	p.begin("moves", "go")
	p.until("a question", "document.querySelectorAll('.question.open').length === 1")
	close(asked)
	p.until("two questions that can be clicked", "document.querySelectorAll('.question.open .controls:not(.fresh)').length === 2")
	p.eval(`(() => {
		window.moved = new Set();
		const look = (changes) => changes.forEach(({ target }) => target.matches('.controls.fresh') && window.moved.add(target));
		new MutationObserver(look).observe(document, { subtree: true, attributeFilter: ['class'] });
		return 1;
	})()`)
	lines <- 12
	p.until("both to be closed to clicks as they move", "window.moved.size === 2")
	p.until("both to be there to be clicked again", "document.querySelectorAll('.question.open .controls:not(.fresh)').length === 2")
	p.eval(`(() => {
		window.moved.clear();
		window.real = window.fetch;
		window.fetch = (url, options) => String(options?.body).includes('decision') ? Promise.reject(new TypeError('no connection')) : window.real(url, options);
		[...document.querySelectorAll('.question.open button')].find((b) => b.innerText.trim() === 'Accept').click();
		return 1;
	})()`)
	p.until("it to be said that this has failed", "[...document.querySelectorAll('.question.open .problem')].some((p) => p.checkVisibility())")
	p.until("what that has moved to be closed to clicks", "window.moved.size > 0")
	p.until("both to be there to be clicked once more", "(window.fetch = window.real) && document.querySelectorAll('.question.open .controls:not(.fresh)').length === 2")
	p.press(".question.open", "Accept")
	p.until("one question", "document.querySelectorAll('.question.open').length === 1")
	if _, err := os.Stat(second); err == nil {
		t.Error("the answer to the first has run the second's command")
	}
}

// TestProgressLeavesQuestions has something told of the work while a question is open, as of a command beside the one that is asked
// about: the question stays.
func TestProgressLeavesQuestions(t *testing.T) {
	p := start(t).console(t)
	p.eval(`(import('/console/static/transcript.js').then(({ Transcript }) => {
		const t = new Transcript('x', () => {});
		const tell = (data, metadata) => t.apply({ result: { statusUpdate: { status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ data }] } }, metadata } } });
		tell({ type: 'question', id: 'q', kind: 'command', command: 'ls' }, {});
		tell({ type: 'notice', text: 'beside it' });
		window.kept = t.entries.map((e) => e.kind + (e.open ? ' open' : '')).join();
	}), 1)`)
	p.until("the question to stay open beside the notice", "window.kept === 'question open,notice'")
}
