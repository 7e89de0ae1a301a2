package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// button waits until the user has the nth request, and returns it.
func button(t *testing.T, h *fakeplatform.Handle, n int) fakeplatform.Ask {
	t.Helper()
	progtest.WaitFor(t, "a request to the user", func() bool { return len(h.Asks()) > n })
	return h.Asks()[n]
}

func press(t *testing.T, h *fakeplatform.Handle, id string, approve bool) fakeplatform.Reply {
	t.Helper()
	reply, err := h.Press(t.Context(), id, approve)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// saidTo reports whether the user was told something that has the words in it.
func saidTo(h *fakeplatform.Handle, words string) bool {
	return slices.ContainsFunc(h.Notices(), func(n fakeplatform.Notice) bool { return strings.Contains(n.Message, words) })
}

// TestButtons: the user answers what codex asks with a button, in either era.
func TestButtons(t *testing.T) {
	t.Parallel()
	eras(t, func(t *testing.T, m *member) {
		m.online()
		for i, approve := range []bool{true, false} {
			want := "rejected by user"
			if approve {
				want = "ran"
			}
			got := m.user(fmt.Sprint("m", i), "escalate echo ran")
			if !strings.Contains(got, "echo ran") {
				t.Fatalf("asked %q", got)
			}
			ask := button(t, m.handle, i)
			if ask.Kind != "approval" || !strings.Contains(ask.Title, "run a command") || !strings.Contains(ask.Detail, "echo ran") || !strings.Contains(ask.Detail, "Deny a no") {
				t.Errorf("the user has %+v", ask)
			}
			reply := press(t, m.handle, ask.ID, approve)
			if len(reply.Body) > 0 { // the platform has sent the decision, and shows the answer
				if text, _ := readReply(t, string(reply.Body)); !strings.Contains(text, want) {
					t.Errorf("the decision was answered with %q", text)
				}
				continue
			}
			progtest.WaitFor(t, "the answer to reach the user", func() bool { return saidTo(m.handle, want) })
		}
	})
}
