package forward

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestInterruptions has codex interrupt an answer, as it does where a message is to be heeded at once.
func TestInterruptions(t *testing.T) {
	const accepted, ended = `{"type":"response.interrupt.accepted","response_id":"r1"}`, `{"type":"response.incomplete","response":{"usage":{"output_tokens":7}}}`
	for name, c := range map[string]struct {
		answers []string // one in each second
		lasts   bool     // the relay, and so the answer
		took    time.Duration
	}{
		"accepted":            {[]string{accepted, "{}", "{}", "{}", "{}", ended}, true, 7 * time.Second},
		"ended":               {[]string{"{}", ended}, true, 3 * time.Second},
		"refused":             {[]string{`{"type":"error","status":400,"error":{"message":"no"}}`}, true, 2 * time.Second},
		"ignored":             {[]string{"{}", "{}", "{}", "{}", "{}", "{}"}, false, 4 * time.Second},
		"ignored, in silence": {nil, false, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t)
				heard, _ := reads(s.endpoint), reads(s.codex)
				for _, text := range []string{`{"type":"response.create"}`, `{"type":"response.interrupt","response_id":"r1","mode":"discard_partial_items"}`} {
					if err := say(s.codex, text); err != nil {
						t.Fatal(err)
					}
					if got := <-heard; got != text {
						t.Errorf("the endpoint hears %q", got)
					}
					time.Sleep(time.Second)
				}
				for _, answer := range c.answers {
					if say(s.endpoint, answer) != nil {
						break
					}
					time.Sleep(time.Second)
				}
				if c.lasts {
					s.over()
				}
				s.lasts()
				if len(s.calls) != 1 || s.calls[0].Took != c.took || (s.calls[0].Status != 0) != c.lasts {
					t.Errorf("%d calls: %+v", len(s.calls), s.calls)
				}
			})
		})
	}
}
