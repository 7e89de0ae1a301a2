package browser

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/minutes"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestFirstMinutes goes the way of the README as a new user does: from git clone, with nothing
// in a home of its own, to the answer in the console.
func TestFirstMinutes(t *testing.T) {
	minutes.Mark(t)
	addr := progtest.FreeAddr(t)
	home := minutes.Home(t)
	settings, caches := minutes.Caches(t)
	at := minutes.Type(t, home, "git clone -q '"+codextest.Root(t)+"' clone && cd clone && make run\n", append(settings, "RUNTIME_ADDR="+addr)...)
	at.Await("listening")
	p := open(t, "http://"+addr+"/console")
	p.press("body", "New message")
	p.fill("#new-text", "say what I see")
	p.press("#new-form", "Send")
	p.sees("#task-state", "Done")
	p.sees(".message", "scripted")
	minutes.Report(t, "clone", at.Took(), caches+"; "+at.Quiet())
}
