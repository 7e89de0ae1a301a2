package tasks_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// TestPicturesThatAreNotShown are files like others: the list says where they are, and why
// the model does not see them.
func TestPicturesThatAreNotShown(t *testing.T) {
	line := "look\n\nAttached files:\n- x.png (image/png) at /w/x.png"
	shown := agent.Input{Type: "localImage", Path: "/w/x.png"}
	cases := map[string]struct {
		content string
		want    []agent.Input
	}{
		"camera":    {pixelHeader(8160, 6120), []agent.Input{agent.Text(line), shown}},
		"bomb":      {pixelHeader(20_000, 20_000), []agent.Input{agent.Text(line + "; not shown to you as a picture: it has more than 50 million pixels, so look at a smaller copy of it")}},
		"no-header": {"GIF89a", []agent.Input{agent.Text(line + "; not shown to you as a picture: it cannot be read as PNG, JPEG, GIF or WebP")}},
		"gone":      {"gone", []agent.Input{agent.Text(line + "; not shown to you as a picture: it could not be read")}},
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

// TestPicturesAreLookedAtOnce, however often a message names them, and whether or not they are shown.
func TestPicturesAreLookedAtOnce(t *testing.T) {
	for why, content := range map[string]string{
		"it cannot be read as": "GIF89a",
		"at most 40 MiB":       pixelHeader(8, 8) + strings.Repeat("\x00", 41<<20),
		"at most 20 pictures":  "",
	} {
		t.Run(why, func(t *testing.T) {
			r := newRunner()
			box := &cabinet{content: content}
			e := newEngine(t, r, func(config *tasks.Config) { config.Files = box })
			req := request("m1", "c", "look")
			for range 30 {
				req.Message.Parts = append(req.Message.Parts, a2a.NewFileURLPart("workspace:/w/x.png", "image/png"))
			}
			begin(t, e, req)
			if said := strings.Count(r.next(t).Input[0].Text, why); said < 10 || box.opened() != 1 {
				t.Errorf("of %d is said why not, and the file was opened %d times", said, box.opened())
			}
		})
	}
}

// TestPicturesAreLent: codex is given a copy of a picture, or told why it has none, when its
// turn comes: the file may be another one by then.
func TestPicturesAreLent(t *testing.T) {
	line := "look\n\nAttached files:\n- x.png (image/png) at /w/x.png"
	shown := agent.Input{Type: "localImage", Path: "/lent/w/x.png"}
	not := func(why string) agent.Input {
		return agent.Text("Picture 1 of this message is not shown to you: " + why + ".")
	}
	brought, named := raw("x.png", "image/png", "png"), a2a.NewFileURLPart("workspace:/w/x.png", "image/png")
	named.Filename = "x.png"
	cases := map[string]struct {
		part *a2a.Part
		lent string
		want agent.Input
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
				got, giveBack := j.Lend(t.Context(), j.Input)
				if diff := cmp.Diff([]agent.Input{agent.Text(line), c.want}, got); diff != "" {
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

// TestPicturesOfARetry: what a turn, or another, has put in the place of a picture does not
// come to be the picture by the message's being run again, nor again after that.
func TestPicturesOfARetry(t *testing.T) {
	box := &cabinet{}
	m := newMachine(t, func(config *tasks.Config) { config.Files = box })
	req := request("m1", "c", "look")
	part := a2a.NewFileURLPart("https://pictures.example/x.png", "image/png")
	part.Filename = "x.png"
	req.Message.Parts = append(req.Message.Parts, part)
	begin(t, m.e, req)
	cut := agent.Ended{Outcome: agent.Interrupted, Tools: true, Failure: &agent.Failure{Kind: agent.FailUnreachable, Message: "cut off"}}
	m.r.next(t).end(cut)
	req.Message.Metadata = map[string]any{"retry": true}
	for _, c := range []struct{ content, want string }{
		{pixelHeader(2, 2), "Picture 1 of this message is not shown to you: its file is not what it was when the message came."},
		{pixelHeader(3, 3), "Picture 1 of this message is not shown to you: its file is not what it was when the message came."},
		{"", ""}, // what came is there again
	} {
		box.content = c.content
		begin(t, m.e, req)
		j := m.r.next(t)
		got, giveBack := j.Lend(t.Context(), j.Input)
		if last := got[len(got)-1]; last.Text != c.want || (last.Type == "localImage") != (c.want == "") {
			t.Errorf("codex is given %+v, want %q", last, c.want)
		}
		giveBack()
		j.end(cut)
	}
}

// TestManyPictures: of a message 20 pictures are shown, of so many bytes together, however
// often it names one. The others are named, with the reason, also where the files have grown
// until its turn; and there is one copy of each.
func TestManyPictures(t *testing.T) {
	const many, bytes = "; not shown to you as a picture: at most 20 pictures of a message are shown",
		"; not shown to you as a picture: the pictures of a message that are shown have at most 40 MiB together"
	large := func(size int) string { return pixelHeader(8, 8) + strings.Repeat("\x00", size-len(pixelHeader(8, 8))) }
	same, other := func(int) string { return "x.png" }, func(i int) string { return fmt.Sprintf("%d.png", i) }
	cases := map[string]struct {
		name          func(int) string
		content, lent string
		shown         int
		why           string
		out, seen     int // copies, and the parts that they are for
	}{
		"one-path": {same, "", "", 20, many, 1, 20},
		"paths":    {other, "", "", 20, many, 20, 20},
		"heavy":    {same, large(15 << 20), "", 2, bytes, 1, 2},
		"grown":    {other, "", large(15 << 20), 20, many, 2, 2},
		"grown-1":  {same, "", large(15 << 20), 20, many, 1, 2},
		"too-much": {same, large(41 << 20), "", 0, bytes, 0, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			box := &cabinet{content: c.content, lent: c.lent}
			e := newEngine(t, r, func(config *tasks.Config) { config.Files = box })
			req := request("m1", "c", "look")
			for i := range 30 {
				part := a2a.NewFileURLPart(a2a.URL("workspace:/w/"+c.name(i)), "image/png")
				part.Filename = c.name(i)
				req.Message.Parts = append(req.Message.Parts, part)
			}
			begin(t, e, req)
			j := r.next(t)
			if shown, named := pictured(j.Input, "/w/"), strings.Count(j.Input[0].Text, c.why); shown != c.shown || named != 30-c.shown {
				t.Errorf("%d are shown, and of %d is said why not", shown, named)
			}
			if j.Lend == nil {
				return
			}
			got, giveBack := j.Lend(t.Context(), j.Input)
			if seen := pictured(got, "/lent/w/"); seen != c.seen || box.out != c.out {
				t.Errorf("codex is given %d pictures in %d copies, want %d in %d", seen, box.out, c.seen, c.out)
			}
			if giveBack(); box.out != 0 {
				t.Errorf("%d copies were not given back", box.out)
			}
		})
	}
}

// pictured is how many pictures an input has below a path.
func pictured(input []agent.Input, below string) (n int) {
	for _, in := range input {
		if in.Type == "localImage" && strings.HasPrefix(in.Path, below) {
			n++
		}
	}
	return n
}

// TestManyPicturesInline: without a disk for files the same bounds hold.
func TestManyPicturesInline(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	req := request("m1", "c", "look")
	for range 30 {
		req.Message.Parts = append(req.Message.Parts, raw("x.png", "image/png", pixelHeader(8, 8)))
	}
	begin(t, e, req)
	shown, said := 0, 0
	for _, in := range r.next(t).Input {
		if in.Type == "image" {
			shown++
		}
		said += strings.Count(in.Text, "at most 20 pictures of a message are shown")
	}
	if shown != 20 || said != 10 {
		t.Errorf("%d are shown, and of %d is said why not", shown, said)
	}
}

// TestLendingEnds: no further copy is made for a turn that is canceled meanwhile.
func TestLendingEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := newRunner()
	box := &cabinet{leave: cancel}
	e := newEngine(t, r, func(config *tasks.Config) { config.Files = box })
	req := request("m1", "c", "look")
	for i := range 5 {
		req.Message.Parts = append(req.Message.Parts, raw(fmt.Sprintf("%d.png", i), "image/png", "png"))
	}
	begin(t, e, req)
	j := r.next(t)
	_, giveBack := j.Lend(ctx, j.Input)
	if box.out != 2 {
		t.Errorf("%d copies are out, want 2", box.out)
	}
	if giveBack(); box.out != 0 {
		t.Errorf("%d copies were not given back", box.out)
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
