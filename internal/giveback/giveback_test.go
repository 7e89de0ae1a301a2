package giveback

import "testing"

// TestMemoryIsGivenBack when much of it was let go of, and then not again at once.
func TestMemoryIsGivenBack(t *testing.T) {
	const mib = 1 << 20
	var held, resident, live int64
	w := &Watch{Held: func() int64 { return held }, Heap: func() (int64, int64) { return resident, live }}
	for i, look := range []struct {
		what                 string
		held, resident, live int64
		due                  bool
	}{
		{"at the start", 0, 8, 4, false},
		{"messages wait", 60, 130, 64, false},
		{"they have ended", 0, 130, 64, true},
		{"given back", 0, 8, 4, false},
		{"refused ones came", 0, 260, 20, false},
		{"they are still there, soon after", 0, 260, 20, false},
		{"later", 0, 260, 20, false},
		{"later", 0, 260, 20, false},
		{"long after", 0, 260, 20, true},
		{"given back", 0, 24, 20, false},
		{"", 0, 24, 20, false}, {"", 0, 24, 20, false}, {"", 0, 24, 20, false}, {"", 0, 24, 20, false},
		{"it grows", 0, 200, 20, false},
		{"it goes on growing", 0, 220, 20, false},
		{"a large heap that is alive", 0, 200, 180, false},
	} {
		held, resident, live = look.held*mib, look.resident*mib, look.live*mib
		if got := w.Due(); got != look.due {
			t.Errorf("look %d, %s: due is %v", i, look.what, got)
		}
	}
	if resident, live := Heap(); resident < live/2 || resident == 0 {
		t.Errorf("the heap takes %d bytes, %d are alive", resident, live)
	}
}
