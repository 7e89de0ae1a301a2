package tasks_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

func offering(c *tasks.Config) { c.Files, c.OfferFiles = &cabinet{}, true }

const png = "\x89PNG\r\n\x1a\n"

// painted is a picture that a turn has made.
func painted(id, content string) agent.Event {
	return agent.ItemCompleted{Item: agent.Item{Kind: agent.KindOther, ID: id, Picture: []byte(content)}}
}

// files are the parts of a task that are files, by the artifact that they stand in.
func filesOf(task *a2a.Task) (out []string) {
	for _, a := range task.Artifacts {
		for _, p := range a.Parts {
			if p.URL() != "" {
				out = append(out, string(a.ID)+" "+string(p.URL())+" "+p.Filename+" "+p.MediaType)
			}
		}
	}
	return out
}

// TestNamedFilesStandBehindTheText of the reply that names them, in the stream, in the
// task, and after a restart in the middle of the turn before its end.
func TestNamedFilesStandBehindTheText(t *testing.T) {
	m := newMachine(t, offering)
	stream := listen(m.e.SendStreamingMessage(t.Context(), request("m1", "c", "hi")))
	j := m.r.next(t).start()
	j.whole("a", "it is in /w/out.pdf", agent.PhaseFinalAnswer)
	j.end(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "a", Text: "it is in /w/out.pdf", Phase: agent.PhaseFinalAnswer}}})
	events := stream.wait(t)
	id := events[0].(*a2a.Task).ID
	var last *a2a.TaskArtifactUpdateEvent
	text, lasts := "", 0
	for _, event := range events {
		if u, ok := event.(*a2a.TaskArtifactUpdateEvent); ok {
			for _, p := range u.Artifact.Parts {
				text += p.Text()
			}
			if last = u; u.LastChunk {
				lasts++
			}
		}
	}
	if text != "it is in /w/out.pdf" || last == nil || !last.Append || lasts != 1 || !last.LastChunk || len(last.Artifact.Parts) != 2 || last.Artifact.Parts[1].URL() == "" {
		t.Errorf("text %q with %d last chunks, and at last %+v", text, lasts, last)
	}
	want := []*a2a.Artifact{{
		ID: "a", Name: "message", Metadata: map[string]any{"phase": "final_answer"},
		Parts: a2a.ContentParts{a2a.NewTextPart("it is in /w/out.pdf"), {Content: a2a.URL("workspace:/w/out.pdf"), Filename: "out.pdf", MediaType: "application/pdf"}},
	}}
	for range 2 {
		if diff := cmp.Diff(want, get(t, m.e, id).Artifacts); diff != "" {
			t.Errorf("artifacts (-want +got):\n%s", diff)
		}
		m.restart()
	}
}

// A scribe hands out a file whatever a reply says, and notes what it was asked.
type scribe struct {
	cabinet
	by    attach.Maker
	asked attach.ReplyText
}

func (s *scribe) Offer(by attach.Maker, reply attach.ReplyText) []attach.File {
	s.by, s.asked = by, reply
	return []attach.File{{URI: "workspace:/w/out.pdf", Name: "out.pdf", MediaType: "application/pdf"}}
}

// TestRelativeNamesInAReply: their files come in the last chunk, too, of which there is
// one; they are looked for where the turn worked, and since the task was made.
func TestRelativeNamesInAReply(t *testing.T) {
	work := t.TempDir()
	for _, text := range []string{"it is in `out.pdf`", "it is in [it](out.pdf)"} {
		box := &scribe{}
		m := newMachine(t, func(c *tasks.Config) { c.Files, c.OfferFiles, c.Bounds.WorkDir = box, true, work })
		before := time.Now().Truncate(time.Millisecond)
		req := request("m1", "c", "hi")
		req.Message.Metadata = map[string]any{keys.Cwd: work}
		stream := listen(m.e.SendStreamingMessage(t.Context(), req))
		j := m.r.next(t).start()
		j.whole("a", text, agent.PhaseFinalAnswer)
		j.end(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "a", Text: text, Phase: agent.PhaseFinalAnswer}}})
		lasts := 0
		for _, event := range stream.wait(t) {
			if u, ok := event.(*a2a.TaskArtifactUpdateEvent); ok && u.LastChunk {
				lasts++
			}
		}
		if lasts != 1 {
			t.Errorf("%s: %d last chunks", text, lasts)
		}
		dir, err := filepath.EvalSymlinks(work)
		if got := box.asked; err != nil || got.Text != text || got.Dir != dir || got.Since.Before(before) || got.Since.After(time.Now()) {
			t.Errorf("asked for %+v, %v", got, err)
		}
	}
}

