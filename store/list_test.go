package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTasks compares pages with what a plain filter and sort say.
func TestTasks(t *testing.T) {
	s := open(t, Config{})
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(1, 2))
	var all []Head
	for i := range 60 {
		h := Head{
			ID: fmt.Sprintf("task-%02d", i), Context: fmt.Sprintf("context-%d", rng.IntN(3)), Body: []byte{byte(i)},
			State: []string{"working", "completed", "failed"}[rng.IntN(3)], At: time.Unix(int64(1+rng.IntN(20)), 0).UTC(),
		}
		h.Ended = h.State != "working"
		must(t, s.Write(ctx, Change{Head: &h}))
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b Head) int {
		if c := b.At.Compare(a.At); c != 0 {
			return c
		}
		return strings.Compare(b.ID, a.ID)
	})
	for _, q := range []Query{
		{}, {Context: "context-1"}, {State: "failed"}, {Context: "context-2", State: "working"},
		{Since: time.Unix(10, 0)}, {Context: "context-0", State: "completed", Since: time.Unix(5, 0)}, {Context: "none"},
	} {
		want := slices.DeleteFunc(slices.Clone(all), func(h Head) bool {
			return q.Context != "" && h.Context != q.Context || q.State != "" && h.State != q.State || h.At.Before(q.Since)
		})
		q.Limit = 7
		for left := want; ; {
			page, err := s.Tasks(ctx, q)
			must(t, err)
			n := min(len(left), q.Limit)
			var heads []Head
			for _, task := range page.Tasks {
				heads = append(heads, task.Head)
			}
			equal(t, heads, append([]Head(nil), left[:n]...))
			equal(t, page.Total, len(want))
			equal(t, page.More, len(left) > n)
			if left = left[n:]; len(left) == 0 {
				break
			}
			q.After = Position{At: heads[n-1].At, ID: heads[n-1].ID}
		}
	}
}

func TestTasksWithContents(t *testing.T) {
	s := open(t, Config{})
	ctx := t.Context()
	for i := range 3 {
		accept(t, s, i, "task")
	}
	must(t, s.Write(ctx, Change{Task: "task", Artifacts: [][]byte{[]byte("old"), []byte("old too")}}))
	must(t, s.Write(ctx, Change{Task: "task", Artifacts: [][]byte{[]byte("new")}}))
	texts := [][]byte{[]byte("text 0"), []byte("text 1"), []byte("text 2")}
	for most, want := range map[int][][]byte{0: nil, 5: nil, 6: texts[:1], 1000: texts[:1]} {
		page, err := s.Tasks(ctx, Query{Limit: 1, Opening: most})
		must(t, err)
		equal(t, page.Tasks[0].History, want)
	}
	for history, want := range map[int][][]byte{0: nil, 1: texts[2:], 2: texts[1:], 9: texts, -1: texts} {
		for _, artifacts := range []bool{false, true} {
			page, err := s.Tasks(ctx, Query{Limit: 1, History: history, Artifacts: artifacts})
			must(t, err)
			equal(t, page.Tasks[0].History, want)
			if artifacts {
				equal(t, page.Tasks[0].Artifacts, [][]byte{[]byte("new")})
			} else {
				equal(t, page.Tasks[0].Artifacts, nil)
			}
		}
	}
}
