package tasks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// taken is what a watch has noted, as "task state".
func taken(t *testing.T, w *tasks.Watch) (all []string) {
	t.Helper()
	synctest.Wait()
	select {
	case <-w.Changed():
	default:
		return nil
	}
	changed, lost := w.Take()
	if lost {
		t.Error("something was lost")
	}
	for _, b := range changed {
		all = append(all, b.Title+" "+short(b.State))
	}
	return all
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner()
		e := newEngine(t, r)
		begin(t, e, request("m0", "c0", "before"))
		r.next(t)
		w := e.Watch()
		defer w.Close()
		if got := taken(t, w); got != nil {
			t.Errorf("a new watch has %q", got)
		}
		first := begin(t, e, request("m1", "c1", "first\n message"))
		one := r.next(t)
		if got := taken(t, w); !slices.Equal(got, []string{"first message submitted"}) {
			t.Errorf("accepted: %q", got)
		}
		one.start()
		one.say("a", "text")
		one.say("a", "more")
		if got := taken(t, w); !slices.Equal(got, []string{"first message working"}) {
			t.Errorf("begun: %q", got)
		}
		one.say("a", "and more") // which changes no state
		if got := taken(t, w); got != nil {
			t.Errorf("text: %q", got)
		}
		one.observe(agent.Question{ID: "q", Text: "may I?"})
		begin(t, e, request("m2", "c2", "second"))
		if got := taken(t, w); !slices.Equal(got, []string{"first message input_required", "second submitted"}) {
			t.Errorf("asked, and another: %q", got)
		}
		time.Sleep(time.Second)
		one.answer("done")
		if got := taken(t, w); !slices.Equal(got, []string{"first message completed"}) {
			t.Errorf("ended: %q", got)
		}
		newest, err := e.Newest(t.Context(), 2)
		if err != nil || len(newest) != 2 || newest[0].ID != first.ID || newest[0].State != a2a.TaskStateCompleted ||
			newest[0].Title != "first message" || newest[1].Title != "second" || newest[0].At.IsZero() {
			t.Errorf("the newest are %+v, %v", newest, err)
		}
		w.Close()
		r.next(t).start().answer("done")
		if got := taken(t, w); got != nil {
			t.Errorf("a closed watch has %q", got)
		}
	})
}

// TestWatchThatNobodyReads holds on to a bounded number of tasks, and says so.
func TestWatchThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner()
		e := newEngine(t, r)
		w := e.Watch()
		defer w.Close()
		for i := range 300 {
			begin(t, e, request(fmt.Sprintf("m%d", i), "", "/status"))
		}
		synctest.Wait() // they end by themselves
		changed, lost := w.Take()
		if len(changed) != 256 || !lost {
			t.Errorf("%d tasks were kept, lost %t; want 256, true", len(changed), lost)
		}
		if changed, lost = w.Take(); len(changed) != 0 || lost {
			t.Errorf("taken again: %d tasks, lost %t", len(changed), lost)
		}
	})
}

// TestBriefs: who sent a task stands in its first message, as far as that says so, and
// what is shown of a message is short.
func TestBriefs(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	for id, c := range map[string]struct {
		meta   map[string]any
		caller string
	}{
		"plain":   {nil, ""},
		"canvas":  {map[string]any{"source": "canvas_user"}, "user"},
		"peer":    {map[string]any{"source_workspace_id": "ws-7"}, "agent ws-7"},
		"posing":  {map[string]any{"source_workspace_id": " user ", "source": "canvas_user"}, "agent user"},
		"agent":   {map[string]any{"delegation_id": "d"}, "agent"},
		"self":    {map[string]any{"source_type": "self-idle"}, "platform"},
		"console": {map[string]any{"source": "console"}, "console"},
		"odd":     {map[string]any{"source": 7.0}, ""},
		"long":    {map[string]any{"source": strings.Repeat("x", 1000)}, strings.Repeat("x", 63) + "…"},
	} {
		req := request(id, "c-"+id, strings.Repeat("é", 500)+"\n")
		req.Message.Metadata = c.meta
		begin(t, e, req)
		newest, err := e.Newest(t.Context(), 100)
		i := slices.IndexFunc(newest, func(b tasks.Brief) bool { return b.ContextID == "c-"+id })
		if err != nil || i < 0 {
			t.Fatalf("%s: not among the newest, %v", id, err)
		}
		if b := newest[i]; b.Caller != c.caller || b.Title != strings.Repeat("é", 119)+"…" {
			t.Errorf("%s: caller %q, title %q; want %q", id, b.Caller, b.Title, c.caller)
		}
	}
}

// TestBriefOfALongMessage: what is too long to be looked at is not.
func TestBriefOfALongMessage(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	for i, text := range []string{"short " + strings.Repeat("x", 100<<10), "long " + strings.Repeat("y", 300<<10)} {
		begin(t, e, request(fmt.Sprintf("m%d", i), fmt.Sprintf("c%d", i), text))
		r.next(t).start().answer("done")
	}
	newest, err := e.Newest(t.Context(), 10)
	titles := map[string]string{}
	for _, b := range newest {
		titles[b.ContextID] = b.Title
	}
	if err != nil || !strings.HasPrefix(titles["c0"], "short xxx") || titles["c1"] != "(a long message)" {
		t.Errorf("titles are %.60q, %v", titles, err)
	}
}

func TestTaskOf(t *testing.T) {
	for job, want := range map[string]a2a.TaskID{"": "", "task.1": "task", "a.b.12": "a.b", "none": "none"} {
		if got := tasks.TaskOf(job); got != want {
			t.Errorf("TaskOf(%q) = %q, want %q", job, got, want)
		}
	}
}
