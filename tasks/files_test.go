package tasks_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

// A cabinet is where the test has the files of messages.
type cabinet struct {
	err     error
	content string // of each file; a small picture if empty

	mu    sync.Mutex // guards the fields below
	reads int
	lent  string // the content when it is lent, if that is another
	leave func() // called with the second copy
	out   int    // copies that have not been given back
}

// pixelHeader is how a PNG of so many pixels begins.
func pixelHeader(width, height uint32) string {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	b = binary.BigEndian.AppendUint32(b, width)
	b = binary.BigEndian.AppendUint32(b, height)
	return string(append(b, 8, 2, 0, 0, 0))
}

type sheet struct{ *strings.Reader }

func (sheet) Close() error { return nil }

func (c *cabinet) picture() string {
	if c.content == "" {
		return pixelHeader(1, 1)
	}
	return c.content
}

// opened is how often a file was opened.
func (c *cabinet) opened() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reads
}

func (c *cabinet) Open(string) (attach.Content, error) {
	c.mu.Lock()
	c.reads++
	c.mu.Unlock()
	if c.content == "gone" {
		return nil, attach.ErrNoFile
	}
	return sheet{strings.NewReader(c.picture())}, nil
}

// Lend implements [tasks.Files]: of what it lends only the paths are other ones.
func (c *cabinet) Lend(_ context.Context, path string, most int64, fit func(io.ReaderAt, string) error) (attach.Loan, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	content := c.picture()
	if c.lent != "" {
		content = c.lent
	}
	if content == "gone" {
		return attach.Loan{}, attach.ErrNoFile
	}
	for _, digest := range []string{"", digestOf(content)} {
		if err := fit(strings.NewReader(content), digest); err != nil {
			return attach.Loan{}, err
		}
	}
	if int64(len(content)) > most {
		return attach.Loan{}, attach.ErrTooLarge
	}
	c.out++
	if c.leave != nil && c.out == 2 {
		c.leave()
	}
	return attach.Loan{Path: "/lent" + path, Size: int64(len(content)), GiveBack: func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.out--
	}}, nil
}

func digestOf(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }

func (c *cabinet) Release([]attach.File) {}

func (c *cabinet) Drop([]string) {}

func (c *cabinet) Most(bool) int64 { return 1 << 40 }

func (c *cabinet) Stage(_ context.Context, _ string, p *a2a.Part, _ int64, _ bool) (attach.File, error) {
	if c.err != nil {
		return attach.File{}, c.err
	}
	file := attach.File{URI: "workspace:/w/" + p.Filename, Name: p.Filename, MediaType: p.MediaType}
	if p.Raw() != nil || strings.HasPrefix(string(p.URL()), "https:") {
		file.Digest = digestOf(c.picture())
	}
	return file, nil
}

func (c *cabinet) Path(uri string) (string, error) {
	path, ok := strings.CutPrefix(uri, "workspace:")
	if !ok {
		return "", attach.ErrNoFile
	}
	return path, nil
}

func (c *cabinet) Offer(_ attach.Maker, reply attach.ReplyText) (out []attach.File) {
	if strings.Contains(reply.Text, "/w/out.pdf") {
		out = append(out, attach.File{URI: "workspace:/w/out.pdf", Name: "out.pdf", MediaType: "application/pdf"})
	}
	return out
}

func (c *cabinet) Keep(by attach.Maker, key, name string, content []byte) (attach.File, error) {
	return attach.File{
		URI: "kept:" + name, Name: name, Size: int64(len(content)), Kept: string(by.Task) + "/token-of-" + key + "/" + name, Expires: expires,
	}, c.err
}

var expires = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// TestDiskFullWhileStaging: the sender is told, and nothing was accepted.
func TestDiskFullWhileStaging(t *testing.T) {
	box := &cabinet{err: errors.New("no space left on device")}
	r := newRunner()
	e := newEngine(t, r, func(c *tasks.Config) { c.Files = box })
	req := request("m1", "c", "look")
	req.Message.Parts = append(req.Message.Parts, raw("x.png", "image/png", "png"))
	if _, err := e.SendMessage(t.Context(), req); !errors.Is(err, a2a.ErrServerError) || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("%v", err)
	}
	if r.count() != 0 {
		t.Error("it became a turn")
	}
	box.err = nil
	begin(t, e, req)
	want := []agent.Input{
		agent.Text("look\n\nAttached files:\n- x.png (image/png) at /w/x.png"), {Type: "localImage", Path: "/w/x.png"},
	}
	if diff := cmp.Diff(want, r.next(t).Input); diff != "" {
		t.Errorf("input (-want +got):\n%s", diff)
	}
}

func TestFileThatIsNotToBeHad(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r, func(c *tasks.Config) { c.Files = &cabinet{err: attach.ErrNoFile} })
	req := request("m1", "c", " ")
	req.Message.Parts = append(req.Message.Parts, a2a.NewFileURLPart("https://x/y\nz", ""))
	begin(t, e, req)
	want := "Attached files:\n- (no name) (unknown type) is not available to you; it was sent as https://x/y z"
	if diff := cmp.Diff([]agent.Input{agent.Text(want)}, r.next(t).Input); diff != "" {
		t.Errorf("input (-want +got):\n%s", diff)
	}
}

// TestFilesOfAReply stand behind its text, in the message and in the task.
func TestFilesOfAReply(t *testing.T) {
	d := newDesk(t, func(c *tasks.Config) { c.Files, c.OfferFiles = &cabinet{}, true })
	c := d.call("m1", "", nil, "hi")
	j := d.r.next(t)
	begun(j)
	j.observe(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{
		{ItemID: "a", Text: "looking", Phase: agent.PhaseCommentary}, {ItemID: "b", Text: "it is in /w/out.pdf", Phase: agent.PhaseFinalAnswer},
	}})
	c.wait(t)
	parts := reply.Of(c.task).Parts
	if len(parts) != 2 || parts[0].Text() != "it is in /w/out.pdf" || parts[1].URL() != "workspace:/w/out.pdf" || parts[1].Filename != "out.pdf" {
		t.Errorf("parts = %v", parts)
	}
	c.receipt.Settle(false)
	rows := d.owed()
	if len(rows) != 1 {
		t.Fatalf("owed = %+v", rows)
	}
	whole, err := d.st.Delivery(t.Context(), rows[0].ID)
	if want := `{"id":"` + string(c.task.ID) + `-reply","text":"it is in /w/out.pdf","files":[{"uri":"workspace:/w/out.pdf","name":"out.pdf","mediaType":"application/pdf"}]}`; err != nil || string(whole.Body) != want {
		t.Errorf("%s, %v", whole.Body, err)
	}
}
