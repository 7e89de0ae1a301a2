package tasks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// TestDiffComesBeforeTheAnswer, as it is known by then, and anew only if it has changed.
func TestDiffComesBeforeTheAnswer(t *testing.T) {
	changed := func(diff string) func(*job) {
		return func(j *job) { j.observe(agent.DiffUpdated{Diff: diff}) }
	}
	say := func(id, text string) func(*job) { return func(j *job) { j.whole(id, text, "") } }
	end := func(diff string) func(*job) {
		return func(j *job) { j.end(agent.Ended{Outcome: agent.Completed, Diff: diff}) }
	}
	cases := map[string]struct {
		steps  []func(*job)
		stream string
		texts  string
	}{
		"once":          {[]func(*job){changed("+1"), changed("+2"), say("f", "done"), end("+2")}, `new diff "+2" last|new f "done" last`, `diff="+2" f="done"`},
		"changed-again": {[]func(*job){changed("+1"), say("c", "one"), changed("+2"), say("f", "done"), end("+2")}, `new diff "+1" last|new c "one" last|new diff "+2" last|new f "done" last`, `diff="+2" c="one" f="done"`},
		"after-it":      {[]func(*job){say("f", "done"), changed("+1"), end("+1")}, `new f "done" last|new diff "+1" last`, `diff="+1" f="done"`},
		"changed-back":  {[]func(*job){changed("+1"), say("c", "one"), changed(""), say("f", "done"), end("")}, `new diff "+1" last|new c "one" last|new diff "" void|new f "done" last`, `c="one" f="done"`},
		"and-changed":   {[]func(*job){changed("+1"), say("c", "one"), changed(""), say("d", "two"), changed("+2"), say("f", "done"), end("+2")}, `new diff "+1" last|new c "one" last|new diff "" void|new d "two" last|new diff "+2" last|new f "done" last`, `c="one" d="two" diff="+2" f="done"`},
		"back-after-it": {[]func(*job){changed("+1"), say("f", "done"), changed(""), end("")}, `new diff "+1" last|new f "done" last|new diff "" void`, `f="done"`},
		"next-attempt":  {[]func(*job){changed("+1"), say("f", "do"), func(j *job) { j.attempt(2) }, changed("+2"), say("g", "done"), end("+2")}, `new diff "+1" last|new f "do" last|status working|new diff "+2" last|new f "done" last`, `diff="+2" f="done"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			e := newEngine(t, r)
			stream := listen(e.SendStreamingMessage(t.Context(), request("m", "c", "hi")))
			j := r.next(t).start()
			for _, step := range c.steps {
				step(j)
			}
			events := stream.wait(t)
			wantStream(t, events, c.stream)
			task := get(t, e, events[0].TaskInfo().TaskID)
			if got := strings.Join(texts(task), " "); got != c.texts {
				t.Errorf("the task has %s, want %s", got, c.texts)
			}
			if last := task.Artifacts[len(task.Artifacts)-1]; string(last.ID) != task.Metadata[keys.Reply] {
				t.Errorf("the last artifact is %s, want the reply", last.ID)
			}
		})
	}
}

// TestDiffOfATurnThatWasCutOff: what was shown of it stays where nothing else is known, and
// goes where codex has said that everything was changed back.
func TestDiffOfATurnThatWasCutOff(t *testing.T) {
	for name, want := range map[string]string{"unknown": "diff", "changed-back": ""} {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			e := newEngine(t, r)
			id := begin(t, e, request("m", "c", "hi")).ID
			j := r.next(t).start()
			j.observe(agent.DiffUpdated{Diff: "+1"})
			j.whole("c", "one", "commentary")
			if want == "" {
				j.observe(agent.DiffUpdated{})
			}
			j.end(agent.Ended{Outcome: agent.Interrupted})
			got := ""
			for _, a := range get(t, e, id).Artifacts {
				if a.Name == "diff" {
					got = a.Name
				}
			}
			if got != want {
				t.Errorf("the task has %q, want %q", got, want)
			}
		})
	}
}

// TestLongDiffIsNotShownForEachMessage: once, before the answer, and at the end of the turn
// if it has changed since.
func TestLongDiffIsNotShownForEachMessage(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	stream := listen(e.SendStreamingMessage(t.Context(), request("m", "c", "hi")))
	j := r.next(t).start()
	diff := strings.Repeat("+line\n", 20_000)
	for i := range 10 {
		diff += "+more\n"
		j.observe(agent.DiffUpdated{Diff: diff})
		j.whole(fmt.Sprint("c", i), "on", "commentary")
	}
	j.whole("f", "done", "final_answer")
	j.end(agent.Ended{Outcome: agent.Completed, Diff: diff})
	var shown []string
	for _, event := range stream.wait(t) {
		if update, ok := event.(*a2a.TaskArtifactUpdateEvent); ok && update.Artifact.Name == "diff" {
			shown = append(shown, update.Artifact.Parts[0].Text())
		}
	}
	if len(shown) != 2 || shown[1] != diff {
		t.Errorf("the diff was shown %d times", len(shown))
	}
}
