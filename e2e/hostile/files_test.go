package hostile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// A source serves files that are more than they look like, at the allowed address.
func source(t *testing.T) (url string, visits *atomic.Int32) {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", allowed+":0")
	if err != nil {
		t.Skipf("NOT TESTED: there is no %s here: %v", allowed, err)
	}
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, 20<<20))
	_ = z.Close()
	visits = new(atomic.Int32)
	server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visits.Add(1)
		if strings.HasPrefix(r.URL.Path, "/bomb") {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
			return
		}
		for range 60 {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(ln) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return "http://" + ln.Addr().String(), visits
}

// TestFilesFillNoDisk has messages bring more than the disk of the working directory has room
// for: by many URLs, by answers that unpack to more, by one that is larger than its files may
// be, by one where something else fills it.
func TestFilesFillNoDisk(t *testing.T) {
	t.Parallel()
	if err := exec.CommandContext(t.Context(), "unshare", "--mount", "--propagation", "private", "true").Run(); err != nil {
		t.Skipf("NOT TESTED: no disk of its own can be made here, for which a root that may mount is needed: %v", err)
	}
	url, visits := source(t)
	work := codextest.Dir(t, "small")
	x := &world{t: t}
	x.launchAs("unshare", []string{"--mount", "--propagation", "private", "sh", "-c",
		fmt.Sprintf("mount -t tmpfs -o size=64m tmpfs '%s' && exec '%s' serve", work, binary)},
		"RUNTIME_ALLOW_NETWORKS="+allowed+"/32", "RUNTIME_WORKDIR="+work)
	inside := fmt.Sprintf("/proc/%d/root%s", x.Pid(), work)
	send := func(id, path string, n int, want string) {
		t.Helper()
		parts := []object{{"text": "say done"}}
		for i := range n {
			parts = append(parts, object{"url": fmt.Sprint(url, path, i), "filename": fmt.Sprintf("%d.bin", i)})
		}
		got := x.send(x.ours(rpc("SendMessage", object{"message": object{"messageId": id, "role": "ROLE_USER", "parts": parts}})))
		if !strings.Contains(got.body, want) {
			t.Errorf("%s: %s, want %q", id, got, want)
		}
		var disk unix.Statfs_t
		if err := unix.Statfs(inside, &disk); err != nil {
			t.Fatal(err)
		}
		if free := int64(disk.Bavail) * int64(disk.Bsize); free < 16<<20 { //nolint:unconvert // the types differ between systems
			t.Errorf("%s: %d bytes of the disk are left", id, free)
		}
	}
	files := func() int {
		entries, err := os.ReadDir(filepath.Join(inside, ".molecule/chat-uploads"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		n := 0
		for _, entry := range entries {
			if entry.Name() != ".gitignore" {
				n++
			}
		}
		return n
	}
	send("many", "/large", 900, "900 files by URL")
	if n := visits.Load(); n != 0 {
		t.Errorf("%d of many URLs were fetched", n)
	}
	send("large", "/large", 1, "done") // without it: a quarter of the disk is for files
	filler := filepath.Join(inside, "filler")
	if err := os.WriteFile(filler, make([]byte, 40<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	send("full", "/bomb", 1, "could not be stored")
	if n := files(); n != 0 {
		t.Errorf("%d files are left of messages without room", n)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	send("bombs", "/bomb", 10, "done")
	if n := files(); n != 10 {
		t.Errorf("%d files of ten", n)
	}
	x.unharmed(t)
}
