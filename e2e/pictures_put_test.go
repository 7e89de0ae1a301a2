package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// What the model is told in the place of a picture that it does not see: at its turn, and
// where the message is taken up after a kill.
const (
	changed    = "Picture 1 of this message is not shown to you: its file is not what it was when the message came."
	unread     = "Picture 1 of this message is not shown to you: it could not be read."
	notThere   = " is not available to you"
	manyPixels = "not shown to you as a picture: it has more than 50 million pixels"
)

// puts are what commands put into the place of a message's picture, and what the model is
// told then; nothing where it sees the picture.
var puts = []struct{ name, command, told, after string }{
	{"pipe", "mv $f $f.was; mkfifo $f", unread, notThere},
	{"link", "mv $f $f.was; ln -s $f.was $f", unread, notThere},
	{"folder", "mv $f $f.was; mkdir $f", unread, notThere},
	{"nothing", "mv $f $f.was", unread, notThere},
	{"other", "mv $f $f.was; cp other $f", changed, changed},
	{"bomb", "cat bomb >$f", changed, manyPixels},
	{"same", "cp $f $f.was; mv $f.was $f", "", ""},
	{"untouched", "true", "", ""},
}

// put is the command that puts something into the places of all pictures.
func put() string {
	var b strings.Builder
	for _, c := range puts {
		fmt.Fprintf(&b, "f=$(echo .molecule/chat-uploads/*-%s.png); %s; ", c.name, c.command)
	}
	return b.String() + "echo all put"
}

// wantShown holds the requests of the model to what it was to see of each picture.
func wantShown(p *program, killed bool) {
	p.t.Helper()
	for _, c := range puts {
		told := c.told
		if killed {
			told = c.after
		}
		seen, said := "", "say "+c.name+" it is"
		for _, r := range p.Model.Requests() {
			if strings.Contains(r.LastUserText(), said) {
				seen = string(r.Body[bytes.LastIndex(r.Body, []byte(said)):])
			}
		}
		if shown := strings.Contains(seen, `"image_url":"data:image/png;base64,`); seen == "" || shown != (told == "") || !strings.Contains(seen, told) {
			p.t.Errorf("%s: it is shown: %v; the model has %.1000s", c.name, shown, seen)
		}
	}
}

// brings begins a message with a picture for each of the puts, behind a turn that runs.
func brings(p *program) (ids []any) {
	p.t.Helper()
	for name, content := range map[string][]byte{"other": greyPNG(p.t, 9, 9), "bomb": greyPNG(p.t, 10_000, 10_000)} {
		if err := os.WriteFile(filepath.Join(p.Work, name), content, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	for _, c := range puts {
		m := message(c.name, "victim", "say "+c.name+" it is")
		m["parts"] = append(m["parts"].([]object), object{
			"raw": base64.StdEncoding.EncodeToString(greyPNG(p.t, 8, 8)), "filename": c.name + ".png", "mediaType": "image/png",
		})
		ids = append(ids, p.task(p.call("SendMessage", object{"message": m, "configuration": object{"returnImmediately": true}}))["id"])
	}
	return ids
}

// wantCompleted waits for the ends of tasks.
func wantCompleted(p *program, ids ...any) {
	p.t.Helper()
	for i, id := range ids {
		if task := p.ended(id); state(task) != "TASK_STATE_COMPLETED" {
			p.t.Errorf("%d: %v", i, task["status"])
		}
	}
}

// lent are the copies that codex has of pictures.
func lent(p *program) []string {
	p.t.Helper()
	found, err := filepath.Glob(filepath.Join(p.Home, "molecule-pictures-*", "*"))
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

// touch makes a file that a command waits for.
func touch(p *program, name string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.Work, name), nil, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// TestPutInThePlaceOfPictures: a command puts something else into the place of a picture
// that waits for its turn. Codex is not given it, and does not wait at a pipe: the messages
// have their turns, those of other conversations go on, and codex is the same.
func TestPutInThePlaceOfPictures(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t, "CODEX_APPROVAL_POLICY=never")
	first := p.begin("first", "victim", "run until [ -e go ]; do sleep 0.05; done")
	ids := append(brings(p), first["id"])
	if task := p.send("puts", "evil", "run "+put()); !strings.Contains(text(task), "all put") {
		t.Fatalf("the command says %q", text(task))
	}
	before := p.Codex()
	other := p.begin("other", "other", "run until [ -e end ]; do sleep 0.05; done")
	touch(p, "go")
	wantCompleted(p, ids...)
	touch(p, "end")
	wantCompleted(p, other["id"])
	if p.Codex() != before {
		t.Error("codex was restarted")
	}
	wantShown(p, false)
	if peak := progtest.PeakMemory(t, p.Codex()) >> 20; peak > 300 {
		t.Errorf("codex took %d MiB", peak)
	}
	progtest.WaitFor(t, "the copies to be given back", func() bool { return len(lent(p)) == 0 })
}

// TestPutInThePlaceOfPicturesOverARestart: what a picture was is known after a kill, too.
func TestPutInThePlaceOfPicturesOverARestart(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t, "CODEX_APPROVAL_POLICY=never")
	hangFirst(p)
	first := p.begin("first", "victim", "say first")
	p.modelAsked(1)
	ids := append(brings(p), first["id"])
	p.Kill()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", put())
	cmd.Dir = p.Work
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.Program = p.Restart()
	wantCompleted(p, ids...)
	wantShown(p, true)
}

// TestCopiesOfPicturesAfterAKill: codex has a copy while a turn runs, and no later.
func TestCopiesOfPicturesAfterAKill(t *testing.T) {
	t.Parallel()
	p := start(t)
	hangFirst(p)
	m := message("m1", "one", "say seen")
	m["parts"] = append(m["parts"].([]object), object{"raw": base64.StdEncoding.EncodeToString(greyPNG(t, 8, 8)), "filename": "x.png", "mediaType": "image/png"})
	task := p.task(p.call("SendMessage", object{"message": m, "configuration": object{"returnImmediately": true}}))
	p.modelAsked(1)
	left := lent(p)
	if len(left) != 1 || !strings.HasSuffix(left[0], ".png") {
		t.Fatalf("while the turn runs codex has %v", left)
	}
	p.again()
	wantCompleted(p, task["id"])
	progtest.WaitFor(t, "the copies to be given back", func() bool { return len(lent(p)) == 0 })
}
