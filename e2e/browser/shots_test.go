package browser

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/progtest"
)

func TestDev(t *testing.T) {
	r := progtest.Start(t, binary, "RUNTIME_MODEL=scripted")
	p := open(t, r.URL+"/console")
	p.sees("#link", "Live")
	p.begin("demo", "plan\nthink about **it**\nrun echo hi; sleep 0.3; echo there\npatch new.txt\ncommentary Next I look at the tests.\nsay All done: `new.txt` has **three** lines.")
	p.sees("#task-state", "Done")
	p.picture("task")
	p.begin("demo2", "stream 400 12 20ms")
	p.sees("#transcript", "0000000010")
	p.picture("streaming")
	p.begin("demo3", "escalate rm -rf build && make release")
	p.sees(".question.open", "Accept")
	p.picture("question")
	p.scheme("dark")
	p.picture("question-dark")
	p.resize(360, 740)
	p.picture("phone-task")
	p.eval("location.hash = '#/'")
	p.picture("phone-tasks")
	p.eval("location.hash = '#/runtime'")
	p.picture("phone-runtime")
	p.resize(1360, 850)
	p.scheme("light")
	p.eval("location.hash = '#/new'")
	p.picture("new")
}
