package platform_test

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A source counts how often it was opened and closed.
type source struct {
	text           string
	opened, closed int
}

func (s *source) file(name, kind string) platform.File {
	return platform.File{Name: name, Type: kind, Size: int64(len(s.text)), Open: func() (io.ReadCloser, error) {
		s.opened++
		return struct {
			io.Reader
			io.Closer
		}{strings.NewReader(s.text), closer(func() { s.closed++ })}, nil
	}}
}

type closer func()

func (c closer) Close() error {
	c()
	return nil
}

func TestUpload(t *testing.T) {
	s := newSite(t, fakeplatform.APR)
	a, b := &source{text: "one"}, &source{text: strings.Repeat("x", 1<<18)}
	files, err := s.Upload(t.Context(), a.file("a ä.png", ""), b.file("b", "application/pdf"))
	if err != nil || len(files) != 2 || files[0].Name != "a ä.png" || files[0].MimeType != "image/png" || files[1].MimeType != "application/pdf" || files[1].Size != 1<<18 {
		t.Fatalf("%v: %+v", err, files)
	}
	if a.opened != 1 || a.closed != 1 || b.opened != 1 || b.closed != 1 {
		t.Errorf("%+v", a)
	}
	sent := s.p.Requests()[0]
	_, params, err := mime.ParseMediaType(sent.Header.Get("Content-Type"))
	if err != nil || sent.Header.Get("Content-Length") == "" {
		t.Fatalf("%v: %v", err, sent.Header)
	}
	form, err := multipart.NewReader(bytes.NewReader(sent.Body), params["boundary"]).ReadForm(1 << 20)
	if err != nil || len(form.File["files"]) != 2 {
		t.Errorf("%v: %+v", err, form)
	}
	// The platform was too busy to take it: the files are read anew.
	s.p.Behave("*/chat/uploads", fakeplatform.TooMany(0).Times(1))
	if _, err = s.Upload(t.Context(), a.file("a", "")); err != nil || a.closed != a.opened {
		t.Errorf("%v: %+v", err, a)
	}
}

func TestUploadIsAllOrNothing(t *testing.T) {
	s := newSite(t, fakeplatform.APR)
	a := &source{text: "one"}
	grown := a.file("grown", "")
	grown.Size--
	shrunk := a.file("shrunk", "")
	shrunk.Size++
	missing := platform.File{Name: "missing", Size: 1, Open: func() (io.ReadCloser, error) { return nil, errors.New("it is gone") }}
	for _, bad := range []platform.File{grown, shrunk, missing, {Name: "none"}} {
		files, err := s.Upload(t.Context(), a.file("a", ""), bad)
		if err == nil || files != nil || !strings.Contains(err.Error(), bad.Name) {
			t.Errorf("%s: %v, %v", bad.Name, files, err)
		}
	}
	if a.opened != a.closed {
		t.Errorf("opened %d, closed %d", a.opened, a.closed)
	}
	s = newSite(t, fakeplatform.APR) // the other may still see requests that were given up
	for _, answer := range []string{`{"files":[]}`, `{"files":[{"name":"a"}]}`, `{}`} {
		s.p.Behave("*/chat/uploads", fakeplatform.Refuse(200, answer).Times(1))
		if files, err := s.Upload(t.Context(), a.file("a", "")); err == nil || files != nil {
			t.Errorf("%s: %v", answer, files)
		}
	}
	s.p.Behave("*/chat/uploads", fakeplatform.Lose().Times(1))
	if _, err := s.Upload(t.Context(), a.file("a", "")); err == nil || a.opened != a.closed {
		t.Errorf("%v", err)
	}
}

// TestUploadThatIsRefusedAtOnce closes what it has opened.
func TestUploadThatIsRefusedAtOnce(t *testing.T) {
	s := newSite(t, fakeplatform.APR)
	s.p.Behave("*/chat/uploads", fakeplatform.Answer(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}))
	closed := make(chan struct{})
	endless := platform.File{Name: "large", Size: 1 << 40, Open: func() (io.ReadCloser, error) {
		return struct {
			io.Reader
			io.Closer
		}{zeros{}, closer(func() { close(closed) })}, nil
	}}
	if _, err := s.Upload(t.Context(), endless); err == nil {
		t.Error("it was taken")
	}
	<-closed
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestPendingUpload(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	id := s.w.AddPending("a.png", "image/png", []byte("picture"))
	var got bytes.Buffer
	s.p.Behave("*/content", fakeplatform.Refuse(502).Times(1))
	file, err := s.PendingUpload(t.Context(), id, &got, 100)
	if err != nil || got.String() != "picture" || file.Type != "image/png" || file.Size != 7 {
		t.Fatalf("%v: %+v, %s", err, file, &got)
	}
	got.Reset()
	if _, err = s.PendingUpload(t.Context(), id, &got, 6); err == nil || !strings.Contains(err.Error(), "more than the 6") || got.Len() > 0 {
		t.Errorf("too large: %v, %s", err, &got)
	}
	s.p.Behave("*/content", fakeplatform.Answer(func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).Flush() // its size is not said
		_, _ = io.WriteString(w, "picture of more")
	}).Times(1))
	if _, err = s.PendingUpload(t.Context(), id, &got, 6); err == nil || !strings.Contains(err.Error(), "more than the 6") || got.Len() > 7 {
		t.Errorf("too large, unsaid: %v, %s", err, &got)
	}
	s.p.Behave("*/content", fakeplatform.Cut(3).Times(1))
	got.Reset()
	if _, err = s.PendingUpload(t.Context(), id, &got, 100); err == nil || got.String() != "pic" {
		t.Errorf("cut off: %v, %s", err, &got)
	}
	s.p.Behave("*/ack", fakeplatform.Lose().Times(1)) // so the second finds it gone
	if err = s.AckUpload(t.Context(), id); err != nil || !s.w.PendingAcked(id) {
		t.Errorf("%v", err)
	}
	if _, err = s.PendingUpload(t.Context(), id, io.Discard, 100); platform.StatusOf(err) != 404 || errors.Is(err, platform.ErrUnsupported) {
		t.Errorf("gone: %v", err)
	}
	older := newSite(t, fakeplatform.APR)
	if err = older.AckUpload(t.Context(), id); !errors.Is(err, platform.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}
