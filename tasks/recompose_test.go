package tasks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
)

// A watched cabinet counts how often a path is followed, and may have lost a file, or have one
// at another path.
type watched struct {
	cabinet
	followed int
	of       string
	at       string
}

func (w *watched) Path(uri string) (string, error) {
	w.followed++
	path, err := w.cabinet.Path(uri)
	switch {
	case path != w.of:
		return path, err
	case w.at == "":
		return "", attach.ErrNoFile
	}
	return w.at, nil
}

// here is the part of a file that stands there.
func here(name, media string) *a2a.Part {
	part := a2a.NewFileURLPart(a2a.URL("workspace:/w/"+name), media)
	part.Filename = name
	return part
}

// TestStartLooksAtNoFiles of messages that wait: commands can make each of them take long.
// They are looked at when the turn begins, as those of other messages were when they came.
func TestStartLooksAtNoFiles(t *testing.T) {
	line := func(rest string) []agent.Input {
		return []agent.Input{agent.Text("look\n\nAttached files:\n- a.txt (text/plain) " + rest + "\n- x.png (image/png) at /w/x.png"), {Type: "localImage", Path: "/lent/w/x.png"}}
	}
	for name, c := range map[string]struct {
		of, at string // see watched
		want   []agent.Input
	}{
		"there":   {want: line("at /w/a.txt")},
		"gone":    {"/w/a.txt", "", line("is not available to you; it was sent as workspace:/w/a.txt")},
		"moved":   {"/w/a.txt", "/w/b.txt", line("at /w/b.txt")},
		"so long": {"/w/a.txt", "/" + strings.Repeat("d/", 1<<19), line("at /w/a.txt")}, // more than codex takes
	} {
		t.Run(name, func(t *testing.T) {
			box := &watched{}
			m := newMachine(t, func(cfg *tasks.Config) { cfg.Files = box })
			req := request("m1", "c", "look")
			req.Message.Parts = append(req.Message.Parts, here("a.txt", "text/plain"), here("x.png", "image/png"))
			begin(t, m.e, req)
			m.r.next(t)
			box.followed, box.reads, box.of, box.at = 0, 0, c.of, c.at
			m.restart()
			j := m.r.next(t)
			if box.followed > 0 || box.opened() > 0 {
				t.Errorf("at the start %d paths are followed, and %d files opened", box.followed, box.opened())
			}
			if len(j.Input) != 2 || j.Input[1].Type != "localImage" { // the executor goes by that
				t.Errorf("the message waits with %+v", j.Input)
			}
			got, giveBack := j.Lend(t.Context(), j.Input)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("codex is given (-want +got):\n%s", diff)
			}
			if giveBack(); box.out != 0 {
				t.Errorf("%d copies were not given back", box.out)
			}
			goOn := []agent.Input{agent.Text("go on"), {Type: "localImage", Path: "/w/x.png"}}
			if got, giveBack := j.Lend(t.Context(), goOn); len(got) != 2 || got[0] != goOn[0] || got[1].Path == goOn[1].Path { // never by its own path
				t.Errorf("a turn that goes on is told %+v", got)
			} else {
				giveBack()
			}
		})
	}
}

// TestWordsOfPeersAfterARestart stand between their lines, before files are looked at and
// after it.
func TestWordsOfPeersAfterARestart(t *testing.T) {
	m := newMachine(t, func(cfg *tasks.Config) { cfg.Files, cfg.Workspace = &cabinet{}, &tasks.Workspace{} })
	req := request("m1", "c", "look")
	req.Message.Metadata = map[string]any{"source_workspace_id": "bob"}
	req.Message.Parts = append(req.Message.Parts, here("a.txt", "text/plain"))
	begin(t, m.e, req)
	framed, _, _ := strings.Cut(m.r.next(t).prompt(), "bob")
	m.restart()
	j := m.r.next(t)
	got, giveBack := j.Lend(t.Context(), j.Input)
	giveBack()
	for _, said := range []string{j.prompt(), got[0].Text} {
		if framed == "" || !strings.HasPrefix(said, framed) {
			t.Errorf("codex is told %q", said)
		}
	}
	if len(got) != 1 || !strings.Contains(got[0].Text, "- a.txt (text/plain) at /w/a.txt") {
		t.Errorf("codex is given %+v", got)
	}
}

// TestPictureOfAnAnswerAfterARestart: what the answer to a stale question carries stands ahead of
// its picture, and codex is given a copy of that, and not the path that the message names.
func TestPictureOfAnAnswerAfterARestart(t *testing.T) {
	m, task, _ := askingMachine(t, time.Time{}, "q1")
	m.change = append(m.change, func(cfg *tasks.Config) { cfg.Files = &cabinet{} })
	m.restart()
	yes := to(task, "m2", "yes")
	yes.Config.ReturnImmediately = true
	yes.Message.Parts = append(yes.Message.Parts, here("x.png", "image/png"))
	send(t, m.e, yes)
	m.r.next(t)
	m.restart()
	j := m.r.next(t)
	got, giveBack := j.Lend(t.Context(), j.Input)
	defer giveBack()
	if len(got) != 3 || !strings.Contains(got[0].Text, "May I q1?") || !strings.HasPrefix(got[1].Text, "yes") || got[2].Path != "/lent/w/x.png" {
		t.Errorf("codex is given %+v", got)
	}
}
