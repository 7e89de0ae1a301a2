package desk_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/channel/desk"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// TestNotesAreKept: what is told later takes nothing away from what was noted. There is a bound, and by it what is not known
// to have arrived is not forgotten. All messages are noted by one commit, which need not be on the disk when it is sent.
func TestNotesAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		c.put(1, func(m *channel.Message) { m.Note = "A codex had it." })
		c.put(2)
		c.desk.Peek(0, 9, every)
		told, _ := c.desk.Telling(t.Context(), ours, "", "zero")
		told(&platform.Error{Op: "notify", Status: 502})
		told, _ = c.desk.Telling(t.Context(), ours, "", "one")
		told(nil)
		if want := []bool{true, true, false}; !slices.Equal(c.book.commits, want) {
			t.Errorf("commits: %v, want %v", c.book.commits, want)
		}
		lines := strings.Split(c.book.notes[1], "\n")
		if len(lines) != 3 || lines[0] != "A codex had it." || !strings.Contains(lines[1], `"zero". Whether it arrived is not known`) || !strings.Contains(lines[2], `sent this sender: "one"`) {
			t.Errorf("noted: %q", lines)
		}
		if c.book.notes[2] != strings.Join(lines[1:], "\n") {
			t.Errorf("of the other: %q", c.book.notes[2])
		}
		for i := range 20 {
			told, _ := c.desk.Telling(t.Context(), ours, "", fmt.Sprint("more ", i))
			if i < 3 {
				told(&platform.Error{Op: "notify", Status: 502})
			} else {
				told(nil)
			}
		}
		lines = strings.Split(c.book.notes[1], "\n")
		if len(lines) != 9 || lines[0] != "A codex had it." || !strings.Contains(lines[1], `"zero"`) || !strings.Contains(lines[2], `"one"`) ||
			!strings.HasPrefix(lines[3], "Then you sent this sender 15 more things; of 3 of them") || !strings.Contains(lines[8], `"more 19"`) {
			t.Errorf("noted:\n%s", c.book.notes[1])
		}
		_, _, _ = c.desk.Pop(t.Context(), desk.Name{ID: "m1"})
		_, _, _ = c.desk.Pop(t.Context(), desk.Name{ID: "m2"})
		c.wg.Wait()
	})
}

// TestLeftWhileItIsAnswered: when the workspace of a message is gone, that is said, and at once.
func TestLeftWhileItIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		if _, err := c.desk.Give(t.Context(), channel.Message{ID: "m1", Workspace: ours, N: 1}); err != nil { // which has no follower
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, func() { c.desk.Leave(ours) })
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, fate, err := c.desk.Reply(ctx, desk.Name{ID: "m1"}, "hi"); fate != desk.Gone || !errors.Is(err, desk.ErrNotThere) || time.Since(began) != time.Second {
			t.Errorf("%v, %v after %s", fate, err, time.Since(began))
		}
	})
}

// TestNames: messages of one id, of several platforms, are told apart, and so are ids that differ in case only.
func TestNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		c.put(1, func(m *channel.Message) { m.ID = "same" })
		c.put(2, func(m *channel.Message) { m.ID, m.Workspace = "same", "other" })
		c.put(3, func(m *channel.Message) { m.ID = "Abc" })
		c.put(4, func(m *channel.Message) { m.ID = "aBc" })
		c.put(5)
		c.book.everywhere = map[string]bool{"same": true}
		row := store.InboxRow{State: store.InboxGiven}
		c.book.rows["same"] = row
		if _, _, err := c.desk.Reply(t.Context(), desk.Name{ID: "same"}, "hi"); !errors.Is(err, desk.ErrSeveral) {
			t.Errorf("of two: %v", err)
		}
		if _, err := c.desk.Look(t.Context(), desk.Name{ID: "same"}); !errors.Is(err, desk.ErrSeveral) {
			t.Errorf("a look at one of two: %v", err)
		}
		if m, _, err := c.desk.Reply(t.Context(), desk.Name{Workspace: "OTHER", ID: "same"}, "hi"); err != nil || m.Workspace != "other" {
			t.Errorf("of one of two: %+v, %v", m, err)
		}
		if m, _, err := c.desk.Pop(t.Context(), desk.Name{Workspace: ours, ID: "aBc"}); err != nil || m.ID != "aBc" {
			t.Errorf("of one case: %+v, %v", m, err)
		}
		c.put(6, func(m *channel.Message) { m.ID = "aBC" })
		if _, _, err := c.desk.Pop(t.Context(), desk.Name{ID: "ABC"}); !errors.Is(err, desk.ErrNotThere) {
			t.Errorf("of a case that fits two: %v", err)
		}
		if m, _, err := c.desk.Pop(t.Context(), desk.Name{ID: "M5"}); err != nil || m.ID != "m5" {
			t.Errorf("of a case that fits one: %+v, %v", m, err)
		}
		for _, of := range []desk.Name{{Workspace: ours, ID: "same"}, {ID: "Abc", Workspace: ours}, {ID: "aBC", Workspace: ours}} {
			if _, _, err := c.desk.Pop(t.Context(), of); err != nil {
				t.Errorf("%v: %v", of, err)
			}
		}
		c.wg.Wait()
	})
}