// TestWhoseReplyItIs: what a reply to another agent names is told from the rest.
func TestWhoseReplyItIs(t *testing.T) {
	box := &scribe{}
	d := newDesk(t, func(c *tasks.Config) { c.Files, c.OfferFiles = box, true })
	for name, peer := range map[string]bool{"user": false, "peer-9": true} {
		meta := map[string]any{"source": "canvas_user"}
		if peer {
			meta = by(name)
		}
		c := d.call(name, "", meta, "hi")
		d.r.next(t).start().answer("it is in /w/out.pdf")
		c.wait(t)
		if want := (attach.Maker{Task: c.task.ID, Peer: peer}); box.by != want {
			t.Errorf("%s: the files are of %+v, want %+v", name, box.by, want)
		}
	}
}

func TestPicturesOfATurn(t *testing.T) {
	m := newMachine(t, offering)
	task := begin(t, m.e, request("m1", "c", "paint"))
	j := m.r.next(t).start()
	j.observe(tool("t1"))
	j.observe(painted("ig", png))
	j.observe(painted("none", "")) // it failed
	j.observe(painted("odd", "odd"))
	m.save(task.ID)
	want := []string{"ig kept:image.png image.png image/png", "odd kept:image.bin image.bin text/plain"}
	if diff := cmp.Diff(want, filesOf(get(t, m.e, task.ID))); diff != "" {
		t.Errorf("while it runs (-want +got):\n%s", diff)
	}
	part := get(t, m.e, task.ID).Artifacts[0].Parts[0]
	if ref, ok := attach.KeptOf(part); !ok || ref != string(task.ID)+"/token-of-ig/image.png" || part.Metadata[attach.MetaSize] != 8.0 || part.Metadata[attach.MetaExpires] != "2030-01-02T03:04:05Z" {
		t.Errorf("%q, %v", ref, part.Metadata)
	}
	if _, ok := attach.KeptOf(attach.Unkept(part)); ok || part.Metadata["kept"] == nil {
		t.Error("the token is shown, or the task has lost it")
	}

	// The turn has its end while we are gone: the pictures stand, and are not made again.
	m.restart()
	j = m.r.next(t)
	j.end(agent.Ended{Outcome: agent.Completed, Tools: true, Messages: []agent.Message{{ItemID: "a", Text: "painted"}}})
	after := get(t, m.e, task.ID)
	if diff := cmp.Diff(want, filesOf(after)); diff != "" {
		t.Errorf("after a restart (-want +got):\n%s", diff)
	}
	if reply := reply.Of(after); len(reply.Parts) != 3 || reply.Parts[0].Text() != "painted" {
		t.Errorf("reply = %v", reply.Parts)
	}
}

// TestFilesOfAWholeAnswer: a reader that is given the text once more with its last chunk
// gets the files once, however late it reads.
func TestFilesOfAWholeAnswer(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r, offering)
	req := request("m1", "c", "hi")
	req.Message.Parts[0].SetMeta("is_user_input", true)
	next, stop := iter.Pull2(e.SendStreamingMessage(t.Context(), req))
	defer stop()
	if _, err, _ := next(); err != nil {
		t.Fatal(err)
	}
	j := r.next(t).start()
	j.say("a", "it is in ")
	j.end(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "a", Text: "it is in /w/out.pdf"}}})
	var shown []string
	for {
		event, err, ok := next()
		if !ok || err != nil {
			break
		}
		if u, is := event.(*a2a.TaskArtifactUpdateEvent); is && u.LastChunk {
			line := fmt.Sprintf("append %v:", u.Append)
			for _, p := range u.Artifact.Parts {
				line += " " + p.Text() + string(p.URL())
			}
			shown = append(shown, line)
		}
	}
	if diff := cmp.Diff([]string{"append false: it is in /w/out.pdf workspace:/w/out.pdf"}, shown); diff != "" {
		t.Errorf("last chunks (-want +got):\n%s", diff)
	}
}

