package toolset_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// TestScriptThatCallsWithoutEnd: it gets its pace and no more, nothing piles up, and another
// conversation's calls go through.
func TestScriptThatCallsWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := toolset.New(toolset.Config{Platform: &double{}, Workspace: self})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var mu sync.Mutex
		done, refused := 0, ""
		var calls sync.WaitGroup
		for range 50 {
			calls.Go(func() {
				for ctx.Err() == nil {
					got := s.Call(ctx, toolset.Call{Tool: "list_peers", Thread: "script"})
					mu.Lock()
					switch {
					case !got.Failed:
						done++
					case ctx.Err() == nil: // and not because the test has ended it
						refused = got.Text
					}
					mu.Unlock()
					time.Sleep(time.Second)
				}
			})
		}
		time.Sleep(30 * time.Second)
		began := time.Now()
		if got := s.Call(t.Context(), toolset.Call{Tool: "list_peers", Thread: "another"}); got.Failed || time.Since(began) > time.Second {
			t.Errorf("after %s: %+v", time.Since(began), got)
		}
		calls.Wait()
		if done < 60 || done > 90 || !strings.Contains(refused, "too many calls of the platform at once") {
			t.Errorf("%d calls were carried out, and others refused with %q", done, refused)
		}
	})
}

// TestCallsThatAreOpen: a conversation's have a bound, for codex's questions have the same
// places, and none waits for long for its turn.
func TestCallsThatAreOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := toolset.New(toolset.Config{Platform: stuck{&double{}}, Workspace: self})
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		refused := 0
		var calls sync.WaitGroup
		for range 200 {
			calls.Go(func() {
				if got := s.Call(ctx, toolset.Call{Tool: "list_peers", Thread: "script"}); strings.Contains(got.Text, "at once; this one was not sent") {
					mu.Lock()
					refused++
					mu.Unlock()
				}
			})
		}
		synctest.Wait()
		if refused != 200-32 {
			t.Errorf("%d of 200 calls were refused, want all but 32", refused)
		}
		cancel()
		calls.Wait()
		large := toolset.Call{Tool: "list_peers", Arguments: []byte(`{"x":"` + strings.Repeat("x", 2<<20) + `"}`)}
		if got := s.Call(t.Context(), large); !got.Failed || !strings.Contains(got.Text, "2097152 may be") {
			t.Errorf("%+v", got)
		}
	})
}
