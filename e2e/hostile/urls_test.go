package hostile

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A canary listens where nothing that callers name may lead.
type canary struct {
	port   string
	visits atomic.Int32 // connections: also one that is not spoken on is one too many
}

// sing starts the canary on both loopbacks, on one port.
func sing(t *testing.T) *canary {
	t.Helper()
	c := &canary{}
	first := c.listen(t, "127.0.0.1:0")
	_, c.port, _ = net.SplitHostPort(first.Addr().String())
	c.listen(t, "[::1]:"+c.port) // where there is none, nothing gets there either
	return c
}

func (c *canary) listen(t *testing.T, addr string) net.Listener {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", addr)
	if err != nil {
		t.Logf("the canary does not sing at %s: %v", addr, err)
		return nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			c.visits.Add(1)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = ln.Close()
		<-done
	})
	return ln
}

// allowed is the one address of loopback that callers' URLs may lead to here: a receiver
// there shows that what is sent goes out at all, and that redirects are not followed.
const allowed = "127.0.0.2"

// A receiver listens at the allowed address.
type receiver struct {
	url    string
	visits atomic.Int32
}

// receive starts one that sends its visitors on to elsewhere.
func receive(t *testing.T, elsewhere string) *receiver {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", allowed+":0")
	if err != nil {
		t.Skipf("there is no %s here: %v", allowed, err)
	}
	r := &receiver{url: "http://" + ln.Addr().String()}
	server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.visits.Add(1)
		w.Header().Set("Refresh", "0; url="+elsewhere)
		http.Redirect(w, req, elsewhere, http.StatusTemporaryRedirect)
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(ln) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return r
}

// named are names that the program's resolver knows, and that lead where none may go.
func named() map[string][]string {
	return map[string][]string{
		"loopback.example": {"127.0.0.1"}, "loopback6.example": {"::1"}, "mapped.example": {"::ffff:127.0.0.1"}, "both.example": {"127.0.0.1", "::1"},
		"metadata.example": {"169.254.169.254"}, "private.example": {"10.0.0.1"}, "nothing.example": {"0.0.0.0"},
	}
}

