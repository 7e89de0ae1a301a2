package tasks_test

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// TestPicturesThatAreNotShown are files like others: the list says where they are, and why
// the model does not see them.
func TestPicturesThatAreNotShown(t *testing.T) {
	line := "look\n\nAttached files:\n- x.png (image/png) at /w/x.png"
	shown := appserver.UserInput{Type: "localImage", Path: "/w/x.png"}
	cases := map[string]struct {
		content string
		want    []appserver.UserInput
	}{
		"camera":    {pixelHeader(8160, 6120), []appserver.UserInput{appserver.Text(line), shown}},
		"bomb":      {pixelHeader(20_000, 20_000), []appserver.UserInput{appserver.Text(line + "; not shown to you as a picture: it has more than 50 million pixels, so look at a smaller copy of it")}},
		"no-header": {"GIF89a", []appserver.UserInput{appserver.Text(line + "; not shown to you as a picture: it cannot be read as PNG, JPEG, GIF or WebP")}},
		"gone":      {"gone", []appserver.UserInput{appserver.Text(line + "; not shown to you as a picture: it could not be read")}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			e := newEngine(t, r, func(config *tasks.Config) { config.Files = &cabinet{content: c.content} })
			req := request("m1", "c", "look")
			req.Message.Parts = append(req.Message.Parts, raw("x.png", "image/png", "png"))
			begin(t, e, req)
			if diff := cmp.Diff(c.want, r.next(t).Input); diff != "" {
				t.Errorf("input (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPicturesAreLent: codex is given a copy of a picture, or told why it has none, when its
// turn comes: the file may be another one by then.
func TestPicturesAreLent(t *testing.T) {
	line := "look\n\nAttached files:\n- x.png (image/png) at /w/x.png"
	shown := appserver.UserInput{Type: "localImage", Path: "/lent/w/x.png"}
	not := func(why string) appserver.UserInput {
		return appserver.Text("Picture 1 of this message is not shown to you: " + why + ".")
	}
	brought, named := raw("x.png", "image/png", "png"), a2a.NewFileURLPart("workspace:/w/x.png", "image/png")
	named.Filename = "x.png"
	cases := map[string]struct {
		part *a2a.Part
		lent string
		want appserver.UserInput
		out  int
	}{
		"same":       {brought, "", shown, 1},
		"other":      {brought, pixelHeader(2, 2), not("its file is not what it was when the message came"), 0},
		"bomb":       {brought, pixelHeader(20_000, 20_000), not("its file is not what it was when the message came"), 0},
		"gone":       {brought, "gone", not("it could not be read"), 0},
		"named":      {named, pixelHeader(2, 2), shown, 1},
		"named-bomb": {named, pixelHeader(20_000, 20_000), not("it has more than 50 million pixels, so look at a smaller copy of it"), 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, killed := range []bool{false, true} {
				box := &cabinet{lent: c.lent}
				m := newMachine(t, func(config *tasks.Config) { config.Files = box })
				req := request("m1", "c", "look")
				req.Message.Parts = append(req.Message.Parts, c.part)
				begin(t, m.e, req)
				j := m.r.next(t)
				if killed {
					m.restart()
					j = m.r.next(t)
				}
				got, giveBack := j.Lend(j.Input)
				if diff := cmp.Diff([]appserver.UserInput{appserver.Text(line), c.want}, got); diff != "" {
					t.Errorf("killed %v: codex is given (-want +got):\n%s", killed, diff)
				}
				if box.out != c.out {
					t.Errorf("%d copies are out, want %d", box.out, c.out)
				}
				if giveBack(); box.out != 0 {
					t.Errorf("%d copies were not given back", box.out)
				}
			}
		})
	}
}

// TestNothingToLend: a message without a picture has nothing of this.
func TestNothingToLend(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r, func(config *tasks.Config) { config.Files = &cabinet{} })
	begin(t, e, request("m1", "c", "look"))
	if r.next(t).Lend != nil {
		t.Error("there is something to lend")
	}
}
