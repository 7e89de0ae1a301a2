package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestConversations runs on one program, each of the tests in conversations of its own.
func TestConversations(t *testing.T) {
	t.Parallel()
	r := start(t, "RUNTIME_MAX_TURNS=16")
	goOn := make(chan struct{})
	r.Model.SetScript(func(turn *fakemodel.Turn) {
		if turn.LastUserText() == inTwoHalves {
			twoHalves(turn, goOn)
			return
		}
		fakemodel.Keywords(turn)
	})
	live := func(t *testing.T, r *program) { live(t, r, goOn) }
	for name, test := range map[string]func(*testing.T, *program){
		"live": live, "work": work, "others": others, "approval": approval, "refusal": refusal,
		"steer": steer, "cancel": cancel, "failure": failure, "modules": modules, "doctor": doctor, "hostile": hostile, "keyboard": keyboard, "widths": widths,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, r)
		})
	}
}

const inTwoHalves = "write in two halves"

// twoHalves writes forty pieces, and stops in the middle until it may go on.
func twoHalves(turn *fakemodel.Turn, goOn <-chan struct{}) {
	turn.OpenMessage("final_answer")
	for n := range 40 {
		if n == 20 {
			select {
			case <-goOn:
			case <-turn.Context().Done():
				return
			}
		}
		turn.Delta(fakemodel.Piece(n, 10))
	}
	turn.EndMessage("")
}

// live watches a text while it is written.
func live(t *testing.T, r *program, goOn chan<- struct{}) {
	p := r.console(t)
	p.begin("live", inTwoHalves)
	p.sees(".message", "000000018") // the last character waits for the text's end
	if p.text("#task-state") != "Running" {
		t.Errorf("the state is %q while text comes", p.text("#task-state"))
	}
	close(goOn)
	p.sees("#task-state", "Done")
	p.sees(".message", "000000038 000000039")
	p.sees("#task-facts", "tokens")
	p.sees("#task-facts", "model: 1 call, first byte ")
	p.sees("#task-list [aria-current]", "Done")
	if said := p.eval("document.querySelector('#transcript').closest('[aria-live], [role=log]')"); said != "null" {
		t.Error("a screen reader is told each delta")
	}
	p.sees("#card-threads", "live")
}

// work watches a turn that plans, runs a command and changes a file, and finds all of
// it again later.
func work(t *testing.T, r *program) {
	p := r.console(t)
	p.begin("work", "plan\nthink about it\nrun echo hi-there; exit 3\npatch made.txt\nsay Its name is `made.txt`, and **that** is all.")
	check := func() {
		t.Helper()
		p.sees("#task-state", "Done")
		p.sees("#plan-count", "1 of 3")
		p.sees("#plan-steps .inProgress", "make a plan")
		p.sees(".work", "exit code 3")
		p.sees(".work .output", "hi-there")
		p.sees(".reasoning", "about it")
		p.sees(".diff-file .counts", "+3")
		p.sees(".diff-file .row.added", "three")
		p.sees(".message.entry code", "made.txt")
		p.sees(".message strong", "that")
		if green := p.eval("getComputedStyle(document.querySelector('.row.added')).backgroundColor"); green == p.eval("getComputedStyle(document.body).backgroundColor") {
			t.Errorf("what was added has the colour of the page, %s", green)
		}
	}
	check()
	p.reload()
	p.sees("#link", "Live")
	check()
}

// others sees what other callers begin, and who waits for whom.
func others(t *testing.T, r *program) {
	p := r.console(t)
	first := r.post("others-1", "others", "run sleep 62; echo first-of-others")
	second := r.post("others-2", "others", "say second of others")
	p.sees("#task-list", "second of others")
	p.until("both in the queue", "document.querySelectorAll('#card-queue .contexts a').length >= 2")
	p.sees("[data-id='"+second+"']", "Waiting")
	p.click("[data-id='" + first + "'] a")
	p.sees(".work", "echo first-of-others")
	p.press("#task", "Cancel")
	p.sees("[data-id='"+second+"']", "Done")
}

// approval lets a command run that codex asks for.
func approval(t *testing.T, r *program) {
	p := r.console(t)
	p.begin("approval", "escalate touch ran-by-approval && echo ran")
	p.sees(".question.open pre", "touch ran-by-approval")
	p.sees(".work", "Wants")
	p.sees("#task-state", "Needs an answer")
	p.sees("#task-list .asks", "Needs an answer")
	p.until("the title to say so", `/^\(\d+\) Codex runtime$/.test(document.title)`)
	p.press(".question.open", "Accept")
	p.sees("#task-state", "Done")
	p.sees(".question", "accepted")
	p.until("the question to be closed", "!document.querySelector('.question.open')")
	if _, err := os.Stat(filepath.Join(r.Work, "ran-by-approval")); err != nil {
		t.Error(err)
	}
}

