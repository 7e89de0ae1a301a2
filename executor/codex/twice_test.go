package codex

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
		in := &inquiry{most: 1, wake: func() {}}
		put := func(thread, params string) *question {
			asks, _, err := ask.Read("item/fileChange/requestApproval", []byte(params), ask.Terms{})
			if err != nil {
				t.Fatal(err)
			}
			q := &question{req: &appserver.Request{ThreadID: thread}, asks: asks}
			_ = in.add(q) // that there is no room for it changes nothing
			return q
		}
		q := put(one, `{"itemId":"i"}`)
		in.take("turn")
		in.give(q, response{})
		put(c.thread, c.params)
		if in.doubted() != c.twice || in.handOver(q) == c.twice {
			t.Errorf("%s: taken for two calls with one id: %t", name, in.twice)
		}
	}
}
