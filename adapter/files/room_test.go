package files_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
)

var errFull = errors.New("the disk is full")

// A disk has room for so many bytes, and none for what it has been asked about before.
type disk struct {
	left  int64
	asked int
}

func (d *disk) room(bytes int64) error {
	d.asked++
	if d.left -= bytes; d.left < 0 {
		return errFull
	}
	return nil
}

// zeros is a file of so many bytes.
func zeros(n int) []byte { return make([]byte, n) }

// TestRoomIsAskedForWhileWriting: a file that the disk has no room for is ended in the
// middle, nothing of it is left, and it is no fault of its server's.
func TestRoomIsAskedForWhileWriting(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(zeros(1 << 20)) }))
	t.Cleanup(server.Close)
	d := &disk{}
	f, work := folder(t, func(c *files.Config) {
		c.Room, c.Guard = d.room, netguard.New(netip.MustParsePrefix("127.0.0.0/8"))
	})
	for name, in := range map[string]files.Incoming{"bytes": {Key: "k1", Name: "a", Content: zeros(1 << 20)}, "a URL": {Key: "k2", URI: server.URL + "/a"}} {
		*d = disk{left: 1<<19 + 1}
		_, err := f.Stage(t.Context(), in)
		if !errors.Is(err, errFull) || errors.Is(err, files.ErrNotHere) {
			t.Errorf("%s: %v", name, err)
		}
		if d.asked < 3 {
			t.Errorf("%s: room was asked for %d times", name, d.asked)
		}
		if left := uploads(t, work); len(left) != 0 {
			t.Errorf("%s: left over: %v", name, left)
		}
		*d = disk{left: 1 << 20}
		file, err := f.Stage(t.Context(), in)
		if err != nil || file.Size != 1<<20 || !file.Staged || !file.Own {
			t.Errorf("%s with room for it: %+v, %v", name, file, err)
		}
		f.Remove(file)
	}
	*d = disk{left: -1}
	content := strings.NewReader("x")
	if _, err := f.Add("a", "", content, 9); !errors.Is(err, errFull) || content.Len() != 1 {
		t.Errorf("without any room: %v, %d bytes unread", err, content.Len())
	}
}

// TestMostOfAFile is what its message leaves for it.
func TestMostOfAFile(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(zeros(100)) }))
	t.Cleanup(server.Close)
	p := &pending{} // its file has 14 bytes
	f, work := folder(t, func(c *files.Config) {
		c.Pending, c.Guard = p, netguard.New(netip.MustParsePrefix("127.0.0.0/8"))
	})
	for _, in := range []files.Incoming{
		{Key: "k1", Name: "a", Content: zeros(100), Most: 100}, {Key: "k2", URI: server.URL + "/a", Most: 100}, {URI: "platform-pending:ws-1/f-1", Most: 14},
	} {
		most := in.Most
		in.Most--
		if _, err := f.Stage(t.Context(), in); !errors.Is(err, files.ErrTooLarge) {
			t.Errorf("%+v: %v", in.URI, err)
		}
		if left := uploads(t, work); len(left) != 0 {
			t.Errorf("left over: %v", left)
		}
		in.Most = most
		file, err := f.Stage(t.Context(), in)
		if own := in.Key != ""; err != nil || file.Size != most || !file.Staged || file.Own != own {
			t.Errorf("%+v, %v", file, err)
		}
		f.Remove(file)
	}
}

// TestPackedFilesStayPacked: a small answer is no large file.
func TestPackedFilesStayPacked(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(zeros(10 << 20))
	_ = z.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "identity" {
			t.Errorf("%q was asked for", got)
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	}))
	t.Cleanup(server.Close)
	f, _ := folder(t, func(c *files.Config) { c.Guard = netguard.New(netip.MustParsePrefix("127.0.0.0/8")) })
	file, err := f.Stage(t.Context(), files.Incoming{Key: "k", URI: server.URL + "/a.txt"})
	if got, _ := os.ReadFile(file.Path); err != nil || !bytes.Equal(got, packed.Bytes()) {
		t.Errorf("%d bytes, %v; want %d", len(got), err, packed.Len())
	}
}