// refusal answers in words what could be answered with buttons.
func refusal(t *testing.T, r *program) {
	p := r.console(t)
	p.begin("refusal", "escalate touch never")
	p.until("the box to be for an answer", "document.querySelector('#task-text').getAttribute('aria-label') === 'Answer in words'")
	p.send("#task-text", "no")
	p.sees("#task-state", "Done")
	p.sees(".question", "no")
	p.sees(".work", "declined")
}

// steer puts a word into a turn that runs.
func steer(t *testing.T, r *program) {
	p := r.console(t)
	p.begin("steer", "run until [ -e steered ]; do sleep 0.1; done")
	p.sees(".work", "until [ -e steered ]")
	p.send("#task-text", "say steered away")
	p.sees(".entry.user", "say steered away")
	p.hears("running turn")
	if err := os.WriteFile(filepath.Join(r.Work, "steered"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.sees(".message", "steered away")
	p.sees("#task-state", "Done")
	order := "[...document.querySelectorAll('#transcript > *')].filter((e) => e.checkVisibility()).map((e) => e.className.split(' ')[1]).join(' ')"
	if got := p.eval(order); got != "user work user message" {
		t.Errorf("the transcript is %s", got)
	}
	p.reload()
	p.sees(".message", "steered away")
	p.until("the same order as before", order+" === 'user work user message'")
}

// failure says why a turn has failed, and sends the message again.
func failure(t *testing.T, r *program) {
	p := r.console(t)
	p.begin("failure", "fail 400")
	p.sees("#task-state", "Failed")
	p.sees("#outcome", "scripted failure 400")
	before := p.eval("location.hash")
	p.press("#outcome", "Send it again")
	p.until("another task", "location.hash !== "+quote(before))
	p.sees("#outcome", "scripted failure 400")

	narrow := r.postMarked("failure-narrow", "failure-narrow", object{"sandbox": "read-only", "approvalPolicy": "untrusted"}, []object{{"text": "fail 400"}})
	p.eval("(location.hash = '#/task/" + narrow + "', 1)")
	p.until("the task", "location.hash.endsWith("+quote(narrow)+") && document.querySelector('#task-title').textContent === 'fail 400'")
	p.sees("#outcome", "scripted failure 400")
	p.eval(`(() => {
		const real = window.fetch;
		window.fetch = (url, options) => { if (String(options?.body).includes('SendMessage')) window.said = options.body; return real(url, options); };
		return 1;
	})()`)
	p.press("#outcome", "Send it again")
	p.until("it to be sent with no more leave than it had", `(({ sandbox, approvalPolicy } = {}) => sandbox === 'read-only' && approvalPolicy === 'untrusted')(JSON.parse(window.said ?? '{}').params?.message?.metadata)`)
	p.until("another task", "!location.hash.endsWith("+quote(narrow)+")")

	mark := object{"source_workspace_id": "us\u202eer"}
	id := r.postMarked("failure-of-a-peer", "failure-of-a-peer", mark, []object{{"text": "fail 400"}})
	p.eval("(location.hash = '#/task/" + id + "', 1)")
	p.until("a peer's words not to be sent as the user's", "document.querySelector('#task-title').textContent === 'fail 400' && location.hash.endsWith("+quote(id)+") && document.querySelector('#transcript').textContent.includes('fail 400') && document.querySelector('#why').checkVisibility() && !document.querySelector('#again').checkVisibility()")
	p.sees("#task-facts", "from agent usU+202Eer")
	p.sees("[data-id='"+id+"'] .caller", "agent usU+202Eer")
}

// cancel stops a turn, and what it runs.
func cancel(t *testing.T, r *program) {
	p := r.console(t)
	p.begin("cancel", "run sleep 61")
	p.sees(".work", "sleep 61")
	p.press("#task", "Cancel")
	p.sees("#task-state", "Canceled")
	progtest.WaitFor(t, "the command to be gone", func() bool { return progtest.Find(r.Pid(), "sleep 61") == 0 })
	p.until("no more to cancel", "!document.querySelector('#cancel').checkVisibility()")
}