// withNames has the program start where those names lead there, which takes a root that
// may mount. The settings say how.
func withNames(t *testing.T) (program string, args []string, ok bool) {
	t.Helper()
	if err := exec.CommandContext(t.Context(), "unshare", "--mount", "--propagation", "private", "true").Run(); err != nil {
		t.Logf("no names are made up: %v", err)
		return binary, []string{"serve"}, false
	}
	dir := codextest.Dir(t, "names")
	hosts := "127.0.0.1 localhost\n::1 localhost ip6-localhost\n"
	for name, addresses := range named() {
		for _, address := range addresses {
			hosts += address + " " + name + "\n"
		}
	}
	// Nothing answers there, and that is known at once.
	err := errors.Join(os.WriteFile(filepath.Join(dir, "hosts"), []byte(hosts), 0o644), os.WriteFile(filepath.Join(dir, "resolv.conf"), []byte("nameserver 127.0.0.9\noptions timeout:1 attempts:1\n"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("mount --bind '%s/hosts' /etc/hosts && mount --bind '%s/resolv.conf' /etc/resolv.conf && exec '%s' serve", dir, dir, binary)
	return "unshare", []string{"--mount", "--propagation", "private", "sh", "-c", script}, true
}

// urls are spellings of addresses that callers' URLs must not lead to. PORT is the canary's.
func urls(names bool) (all []string) {
	for _, host := range []string{
		"127.0.0.1", "127.1", "127.0.1", "127.0.0.1.", "127.000.000.001", "127.255.255.254", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "0", "0.0.0.0",
		"[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[::ffff:0:7f00:1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]",
		"[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]", "[fe80::1%25lo]", "[::1%25lo]", "[::1%lo]", "[fec0::1]", "[fd00::1]", "[ff02::1]",
		"localhost", "LOCALHOST.", "localhost.localdomain", "a.localhost", "ip6-localhost", "ip6-loopback", "127。0。0。1", "①②⑦.0.0.1", "loc%61lhost", "127.0.0.1%00.example.com", "127.0.0.1%2f.example.com",
		"example.com@127.0.0.1", "user:pass@127.0.0.1", ":@127.0.0.1", "%40@127.0.0.1", `example.com\@127.0.0.1`, "127.0.0.1\t", " 127.0.0.1", "127.0.0.1\r\nHost: x",
		"10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.100.100.200", "198.18.0.1", "192.0.2.1", "224.0.0.1", "255.255.255.255", "240.0.0.1", "metadata.google.internal",
	} {
		all = append(all, "http://"+host+":PORT/x")
	}
	all = append(all,
		"HTTP://127.0.0.1:PORT/", "https://127.0.0.1:PORT/", "ftp://127.0.0.1:PORT/", "file:///etc/passwd", "file://127.0.0.1/etc/passwd", "gopher://127.0.0.1:PORT/", "dict://127.0.0.1:PORT/", "ws://127.0.0.1:PORT/",
		"unix:///var/run/docker.sock", "data:text/plain,x", "javascript:x", "//127.0.0.1:PORT/", "http:127.0.0.1:PORT", "http:/127.0.0.1:PORT", "http:///127.0.0.1:PORT", `http:\\127.0.0.1:PORT\`, "http://[", "http://",
		"http://[::1]:PORT:PORT/", "http://127.0.0.1:PORT#@example.com/", "http://127.0.0.1:PORT?@example.com/", "http://example.com:80@127.0.0.1:PORT/", " http://127.0.0.1:PORT/", "\x00http://127.0.0.1:PORT/", "view-source:http://127.0.0.1:PORT/",
		"http://"+strings.Repeat("a", 70_000), "http://127.0.0.1:99999/", "http://127.0.0.1:-1/", "http://127.0.0.1:PORT"+"/"+strings.Repeat("a/../", 500),
	)
	if names {
		for name := range named() {
			all = append(all, "http://"+name+":PORT/x", "http://"+strings.ToUpper(name)+".:PORT/x")
		}
	}
	return all
}

// asks are the messages by which a caller has us go to a URL, in both versions.
func asks(id, url string) []string {
	v1 := object{"messageId": id, "role": "ROLE_USER", "parts": []object{{"text": "say done"}}}
	v0 := object{"messageId": id, "role": "user", "parts": []object{{"kind": "text", "text": "say done"}}}
	with := func(m object, suffix, key string, value any) object {
		out := maps.Clone(m)
		out["messageId"] = id + suffix
		if key != "" {
			out[key] = value
		}
		return out
	}
	return []string{
		rpc("SendMessage", object{"message": with(v1, "-push", "", nil), "configuration": object{"taskPushNotificationConfig": object{"url": url, "id": id}}}),
		rpc("message/send", object{"message": with(v0, "-push0", "", nil), "configuration": object{"blocking": true, "pushNotificationConfig": object{"url": url, "id": id, "token": "t"}}}),
		rpc("SendMessage", object{"message": with(v1, "-notify", "metadata", object{"notifyTarget": url})}),
		rpc("SendMessage", object{"message": with(v1, "-file", "parts", []object{{"text": "say done"}, {"url": url, "filename": "a.txt"}})}),
		rpc("message/send", object{"message": with(v0, "-file0", "parts", []object{{"kind": "text", "text": "say done"}, {"kind": "file", "file": object{"uri": url}}})}),
	}
}

// TestURLs has callers name URLs for push notifications, notices and files, of which none
// may lead to the canary.
func TestURLs(t *testing.T) {
	t.Parallel()
	bird := sing(t)
	elsewhere := receive(t, "http://127.0.0.1:"+bird.port+"/")
	program, args, names := withNames(t)
	x := &world{t: t}
	x.launchAs(program, args, "RUNTIME_ALLOW_NETWORKS="+allowed+"/32")
	x.plant()
	t.Run("forms", func(t *testing.T) {
		atOnce(some(urls(names), 9), func(url string) {
			url = strings.ReplaceAll(url, "PORT", bird.port)
			for _, body := range asks(fmt.Sprintf("url-%.300s", url), url) {
				got := x.send(x.ours(body))
				serving(t, url, got)
				clean(t, url, got)
			}
		})
	})
	t.Run("redirects", func(t *testing.T) {
		for _, body := range asks("redirected", elsewhere.url+"/x") {
			if got := x.send(x.ours(body)); !strings.Contains(got.body, "done") {
				t.Errorf("%s: %s", body, got)
			}
		}
		progtest.WaitFor(t, "what goes out to go out", func() bool { return elsewhere.visits.Load() >= 5 })
	})
	x.settled(t)
	if n := bird.visits.Load(); n != 0 {
		t.Errorf("the canary had %d visits", n)
	}
	x.unharmed(t)
}

// settled waits until what is owed to receivers has been tried: what fails waits for a
// second at least until it is tried again.
func (x *world) settled(t *testing.T) {
	t.Helper()
	said := -1
	progtest.WaitFor(t, "no more to be sent", func() bool {
		n := strings.Count(x.Log(), "push notification") + strings.Count(x.Log(), "could not be told")
		calm := n == said
		said = n
		time.Sleep(time.Second)
		return calm
	})
}