// TestLastChunkOfAMessageThatNamesFiles waits for the end of the turn if the message may be
// the reply, and for nothing else: the turn may go on for long.
func TestLastChunkOfAMessageThatNamesFiles(t *testing.T) {
	for name, c := range map[string]struct {
		phase string
		next  agent.Event // after the message is whole
		end   agent.Ended
		want  []string
	}{
		"the reply":     {agent.PhaseFinalAnswer, nil, agent.Ended{Outcome: agent.Completed}, []string{"in /w/out.pd", "f workspace:/w/out.pdf last"}},
		"commentary":    {agent.PhaseCommentary, nil, agent.Ended{Outcome: agent.Failed}, []string{"in /w/out.pd", "f last"}},
		"a tool":        {"", tool("t1"), agent.Ended{Outcome: agent.Completed}, []string{"in /w/out.pd", "f last", "workspace:/w/out.pdf last"}},
		"another":       {"", agent.TextDelta{ItemID: "b", Text: "ok"}, agent.Ended{Outcome: agent.Failed}, []string{"in /w/out.pd", "f last", "o", "k last"}},
		"a failed turn": {"", nil, agent.Ended{Outcome: agent.Failed}, []string{"in /w/out.pd", "f last"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			e := newEngine(t, r, offering)
			stream := listen(e.SendStreamingMessage(t.Context(), request("m1", "c", "hi")))
			j := r.next(t).start()
			j.say("a", "in /w/out.pdf")
			j.whole("a", "in /w/out.pdf", c.phase)
			if c.next != nil {
				j.observe(c.next)
			}
			c.end.Messages = []agent.Message{{ItemID: "a", Text: "in /w/out.pdf", Phase: c.phase}}
			j.end(c.end)
			var got []string
			for _, event := range stream.wait(t) {
				u, ok := event.(*a2a.TaskArtifactUpdateEvent)
				if !ok {
					continue
				}
				var words []string
				for _, p := range u.Artifact.Parts {
					words = append(words, p.Text()+string(p.URL()))
				}
				if u.LastChunk {
					words = append(words, "last")
				}
				got = append(got, strings.Join(words, " "))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("chunks (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNothingIsHandedOut where that is switched off, by a turn that failed, or when the
// disk is full: the turn has its end all the same.
func TestNothingIsHandedOut(t *testing.T) {
	named := []agent.Message{{ItemID: "a", Text: "see /w/out.pdf"}}
	for name, c := range map[string]struct {
		change func(*tasks.Config)
		end    agent.Ended
	}{
		"off":    {func(c *tasks.Config) { c.Files = &cabinet{} }, agent.Ended{Outcome: agent.Completed, Messages: named}},
		"failed": {offering, agent.Ended{Outcome: agent.Failed, Messages: named}},
		"full": {func(c *tasks.Config) { c.Files, c.OfferFiles = &cabinet{err: attach.ErrNoFile}, true },
			agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "a", Text: "done"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			e := newEngine(t, r, c.change)
			task := begin(t, e, request("m1", "c", "hi"))
			j := r.next(t).start()
			if name != "failed" {
				j.observe(painted("ig", png))
			}
			j.end(c.end)
			if got := get(t, e, task.ID); !got.Status.State.Terminal() || len(filesOf(got)) != 0 {
				t.Errorf("%s with %q", got.Status.State, filesOf(got))
			}
		})
	}
}

// TestPushedFiles have the form for receivers, in both versions.
func TestPushedFiles(t *testing.T) {
	var st *store.Store
	r := newRunner()
	e := newEngine(t, r, offering, func(c *tasks.Config) {
		st = newJournal(t)
		c.Journal = st
		c.Push = &tasks.Push{
			Check: func(string) error { return nil }, Wake: func() {},
			TaskV0: func(task *a2a.Task) ([]byte, error) { return json.Marshal(task) },
			Show: func(event a2a.Event) a2a.Event {
				switch e := event.(type) {
				case *a2a.TaskArtifactUpdateEvent:
					out := *e
					out.Artifact = &a2a.Artifact{ID: "shown"}
					return &out
				case *a2a.Task:
					out := *e
					out.Artifacts = []*a2a.Artifact{{ID: "shown"}}
					return &out
				}
				return event
			},
		}
	})
	req := request("m1", "c", "hi")
	req.Config = &a2a.SendMessageConfig{ReturnImmediately: true, PushConfig: &a2a.PushConfig{ID: "p", URL: hook}}
	if _, err := e.SendMessage(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	old := request("m2", "d", "hi")
	old.Config = req.Config
	if _, err := e.SendMessage(tasks.WithV0(t.Context()), old); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		j := r.next(t).start()
		j.observe(painted("ig", png))
		j.whole("a", "it is in /w/out.pdf", "")
		j.end(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "a", Text: "it is in /w/out.pdf"}}})
	}
	seen, artifacts := map[string]bool{}, 0
	for _, n := range notified(t, st) {
		artifacts += strings.Count(n, "artifactUpdate")
		if strings.Contains(n, "token-of") {
			t.Errorf("the copy's place is told: %s", n)
		}
		seen[push.V0] = seen[push.V0] || strings.Contains(n, " "+push.V0+" ") && strings.Contains(n, "shown")
		seen[push.V1] = seen[push.V1] || strings.Contains(n, " "+push.V1+" ") && strings.Contains(n, "shown")
	}
	if artifacts != 2 { // of 1.0: the picture, and the answer with its file
		t.Errorf("%d artifacts were told, the answer not once", artifacts)
	}
	if !seen[push.V0] || !seen[push.V1] {
		t.Errorf("what is shown is not what is told: %v", seen)
	}
}
