package tasks_test

import (
	"testing"

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
