package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/linktest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// command has the model run one, which does next to nothing.
func command() errand { return errand{"run echo done", "done", "done"} }

// BenchmarkMachine is a turn with one command that runs on another machine: of a bare app-server by codex's own connection to
// its exec-server and through runtime machine, and of ours. Beside it, what the same turn takes where the command runs here, and one without a command.
func BenchmarkMachine(b *testing.B) {
	b.Run("0ms", func(b *testing.B) {
		m := placed(b, 0)
		m.report(m.turns(80, command(), m.all()))
		hello := m.turns(40, hello(), m.all())
		for _, name := range m.all() {
			row(b, name+"-hello", "p50-ms", ms(hello[name].quantile(.5)))
		}
		m.works("runtime-here")
		m.works("machine", process{"machine-ms", m.machine})
	})
	b.Run("30ms", func(b *testing.B) {
		m := placed(b, 30*time.Millisecond)
		m.report(m.turns(40, command(), m.all()))
	})
}

// placedSides are codexes whose commands run here, or elsewhere.
type placedSides struct {
	b    *testing.B
	turn map[string]func(errand) time.Duration
	// Of the CPU time of processes: each of ours, and runtime machine, without what it starts.
	programs map[string]*progtest.Program
	machine  int
}

func (placedSides) all() []string {
	return []string{"here", "direct", "through", "runtime-here", "machine"}
}

func newPlacedSides(b *testing.B) *placedSides {
	return &placedSides{b: b, turn: map[string]func(errand) time.Duration{}, programs: map[string]*progtest.Program{}}
}

// works reports the CPU time of our processes for a turn with a command.
func (s *placedSides) works(name string, more ...process) {
	s.b.Helper()
	of := append([]process{{"codex-ms", s.programs[name].Codex()}, {"runtime-ms", s.programs[name].Pid()}}, more...)
	work(s.b, name+"-cpu", 80, func() { s.turn[name](command()) }, of...)
}

// placed starts all sides on one model. What is elsewhere is behind a link.
func placed(b *testing.B, roundTrip time.Duration) *placedSides {
	b.Helper()
	model := modeltest.Start(b, fakemodel.Keywords)
	credential := []string{"OPENAI_API_KEY=" + benchKey, "OPENAI_BASE_URL=" + model.BaseURL()}
	s := newPlacedSides(b)
	s.bare("here", bareHere(b, model.BaseURL(), credential))
	s.bare("direct", bareElsewhere(b, model.BaseURL(), credential, direct(b, behind(b, roundTrip))))
	s.bare("through", bareElsewhere(b, model.BaseURL(), credential, through(b, behind(b, roundTrip))))
	s.ours("runtime-here", credential)
	work, at, machines := startFleet(b, 1, behind(b, roundTrip))
	s.machine = machines[0].Pid()
	s.ours("machine", append(credential, append(at, "RUNTIME_WORKDIR="+work)...))
	for range 5 {
		s.turns(1, command(), s.all())
		s.turns(1, hello(), s.all())
	}
	return s
}

// behind puts addresses at a distance. Without one nothing is in between.
func behind(b *testing.B, roundTrip time.Duration) func(addr string) string {
	return func(addr string) string {
		if roundTrip == 0 {
			return addr
		}
		return linktest.Relay(b, addr, linktest.Link{RoundTrip: roundTrip}).Addr()
	}
}

func (s *placedSides) bare(name string, d *bare) {
	s.turn[name] = func(e errand) time.Duration {
		s.b.Helper()
		_, whole := d.turn(e.text, e.last)
		return whole
	}
}

func (s *placedSides) ours(name string, settings []string) {
	s.b.Helper()
	s.programs[name] = progtest.Start(s.b, program, settings...)
	c := newClient(s.b, s.programs[name].URL, "bench", 0)
	c.ready()
	s.turn[name] = func(e errand) time.Duration {
		s.b.Helper()
		return c.send(e.text, e.all)
	}
}

// turns has each side take n turns, in an order of chance.
func (s *placedSides) turns(n int, e errand, names []string) series {
	s.b.Helper()
	took := series{}
	for range n {
		each := make([]func(), len(names))
		for i, name := range names {
			each[i] = func() { took.add(name, s.turn[name](e)) }
		}
		shuffled(each...)
	}
	return took
}

// report writes what the sides take, and what is added: by runtime machine over the direct connection, of the same bare
// app-server; by that connection over here; and by ours over the direct one, and over ours here.
func (s *placedSides) report(took series) {
	s.b.Helper()
	took.spread(s.b, s.all()...)
	added(s.b, "added", took["through"], took["direct"], took["direct"])
	added(s.b, "added-by-ours", took["machine"], took["direct"], took["direct"])
	added(s.b, "added-by-direct", took["direct"], took["here"], took["here"])
	added(s.b, "added-by-machine", took["machine"], took["runtime-here"], took["runtime-here"])
}

// BenchmarkLoginShell is what the login shell is of a turn with a command elsewhere, and what codex's own settings win back
// of it: without a login shell, and with a snapshot of it. The last is what a shell takes by itself.
func BenchmarkLoginShell(b *testing.B) {
	model := modeltest.Start(b, fakemodel.Keywords)
	credential := []string{"OPENAI_API_KEY=" + benchKey, "OPENAI_BASE_URL=" + model.BaseURL()}
	s := newPlacedSides(b)
	names := []string{}
	for name, more := range map[string][]string{
		"login": nil, "no-login": {"-c", "allow_login_shell=false"}, "snapshot": {"-c", "features.shell_snapshot=true"},
	} {
		s.bare(name+"-elsewhere", bareElsewhere(b, model.BaseURL(), credential, direct(b, behind(b, 0)), more...))
		s.bare(name+"-here", bareHere(b, model.BaseURL(), credential, more...))
		names = append(names, name+"-elsewhere", name+"-here")
	}
	for range 5 {
		s.turns(1, command(), names)
	}
	took := s.turns(40, command(), names)
	took.report(b, names...)
	for _, name := range []string{"no-login", "snapshot"} {
		for _, where := range []string{"-elsewhere", "-here"} {
			row(b, fmt.Sprint(name, where, "-wins"), "paired-ms", ms(took.paired("login"+where, name+where)))
		}
	}
	shells(b)
}
