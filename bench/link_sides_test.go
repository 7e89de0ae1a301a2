package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/linktest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// links are the sides that are compared over links of one kind; ours is the last.
type links struct {
	b     *testing.B
	sides []*linkSide
}

// A linkSide is a codex with a link of its own to a model of its own.
type linkSide struct {
	name     string
	upstream *linktest.Upstream
	codex    int // the process
	turn     func(errand) (first, whole time.Duration)
	enter    func(conversation int) // has the turns that follow run there

	took, first sample
	opened      int           // connections, in the turns
	up          int64         // bytes, in the turns
	cpu         time.Duration // of codex, in the turns
}

// linked starts all sides, and has them take a few turns.
func linked(b *testing.B, link linktest.Link) *links {
	b.Helper()
	l := &links{b: b, sides: []*linkSide{
		bareLink(b, "bare-http", link, false), bareLink(b, "bare-websocket", link, true), ourLink(b, "runtime", link),
	}}
	for range 3 {
		l.warm(hello())
	}
	return l
}

// warm has each side take a turn that is not measured.
func (l *links) warm(e errand) {
	l.b.Helper()
	l.each(func(s *linkSide) { s.turn(e) })
}

// each does something with all sides, in an order of chance.
func (l *links) each(do func(*linkSide)) {
	all := make([]func(), len(l.sides))
	for i, s := range l.sides {
		all[i] = func() { do(s) }
	}
	shuffled(all...)
}

// distant serves a model at the far end of a link, and returns the environment of what asks it.
func distant(b *testing.B, link linktest.Link) (upstream *linktest.Upstream, environ []string) {
	b.Helper()
	upstream = linktest.Start(b, fakemodel.New(fakemodel.Keywords), link)
	return upstream, []string{
		"OPENAI_API_KEY=" + benchKey, "OPENAI_BASE_URL=" + upstream.URL() + "/v1", "CODEX_CA_CERTIFICATE=" + upstream.CAFile(),
	}
}

// bareLink is a bare app-server that has the key itself.
func bareLink(b *testing.B, name string, link linktest.Link, socket bool) *linkSide {
	b.Helper()
	upstream, environ := distant(b, link)
	launch := alike(b, upstream.URL()+"/v1", environ...)
	var more []string
	if socket {
		more = []string{"-c", "model_providers." + launch.Provider.ID() + ".supports_websockets=true"}
	}
	d := newBare(b, launch, more...)
	threads := map[int]string{}
	return &linkSide{name: name, upstream: upstream, codex: d.pid, turn: func(e errand) (first, whole time.Duration) {
		b.Helper()
		return d.turn(e.text, e.last)
	}, enter: func(conversation int) {
		b.Helper()
		if threads[conversation] == "" {
			d.open()
			threads[conversation] = d.thread
		}
		d.thread = threads[conversation]
	}}
}

// ourLink is the program.
func ourLink(b *testing.B, name string, link linktest.Link) *linkSide {
	b.Helper()
	upstream, environ := distant(b, link)
	p := progtest.Start(b, program, environ...)
	ours := newClient(b, p.URL, "bench", 0)
	ours.ready()
	return &linkSide{name: name, upstream: upstream, codex: p.Codex(), turn: func(e errand) (first, whole time.Duration) {
		b.Helper()
		return ours.stream(e.text, e.all)
	}, enter: func(conversation int) { ours = ours.in(fmt.Sprint("bench", conversation)) }}
}
