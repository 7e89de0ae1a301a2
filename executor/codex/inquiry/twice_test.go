package inquiry

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/ask"
)

// TestTwiceHandsNothingOver: also an answer that was given before is not codex's to have.
func TestTwiceHandsNothingOver(t *testing.T) {
	t.Parallel()
	one, two := "one", "two"
	for name, c := range map[string]struct {
		thread, params string
		twice          bool
	}{
		"the same":          {one, `{"itemId":"i"}`, true},
		"another":           {one, `{"itemId":"j"}`, false},
		"of another thread": {two, `{"itemId":"i"}`, false},
		"one of several":    {one, `{"itemId":"i","approvalId":"a"}`, false},
		"no id":             {one, `{}`, false},
	} {
		in := &Inquiry{Bounds: Bounds{Most: 1}, wake: func() {}}
		put := func(thread, params string) *Question {
			asks, _, err := ask.Read("item/fileChange/requestApproval", []byte(params), ask.Terms{})
			if err != nil {
				t.Fatal(err)
			}
			q := &Question{Req: &appserver.Request{ThreadID: thread}, Asks: asks}
			_ = in.Add(q) // that there is no room for it changes nothing
			return q
		}
		q := put(one, `{"itemId":"i"}`)
		in.Take("turn")
		in.give(q, Response{})
		put(c.thread, c.params)
		if in.Doubted() != c.twice || in.HandOver(q) == c.twice {
			t.Errorf("%s: taken for two calls with one id: %t", name, in.twice)
		}
	}
}
