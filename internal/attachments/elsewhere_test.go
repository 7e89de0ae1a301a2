package attachments

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
)

// elsewhereOf are attachments whose turns have worked in a folder of elsewhere, with some files.
func elsewhereOf(t *testing.T, platform bool, room int64, has map[string]string) (a Attachments, reply attach.ReplyText, asked *[]string) {
	t.Helper()
	a, reply = attached(t, platform, room)
	a.elsewhere = filepath.Join(t.TempDir(), "brought")
	asked = &[]string{}
	reply.Folder = &agent.Folder{
		Dir: "/far/place", Cwd: "/far/place/sub",
		Open: func(_ context.Context, path string) (io.ReadCloser, int64, time.Time, error) {
			*asked = append(*asked, path)
			text, is := has[path]
			if !is {
				return nil, 0, time.Time{}, fs.ErrNotExist
			}
			return io.NopCloser(strings.NewReader(text)), int64(len(text)), time.Now(), nil
		},
	}
	return a, reply, asked
}

// TestOfferElsewhere: files of elsewhere are handed out as local ones are, and nothing of them stays beside.
func TestOfferElsewhere(t *testing.T) {
	has := map[string]string{"a.txt": "one", "sub/b.txt": "two", ".auth_token": "secret", "large": strings.Repeat("x", files.LargestOffer+1)}
	for name, c := range map[string]struct {
		platform bool
		room     int64
		want     int
	}{"alone": {false, 1 << 20, 2}, "workspace": {true, 1 << 20, 2}, "workspace-off": {true, 0, 2}, "off": {false, 0, 0}} {
		t.Run(name, func(t *testing.T) {
			a, reply, asked := elsewhereOf(t, c.platform, c.room, has)
			local := strings.TrimPrefix(reply.Text, "see ")
			reply.Text = local + " and /far/place/a.txt, [b](b.txt), /far/place/.auth_token, /far/place/large, /far/place/../x, /far/placed/y and /far/place/gone"
			got := a.Offer(attach.Maker{Task: "task"}, reply)
			if len(got) != c.want {
				t.Fatalf("offered %+v", got)
			}
			for i, name := range []string{"a.txt", "b.txt"}[:c.want] {
				f := got[i]
				if f.Name != name || f.Size != 3 || (f.Kept != "") != (c.room > 0) || strings.Contains(f.URI, "/.molecule/chat-uploads/") != c.platform || strings.Contains(f.URI, a.elsewhere) {
					t.Errorf("%+v", f)
				}
			}
			if all := strings.Join(*asked, " "); c.want > 0 && all != "a.txt sub/b.txt large gone" || c.want == 0 && all != "" {
				t.Errorf("asked for %q", all)
			}
			if left, _ := os.ReadDir(a.elsewhere); len(left) > 0 {
				t.Errorf("there is left %v", left)
			}
		})
	}
}

// TestOfferElsewhereCut: a file of which less comes than was said is not handed out, and no more is asked for.
func TestOfferElsewhereCut(t *testing.T) {
	a, reply, _ := elsewhereOf(t, false, 1<<20, nil)
	asked := 0
	reply.Folder.Open = func(context.Context, string) (io.ReadCloser, int64, time.Time, error) {
		asked++
		return io.NopCloser(strings.NewReader("te")), 4, time.Now(), nil
	}
	reply.Text = "/far/place/a and /far/place/b"
	if got := a.Offer(attach.Maker{Task: "task"}, reply); len(got) > 0 || asked != 1 {
		t.Errorf("offered %+v, asked %d times", got, asked)
	}
}

// TestOfferElsewhereMany: a reply that names any number of files asks for some of them.
func TestOfferElsewhereMany(t *testing.T) {
	a, reply, asked := elsewhereOf(t, false, 1<<20, nil)
	for i := range 2 * mostLooks {
		reply.Text += fmt.Sprintf(" /far/place/%d", i)
	}
	if got := a.Offer(attach.Maker{Task: "task"}, reply); len(got) > 0 || len(*asked) != mostLooks {
		t.Errorf("offered %+v, asked %d times", got, len(*asked))
	}
}

// TestOfferElsewhereStalls: what stalls is waited for once, for so long.
func TestOfferElsewhereStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, reply, _ := elsewhereOf(t, false, 1<<20, nil)
		reply.Folder.Open = func(ctx context.Context, _ string) (io.ReadCloser, int64, time.Time, error) {
			<-ctx.Done()
			return nil, 0, time.Time{}, ctx.Err()
		}
		reply.Text = "/far/place/a and /far/place/b"
		began := time.Now()
		if got := a.Offer(attach.Maker{Task: "task"}, reply); len(got) > 0 || time.Since(began) != bringTime {
			t.Errorf("offered %+v after %v", got, time.Since(began))
		}
	})
}
