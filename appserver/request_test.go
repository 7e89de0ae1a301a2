package appserver

import (
	"maps"
	"slices"
	"testing"
)

// TestOpenRequestsAreBounded, and calls of tools leave places to what people are asked.
func TestOpenRequestsAreBounded(t *testing.T) {
	var q requests
	add := func(method string, n int) (taken, told int) {
		for range n {
			ok, first := q.add(&Request{Method: method})
			if ok {
				taken++
			}
			if first {
				told++
			}
		}
		return taken, told
	}
	const question = "item/commandExecution/requestApproval"
	for i, c := range []struct {
		method               string
		answered             int // before
		n, wantTaken, wantTo int
	}{
		{MethodToolCall, 0, 1000, 768, 1},
		{question, 0, 200, 200, 0},
		{question, 0, 100, 56, 0},
		{MethodToolCall, 10, 20, 10, 0},
		{MethodToolCall, 600, 1000, 600, 1},
		{question, 1024, 1025, 1024, 1},
	} {
		open := slices.Sorted(maps.Keys(q.open))
		for _, n := range open[:c.answered] { // the calls, which came first
			q.answer(n)
		}
		if taken, told := add(c.method, c.n); taken != c.wantTaken || told != c.wantTo {
			t.Errorf("%d: %d of %d were taken, and %d times it was told; want %d and %d", i, taken, c.n, told, c.wantTaken, c.wantTo)
		}
	}
}
