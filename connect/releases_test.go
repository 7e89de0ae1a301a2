package connect_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	system  = runtime.GOOS + "_" + runtime.GOARCH
	archive = "molecule-codex-runtime_" + system + ".tar.gz"
)

// A releases serves the files of a release, and notes what it is asked for.
type releases struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

// serve offers these files. Of one that is named in cut, a part comes.
func serve(t *testing.T, files map[string]string, cut ...string) *releases {
	t.Helper()
	x := &releases{}
	x.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		x.mu.Lock()
		x.asked = append(x.asked, name)
		x.mu.Unlock()
		text, there := files[name]
		if !there {
			http.NotFound(w, r)
			return
		}
		if len(cut) > 0 && cut[0] == name {
			w.Header().Set("Content-Length", strconv.Itoa(len(text)))
			text = text[:len(text)/2]
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(x.Close)
	return x
}

// was returns what was asked for since it was last called.
func (x *releases) was() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	asked := x.asked
	x.asked = nil
	return strings.Join(asked, " ")
}

// packed is an archive with a program in it.
func packed(t *testing.T, program string) string {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	files := tar.NewWriter(zipped)
	err := files.WriteHeader(&tar.Header{Name: "molecule-codex-runtime/runtime", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(program))})
	if err == nil {
		_, err = files.Write([]byte(program))
	}
	if err = errors.Join(err, files.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// sums is a line of SHA256SUMS, between others.
func sums(sum, name string) string {
	other := strings.Repeat("0", 64)
	return other + "  a" + name + "\n" + sum + "  " + name + "\n" + other + "  " + name + ".old\n"
}

// ofRelease is the block as make release writes it: of a release, with checksums.
func ofRelease(name string, sums ...string) string {
	block := strings.Replace(filled(goodURL, goodID, goodToken, goodMCP), "\nrelease=\n", "\nrelease="+name+"\n", 1)
	return strings.Replace(block, "\nsums=\n", "\nsums='"+strings.Join(sums, " ")+"'\n", 1)
}

// A silence is a server that takes a request, and does not answer.
type silence struct {
	url   string
	asked chan struct{}
}

func silent(t *testing.T) silence {
	t.Helper()
	asked := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	return silence{server.URL, asked}
}
