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
	const text = "hello world"
	file := filepath.Join(codextest.Dir(b, "stamps"), "stamps")
	p := progtest.Start(b, program, append(fakeSettings(b, "turn slow-text 2"), stampsEnv+"="+file)...)
	ours := newClient(b, p.URL, "bench", 0)
	ours.checked()
	for range warm {
		ours.send(text, text)
	}
	type moments struct{ began, first, ended int64 }
	var sends, streams []moments
	took := series{}
	for range turns {
		began := clock()
		whole := ours.send(text, text)
		sends = append(sends, moments{began: began, ended: began + whole.Nanoseconds()})
		began = clock()
		first, whole := ours.stream(text, text)
		streams = append(streams, moments{began, began + first.Nanoseconds(), began + whole.Nanoseconds()})
		at := time.Now()
		ours.get("/healthz")
		took.add("healthz", time.Since(at))
	}
	codex := stamps(b, file, warm+2*turns)[warm:]
	for i := range turns {
		sent, streamed := codex[2*i], codex[2*i+1]
		in, out := time.Duration(sent.read-sends[i].began), time.Duration(sends[i].ended-sent.completed)
		took.add("send-in", in)
		took.add("send-out", out)
		took.add("send", in+out)
		in, out = time.Duration(streamed.read-streams[i].began), time.Duration(streams[i].ended-streamed.completed)
		took.add("stream-in", in)
		took.add("stream-out", out)
		took.add("stream", in+out)
		first := time.Duration(streams[i].first - streamed.delta)
		took.add("first-text-out", first)
		took.add("first-text", in+first)
	}
	took.spread(b, "send-in", "send-out", "send", "stream-in", "stream-out", "stream", "first-text-out", "first-text", "healthz")
}
