package forward

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

const (
	interruption = `{"type":"response.interrupt","response_id":"r1","mode":"discard_partial_items"}`
	request      = `{"type":"response.create"}`
	delta        = `{"type":"response.output_text.delta","delta":"words"}`
	completed    = `{"type":"response.completed","response":{"usage":{"output_tokens":7}}}`
)

// A line is what one side says in a scene, and how long after the line before.
type line struct {
	after time.Duration
	codex bool // else the endpoint
	text  string
}

// scene has a line said after another, and each heard on the other side.
func (s *stage) scene(t *testing.T, lines []line) {
	t.Helper()
	heard, told := reads(s.endpoint), reads(s.codex)
	for _, l := range lines {
		from, to := s.endpoint, told
		if l.codex {
			from, to = s.codex, heard
		}
		time.Sleep(l.after)
		if say(from, l.text) != nil {
			return
		}
		if got, ok := <-to; ok && got != l.text {
			t.Errorf("%q comes as %q", l.text, got)
		}
	}
}

// TestInterruptions has codex interrupt an answer, as it does where a message is to be heeded at once.
func TestInterruptions(t *testing.T) {
	const (
		accepted    = `{"type":"response.interrupt.accepted","response_id":"r1"}`
		failed      = `{"type":"response.interrupt.failed","response_id":"r1","error":{"code":"interrupt_not_supported"}}`
		interrupted = `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"interrupted"},"usage":{"output_tokens":7}}}`
	)
	const second = time.Second
	goesOn := slices.Repeat([]line{{700 * time.Millisecond, false, delta}}, 10) // no word comes just then
	asked := []line{{0, true, request}, {second, false, delta}, {second, true, interruption}}
	for name, c := range map[string]struct {
		lines []line
		lasts time.Duration // the relay; 0 if it goes on
		calls []Call        // Took, Tokens and Status
	}{
		"accepted": {append(asked, line{second, false, accepted}, line{10 * second, false, interrupted}), 0, []Call{{Took: 13 * second, Tokens: 7, Status: 200}}},
		"ended":    {append(asked, line{second, false, interrupted}), 0, []Call{{Took: 3 * second, Tokens: 7, Status: 200}}},
		"ended by an error": {append(asked, line{second, false, `{"type":"error","status":400,"error":{"message":"no"}}`}), 0,
			[]Call{{Took: 3 * second, Status: 400}}},
		"ignored":                      {append(asked, goesOn...), 5 * second, []Call{{Took: 5 * second}}},
		"ignored, in silence":          {asked, 5 * second, []Call{{Took: 5 * second}}},
		"ignored, and asked for again": {append(asked, line{2 * second, true, interruption}), 5 * second, []Call{{Took: 5 * second}}},
		"refused, and goes on":         {append(append(asked, line{second, false, failed}), goesOn...), 5 * second, []Call{{Took: 5 * second}}},
		"accepted, and goes on": {append(append(asked, line{second, false, accepted}), slices.Repeat(goesOn, 10)...), 3*second + acceptedTime,
			[]Call{{Took: 3*second + acceptedTime}}},
		"too late": {append([]line{{0, true, request}, {second, false, completed}, {0, true, interruption}, {second, true, request}}, append(goesOn, line{0, false, completed})...), 0,
			[]Call{{Took: second, Tokens: 7, Status: 200}, {Took: 7 * second, Tokens: 7, Status: 200}}},
		"too late, and nothing follows": {[]line{{0, true, request}, {second, false, completed}, {0, true, interruption}}, 0,
			[]Call{{Took: second, Tokens: 7, Status: 200}}},
		"ended by another word": {append(append(asked, line{second, false, `{"type":"response.canceled"}`}, line{0, true, request}), append(goesOn, line{0, false, completed})...), 0,
			[]Call{{Took: 3 * second}, {Took: 7 * second, Tokens: 7, Status: 200}}},
		"another word of codex's": {append(asked[:2:2], line{second, true, `{"type": "response.later", "response_id":"r1"}`}, line{10 * second, false, completed}), 0,
			[]Call{{Took: 12 * second, Tokens: 7, Status: 200}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t)
				began, lasted := time.Now(), make(chan time.Duration, 1)
				go func() {
					<-s.ended
					lasted <- time.Since(began)
				}()
				s.scene(t, slices.Clone(c.lines))
				if c.lasts == 0 {
					time.Sleep(2 * heedTime)
					c.lasts = time.Since(began)
					s.over()
				}
				if got := <-lasted; got != c.lasts {
					t.Errorf("it lasts for %v, want %v", got, c.lasts)
				}
				if len(s.calls) != len(c.calls) {
					t.Fatalf("%d calls: %+v", len(s.calls), s.calls)
				}
				for i, got := range s.calls {
					if got = (Call{Took: got.Took, Tokens: got.Tokens, Status: got.Status}); got != c.calls[i] {
						t.Errorf("call %d: %+v, want %+v", i, got, c.calls[i])
					}
				}
			})
		})
	}
}
