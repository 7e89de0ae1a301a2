package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

//go:embed page
var embedded embed.FS

// The pages. Everything else in the folder is served as it is.
const (
	pageIndex    = "index.html"
	pageLogin    = "login.html"    // asks for the token
	pageAdmitted = "admitted.html" // hands the key to the browser, and leads to the console
	pageRefused  = "refused.html"  // says to strangers what opens the console
)

// An about is what a page is made of.
type about struct {
	Version string // of the runtime
	Login   bool   // people log in, and can log out
	Message string // of the login's failure, or the refusal
	Key     string // of a session that has just begun
}

func (c *Console) about(message string) about {
	return about{Version: c.cfg.Version, Login: c.cfg.Token != "", Message: message}
}

// page serves the console, or what is in front of it.
func (c *Console) page(w http.ResponseWriter, r *http.Request) {
	_, how := c.mayEnter(r)
	if how == toLogin && c.sessions.has(shown(r)) {
		how = letIn // nothing of the runtime is in the page: what fills it shows the key
	}
	switch how {
	case letIn:
		c.pages.show(w, http.StatusOK, pageIndex, c.about(""))
	case toLogin:
		c.pages.show(w, http.StatusOK, pageLogin, c.about(""))
	case shutOut:
		c.pages.show(w, http.StatusForbidden, pageRefused, c.about(c.shutOutText()))
	}
}

// pages are read when somebody looks for the first time.
type pages struct {
	templates func() (*template.Template, error)
	files     func() map[string]file
}

// A file is served as it is.
type file struct {
	media, tag string
	body       []byte
}

func newPages() *pages {
	return &pages{
		templates: sync.OnceValues(func() (*template.Template, error) { return template.ParseFS(embedded, "page/*.html") }),
		files:     sync.OnceValue(readFiles),
	}
}

func (p *pages) show(w http.ResponseWriter, status int, name string, with about) {
	var body bytes.Buffer
	all, err := p.templates()
	if err == nil {
		err = all.ExecuteTemplate(&body, name, with)
	}
	if err != nil { // a test has shown all of them
		refuse(w, http.StatusInternalServerError, "the page could not be made: "+err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}

// static serves a file of the page. It holds nothing of this runtime, so anybody may
// have it.
func (c *Console) static(w http.ResponseWriter, r *http.Request) {
	f, ok := c.pages.files()[r.PathValue("name")]
	if !ok {
		refuse(w, http.StatusNotFound, "the console has no such file")
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.media)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", f.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.body))
}

func readFiles() map[string]file {
	all := map[string]file{}
	names, _ := fs.Glob(embedded, "page/*")
	for _, name := range names {
		body, err := embedded.ReadFile(name)
		if err != nil || strings.HasSuffix(name, ".html") {
			continue // a folder, or a page
		}
		sum := sha256.Sum256(body)
		all[path.Base(name)] = file{media: mediaOf(name), tag: `"` + hex.EncodeToString(sum[:8]) + `"`, body: body}
	}
	return all
}

// mediaOf does not ask the machine's own tables for what a browser must not get wrong.
func mediaOf(name string) string {
	switch ext := path.Ext(name); ext {
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		if media := mime.TypeByExtension(ext); media != "" {
			return media
		}
		return "application/octet-stream"
	}
}
