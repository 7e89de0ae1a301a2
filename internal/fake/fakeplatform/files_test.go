package fakeplatform_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
)

// TestUploadsComeBack has the newer platform hand the files to the workspace.
func TestUploadsComeBack(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		p := fakeplatform.Start(t, era)
		w := p.Add(fakeplatform.Workspace{})
		a := newAgent(t, func(rw http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+w.InboundSecret() {
				http.Error(rw, "unauthorized", http.StatusUnauthorized)
				return
			}
			_, _ = io.WriteString(rw, `{"files":[{"uri":"workspace:/from-the-agent"}]}`)
		})
		var form bytes.Buffer
		parts := multipart.NewWriter(&form)
		part, _ := parts.CreateFormFile("files", "a.txt")
		_, _ = io.WriteString(part, "hello")
		_ = parts.Close()
		send := func() (int, string) {
			res, err := w.UserUploads(parts.FormDataContentType(), bytes.NewReader(form.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			text, _ := io.ReadAll(res.Body)
			return res.StatusCode, string(text)
		}
		if era != fakeplatform.APR {
			status, answer := send()
			want(t, status, answer, 503, "no URL")
		}
		register(t, p, w, a.url)
		status, answer := send()
		if era == fakeplatform.APR {
			want(t, status, answer, 200, `-a.txt"`)
			return
		}
		want(t, status, answer, 200, "from-the-agent")
		if got := a.got[0]; got.URL.Path != "/internal/chat/uploads/ingest" || !strings.Contains(a.body[0], "hello") || got.ContentLength <= 0 {
			t.Errorf("%s: %s", got.URL.Path, a.body[0])
		}
	})
}

func TestFilesThatWait(t *testing.T) {
	p := fakeplatform.Start(t, fakeplatform.AUG)
	w := p.Add(fakeplatform.Workspace{})
	id := w.AddPending("a.txt", "text/plain", []byte("hello"))
	if row := w.Rows()[0]; row.Method != "chat_upload_receive" || !strings.Contains(string(row.RequestBody), "platform-pending:"+w.ID()+"/"+id) {
		t.Errorf("%+v", row)
	}
	path := "/workspaces/" + w.ID() + "/pending-uploads/" + id
	status, answer := ask(t, p, w.Token(), "", "GET", path+"/content", "")
	want(t, status, answer, 200, "hello")
	status, answer = ask(t, p, w.Token(), "", "POST", path+"/ack", "")
	want(t, status, answer, 200, `{"acked":true}`)
	status, answer = ask(t, p, w.Token(), "", "POST", path+"/ack", "")
	want(t, status, answer, 404, "not found")
}

// TestInboundAuth shows the workspace its secret when the platform is told to.
func TestInboundAuth(t *testing.T) {
	p := fakeplatform.Start(t, fakeplatform.AUG)
	p.AlwaysAuth = true
	a := newAgent(t, says("hi"))
	w := p.Add(fakeplatform.Workspace{})
	register(t, p, w, a.url)
	if _, err := w.Say(t.Context(), "hi"); err != nil || a.got[0].Header.Get("Authorization") != "Bearer "+w.InboundSecret() {
		t.Errorf("%v: %v", err, a.got[0].Header)
	}
}
