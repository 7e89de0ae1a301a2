package files_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func folder(t *testing.T, change ...func(*files.Config)) (*files.Folder, string) {
	cfg := files.Config{Work: t.TempDir(), Workspace: "ws-1"}
	for _, f := range change {
		f(&cfg)
	}
	f := files.New(cfg)
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f, cfg.Work
}

func put(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func uploads(t *testing.T, work string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(work, ".molecule/chat-uploads"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != ".gitignore" {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestAdd(t *testing.T) {
	f, work := folder(t)
	for given, want := range map[string]string{
		"x.png": "-x.png", "../../etc/passwd": "-passwd", `C:\dir\a b.txt`: "-a_b.txt", "": "-file", "...": "-file", ".env": "-env",
		"größe\x00\n.pdf": "-gr__e__.pdf", strings.Repeat("a", 300) + ".tar": "-" + strings.Repeat("a", 96) + ".tar",
	} {
		file, err := f.Add(given, "text/plain", strings.NewReader("hello"), 100)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file.Path)
		if len(name) < 33 || name[32:] != want || strings.Trim(name[:32], "0123456789abcdef") != "" {
			t.Errorf("%q is stored as %q, want …%q", given, name, want)
		}
		if file.URI != "workspace:"+file.Path || filepath.Dir(file.Path) != filepath.Join(work, ".molecule/chat-uploads") || file.Size != 5 {
			t.Errorf("%+v", file)
		}
		info, err := os.Stat(file.Path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		f.Remove(file)
	}
	if left := uploads(t, work); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

// A failing reader ends in the middle.
type failing struct{ left int }

func (r *failing) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, errors.New("the connection is gone")
	}
	n := min(r.left, len(p))
	r.left -= n
	return n, nil
}

func TestNothingIsLeftOfWhatFailed(t *testing.T) {
	f, work := folder(t)
	if _, err := f.Add("a", "", strings.NewReader("too long"), 3); !errors.Is(err, files.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if _, err := f.Add("a", "", &failing{10}, 100); err == nil || errors.Is(err, files.ErrTooLarge) {
		t.Errorf("cut off: %v", err)
	}
	if left := uploads(t, work); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestStageIsOnceForAll(t *testing.T) {
	f, work := folder(t)
	in := files.Incoming{Key: "k1", Name: "a.txt", MediaType: "text/plain", Content: []byte("one")}
	first, err := f.Stage(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.Stage(t.Context(), in)
	if err != nil || again != first {
		t.Errorf("%+v, %v; want %+v", again, err, first)
	}
	put(t, first.Path, "o") // half of it, as a crash could not leave it
	if _, err := f.Stage(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(first.Path); string(text) != "one" {
		t.Errorf("after the repair: %q", text)
	}
	in.Key = "k2"
	if other, err := f.Stage(t.Context(), in); err != nil || other.Path == first.Path {
		t.Errorf("another message has the same file: %v", err)
	}
	if n := len(uploads(t, work)); n != 2 {
		t.Errorf("%d files", n)
	}
	resolved, err := f.Path(first.URI)
	if err != nil || resolved.Path != first.Path || resolved.Name != "a.txt" {
		t.Errorf("%+v, %v", resolved, err)
	}
}

func TestPaths(t *testing.T) {
	outside := put(t, filepath.Join(t.TempDir(), "outside.txt"), "x")
	f, work := folder(t)
	inside := put(t, filepath.Join(work, "a b.txt"), "x")
	put(t, filepath.Join(work, ".auth_token"), "x")
	put(t, filepath.Join(work, "secrets.d/KEY"), "x")
	put(t, filepath.Join(work, strings.Repeat("d/", 130), "far.txt"), "x")
	for name, target := range map[string]string{"out": outside, "in": inside, "dir": filepath.Dir(outside), "token": filepath.Join(work, ".auth_token"), "far": strings.Repeat("d/", 130) + "far.txt"} {
		if err := os.Symlink(target, filepath.Join(work, name)); err != nil {
			t.Fatal(err)
		}
	}
	for uri, ok := range map[string]bool{
		"workspace:" + inside: true, "file://" + inside: true, "file://localhost" + inside: true, inside: true, "workspace:/workspace/a b.txt": true,
		"file://" + work + "/a%20b.txt": true, "workspace:" + work + "/in": true, "workspace:" + work + "/x/../a b.txt": true,
		"workspace:" + outside: false, "workspace:" + work + "/out": false, work + "/dir/outside.txt": false, work + "/../" + filepath.Base(filepath.Dir(outside)): false,
		work: false, "a b.txt": false, "": false, work + "/none": false, work + "/.auth_token": false, work + "/token": false, work + "/secrets.d/KEY": false, work + "/far": false, "workspace:" + work + "/" + strings.Repeat("d/", 130) + "far.txt": false,
		"/etc/passwd": false, "workspace:/workspace/../etc/passwd": false, "http://x/" + inside: false,
	} {
		if _, err := f.Path(uri); (err == nil) != ok {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

func TestOpen(t *testing.T) {
	configs, state := t.TempDir(), t.TempDir()
	f, work := folder(t, func(c *files.Config) { c.Readable, c.Hidden = []string{configs}, []string{state} })
	put(t, filepath.Join(configs, "config.yaml"), "x")
	for _, name := range []string{".auth_token", ".platform_inbound_secret", ".codex/auth.json", ".codex/auth.json.1.tmp", ".runtime/state.db-wal", "secrets.d/K"} {
		put(t, filepath.Join(configs, name), "secret")
	}
	if err := os.Symlink(filepath.Join(configs, ".auth_token"), filepath.Join(work, "t")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(work, "a.txt"), "text")
	put(t, filepath.Join(state, "x"), "secret")
	for path, want := range map[string]error{
		work + "/a.txt": nil, configs + "/config.yaml": nil, work + "/none": files.ErrNotHere, work: files.ErrForbidden,
		configs + "/.auth_token": files.ErrForbidden, configs + "/.platform_inbound_secret": files.ErrForbidden, configs + "/.codex/auth.json": files.ErrForbidden,
		configs + "/.runtime/state.db-wal": files.ErrForbidden, configs + "/secrets.d/K": files.ErrForbidden, work + "/t": files.ErrForbidden,
		state + "/x": files.ErrForbidden, "/etc/passwd": files.ErrForbidden, "/etc/none": files.ErrForbidden, "a.txt": files.ErrForbidden, work + "/../../etc/passwd": files.ErrForbidden,
	} {
		file, _, err := f.Open(path)
		if err == nil {
			_ = file.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}

// offer copies what a reply names.
func offer(t *testing.T, f *files.Folder, text string) (out []files.File) {
	t.Helper()
	for _, file := range f.Named(files.Reply{Text: text}) {
		copied, err := f.Copy(file, files.Owner{})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, copied)
	}
	return out
}

func TestOffer(t *testing.T) {
	f, work := folder(t)
	put(t, filepath.Join(work, "out/report one.md"), "one")
	put(t, filepath.Join(work, "b.csv"), "two")
	put(t, filepath.Join(work, ".auth_token"), "secret")
	staged, err := f.Add("c.txt", "", strings.NewReader("three"), 9)
	if err != nil {
		t.Fatal(err)
	}
	text := "I wrote `" + work + "/out/report one.md` and [this](/workspace/b.csv). See " + staged.Path + ", " + work + "/.auth_token, /etc/passwd and http://x" + work + "/b.csv."
	got := offer(t, f, text)
	if len(got) != 3 {
		t.Fatalf("offered %+v", got)
	}
	for i, want := range []struct{ name, media, text string }{{"report one.md", "text/markdown", "one"}, {"b.csv", "text/csv", "two"}, {"c.txt", "text/plain", "three"}} {
		content, err := os.ReadFile(strings.TrimPrefix(got[i].URI, "workspace:"))
		if got[i].Name != want.name || got[i].MediaType != want.media || string(content) != want.text || err != nil {
			t.Errorf("%+v with %q, %v; want %+v", got[i], content, err, want)
		}
	}
	if again := offer(t, f, text); len(again) != 3 || again[0] != got[0] {
		t.Errorf("again: %+v", again)
	}
	if n := len(uploads(t, work)); n != 3 {
		t.Errorf("%d files after two offers", n)
	}
}

func TestSweep(t *testing.T) {
	f, work := folder(t)
	if err := f.Sweep(time.Now()); err != nil {
		t.Fatal(err)
	}
	old, err := f.Add("old", "", strings.NewReader("x"), 9)
	if err != nil {
		t.Fatal(err)
	}
	left := put(t, filepath.Join(filepath.Dir(old.Path), ".part-1"), "x")
	comes := put(t, filepath.Join(filepath.Dir(old.Path), ".part-2"), "x")
	theirs := put(t, filepath.Join(filepath.Dir(old.Path), "somebody's"), "x")
	for path, age := range map[string]time.Duration{old.Path: 48 * time.Hour, left: 20 * time.Minute, comes: 5 * time.Minute, theirs: 48 * time.Hour} {
		past := time.Now().Add(-age)
		if err := os.Chtimes(path, past, past); err != nil {
			t.Fatal(err)
		}
	}
	young, err := f.Add("young", "", strings.NewReader("x"), 9)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Sweep(time.Now().Add(-24 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	names := uploads(t, work)
	slices.Sort(names)
	want := []string{".part-2", filepath.Base(young.Path), "somebody's"}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("left are %v, want %v", names, want)
	}
}

// pending is a platform that holds one file.
type pending struct {
	mu    sync.Mutex
	asked []string
	err   error
}

func (p *pending) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, what)
}

func (p *pending) PendingUpload(_ context.Context, id string, w io.Writer) error {
	p.note("get " + id)
	if p.err != nil {
		_, _ = w.Write([]byte("half"))
		return p.err
	}
	_, err := w.Write([]byte("content of " + id))
	return err
}

func (p *pending) AckUpload(_ context.Context, id string) error {
	p.note("ack " + id)
	return nil
}

func TestPending(t *testing.T) {
	p := &pending{}
	f, work := folder(t, func(c *files.Config) { c.Pending = p })
	in := files.Incoming{Key: "k", Name: "a.txt", URI: "platform-pending:ws-1/f-1"}
	file, err := f.Stage(t.Context(), in)
	if text, _ := os.ReadFile(file.Path); err != nil || string(text) != "content of f-1" {
		t.Fatalf("%q, %v", text, err)
	}
	in.Key = "another message"
	if again, err := f.Stage(t.Context(), in); err != nil || again.Path != file.Path {
		t.Errorf("%+v, %v", again, err)
	}
	if got := strings.Join(p.asked, ","); got != "get f-1,ack f-1,ack f-1" {
		t.Errorf("the platform was asked %s", got)
	}
	p.err = errors.New("503")
	for _, uri := range []string{"platform-pending:ws-1/f-2", "platform-pending:ws-2/f-1", "platform-pending:ws-1/../x", "platform-pending:ws-1/.."} {
		in.URI = uri
		if _, err := f.Stage(t.Context(), in); !errors.Is(err, files.ErrNotHere) {
			t.Errorf("%s: %v", uri, err)
		}
	}
	if n := len(uploads(t, work)); n != 1 {
		t.Errorf("%d files", n)
	}
}

func TestWeb(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch r.URL.Path {
		case "/a.txt":
			_, _ = w.Write([]byte("text"))
		case "/cut":
			w.Header().Set("Content-Length", "10")
			_, _ = w.Write([]byte("half"))
		default:
			http.Redirect(w, r, "/a.txt", http.StatusFound)
		}
	}))
	t.Cleanup(server.Close)
	f, work := folder(t, func(c *files.Config) { c.Guard = netguard.New(netip.MustParsePrefix("127.0.0.0/8")) })
	file, err := f.Stage(t.Context(), files.Incoming{Key: "k", URI: server.URL + "/a.txt?x=1"})
	if text, _ := os.ReadFile(file.Path); err != nil || string(text) != "text" || file.Name != "a.txt" {
		t.Errorf("%+v: %q, %v", file, text, err)
	}
	if _, err := f.Stage(t.Context(), files.Incoming{Key: "k", URI: server.URL + "/a.txt?x=1"}); err != nil || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	for _, path := range []string{"/cut", "/moved"} {
		if _, err := f.Stage(t.Context(), files.Incoming{Key: path, URI: server.URL + path + "?secret"}); !errors.Is(err, files.ErrNotHere) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", path, err)
		}
	}
	closed, _ := folder(t, func(c *files.Config) { c.Guard = netguard.New() })
	if _, err := closed.Stage(t.Context(), files.Incoming{Key: "k", URI: server.URL + "/a.txt"}); !errors.Is(err, files.ErrForbidden) {
		t.Errorf("loopback: %v", err)
	}
	if n := len(uploads(t, work)); n != 1 {
		t.Errorf("%d files", n)
	}
}
