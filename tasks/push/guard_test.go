package push

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// resolveTo makes every name lead to 127.0.0.1 until the test ends.
func resolveTo(t *testing.T) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = server.WriteTo(answerDNS(buf[:n]), from)
		}
	}()
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = before
		_ = server.Close()
		<-done
	})
}

// answerDNS answers a question for an A record with 127.0.0.1, and any other with nothing.
func answerDNS(query []byte) []byte {
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	end += 5 // the name's end, type and class
	out := append([]byte{}, query[:end]...)
	out[2], out[3] = 0x81, 0x80
	copy(out[6:12], []byte{0, 0, 0, 0, 0, 0}) // no other records
	if query[end-3] == 1 {
		out[7] = 1
		out = append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1)
	}
	return out
}

// What the guard refuses is given up at once, whatever was allowed when it was set.
func TestGuardRefuses(t *testing.T) {
	resolveTo(t)
	r := newReceiver(t, nil)
	port := r.URL[strings.LastIndex(r.URL, ":"):]
	for name, url := range map[string]string{
		"loopback": r.URL, "mapped": "http://[::ffff:127.0.0.1]" + port, "localhost": "http://localhost" + port,
		"name": "http://webhook.example" + port, "metadata": "http://169.254.169.254/latest", "scheme": "file:///etc/passwd",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.task("t", setting("c", url))
			b.tell("t", "c", "1")
			b.run()
			b.empty()
			if log := b.log.String(); strings.Count(log, "is given up") != 1 || !strings.Contains(log, "RUNTIME_ALLOW_NETWORKS") {
				t.Errorf("log %s", log)
			}
		})
	}
	b := newBench(t)
	b.task("t", setting("c", "http://webhook.example"+port))
	b.tell("t", "c", "1")
	b.run(loopback)
	b.empty()
	if n := len(r.all()); n != 1 {
		t.Errorf("%d posts, want the one that is allowed", n)
	}
}

func TestCheck(t *testing.T) {
	d := New(Config{})
	for url, want := range map[string]string{"https://example.com/x": "", "http://127.0.0.1/": "RUNTIME_ALLOW_NETWORKS", "ftp://example.com": "ftp"} {
		err := d.Check(url)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// However a post ends, and however a setting is printed, its secrets are not seen.
func TestSecretsStayOut(t *testing.T) {
	b := newBench(t)
	b.age = 2 * store.Patience // everything is given up at once, and logged
	b.timeout = time.Second
	hang := make(chan struct{})
	answers := newReceiver(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "hang"):
			<-hang
		case strings.HasSuffix(r.URL.Path, "redirect"):
			http.Redirect(w, r, "http://169.254.169.254/s3cret", http.StatusFound)
		case strings.HasSuffix(r.URL.Path, "broken"):
			conn, _, _ := w.(http.Hijacker).Hijack()
			_, _ = conn.Write([]byte("s3cret\r\n\r\n"))
			_ = conn.Close()
		default:
			http.Error(w, "s3cret", http.StatusForbidden)
		}
	})
	defer close(hang)
	bad := map[string]string{
		"refused": "http://127.0.0.1:1/s3cret", "unknown": "http://s3cret-free.invalid/s3cret", "forbidden": "http://10.0.0.1/s3cret",
		"hangs": answers.URL + "/s3cret/hang", "redirects": answers.URL + "/s3cret/redirect", "breaks": answers.URL + "/s3cret/broken",
		"refuses": answers.URL + "/s3cret", "odd": "http://127.0.0.1:1/%zzs3cret", "user": "http://s3cret:s3cret@example.com/",
	}
	for id, url := range bad {
		s := setting("c", strings.ReplaceAll(url, "s3cret-free", "free")+"?key=s3cret")
		s.Config.Token, s.Config.Auth = "s3cret", &a2a.PushAuthInfo{Scheme: "Bearer", Credentials: "s3cret"}
		b.task(id, s)
		b.tell(id, "c", `"s3cret"`)
		for _, text := range []string{s.String(), fmt.Sprintf("%v %+v %#v", s, s, s), s.LogValue().String()} {
			if strings.Contains(text, "s3cret") {
				t.Errorf("%s is shown as %s", id, text)
			}
		}
	}
	b.tire()
	b.run(loopback)
	b.empty()
	log := b.log.String()
	if strings.Contains(log, "s3cret") || strings.Count(log, "is given up") != len(bad) {
		t.Errorf("log %s", log)
	}
}
