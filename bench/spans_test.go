package bench

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// BenchmarkSpans is what the runtime itself costs a turn: it owns a codex that
// answers turn/start at once and sends two words, one each 2 ms. "in" is from
// before the client writes its request until codex has read turn/start; "out"
// from before codex writes turn/completed until the client has read the answer,
// whether it sends or streams; "first-text-out" from before codex writes its
// first delta until a streaming client has read it. All hold the client's
// share, the kernel's and the scheduler's, so they bound our own from above;
// "healthz" is a request that does nothing, by the same client, and most of it
// is in each of them, too.
func BenchmarkSpans(b *testing.B) {
	const turns, warm = 1500, 50
	s := newSpanned(b, program, warm)
	for range turns {
		s.send()
		s.stream()
		at := time.Now()
		s.ours.get("/healthz")
		s.took.add("healthz", time.Since(at))
	}
	s.fold()
	s.took.spread(b, "send-in", "send-out", "send", "stream-in", "stream-out", "stream", "first-text-out", "first-text", "healthz")
}

// spannedText is what the model of a [spanned] says.
const spannedText = "hello world"

// A spanned is a program whose own share of turns is measured.
type spanned struct {
	*progtest.Program
	ours  *client
	warm  int
	turns []clientTurn
	took  series // what fold makes of them
	file  string // of codex's stamps
}

// A clientTurn is what a client saw of a turn, by clock.
type clientTurn struct {
	streamed            bool
	began, first, ended int64
}

// newSpanned starts a built program and has it run some turns.
func newSpanned(b *testing.B, binary string, warm int) *spanned {
	b.Helper()
	file := filepath.Join(codextest.Dir(b, "stamps"), "stamps")
	p := progtest.Start(b, binary, append(fakeSettings(b, "turn slow-text 2"), stampsEnv+"="+file)...)
	s := &spanned{Program: p, ours: newClient(b, p.URL, "bench", 0), warm: warm, took: series{}, file: file}
	s.ours.checked()
	for range warm {
		s.ours.send(spannedText, spannedText)
	}
	return s
}

func (s *spanned) send() {
	began := clock()
	whole := s.ours.send(spannedText, spannedText)
	s.turns = append(s.turns, clientTurn{began: began, ended: began + whole.Nanoseconds()})
}

func (s *spanned) stream() {
	began := clock()
	first, whole := s.ours.stream(spannedText, spannedText)
	s.turns = append(s.turns, clientTurn{true, began, began + first.Nanoseconds(), began + whole.Nanoseconds()})
}

// fold takes codex's share out of the turns.
func (s *spanned) fold() {
	for i, codex := range stamps(s.ours.b, s.file, s.warm+len(s.turns))[s.warm:] {
		turn, name := s.turns[i], "send"
		if turn.streamed {
			name = "stream"
		}
		in, out := time.Duration(codex.read-turn.began), time.Duration(turn.ended-codex.completed)
		s.took.add(name+"-in", in)
		s.took.add(name+"-out", out)
		s.took.add(name, in+out)
		if turn.streamed {
			first := time.Duration(turn.first - codex.delta)
			s.took.add("first-text-out", first)
			s.took.add("first-text", in+first)
		}
	}
}
