package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// placed is the program where a platform of an era has put it.
type placed struct {
	*program
	platform *fakeplatform.Platform
	handle   *fakeplatform.Handle
}

func startPlaced(t *testing.T, era fakeplatform.Era) *placed {
	t.Helper()
	x := &placed{platform: fakeplatform.Start(t, era)}
	addr := progtest.FreeAddr(t)
	x.handle = x.platform.Add(fakeplatform.Workspace{ID: "7d2f0c9e-35c1-4a52-9b1e-0f6f6a2f1c11", URL: "http://" + addr, Status: "online"})
	configs := codextest.Dir(t, "configs")
	for name, text := range map[string]string{".auth_token": x.handle.Token(), ".platform_inbound_secret": x.handle.InboundSecret()} {
		writeFile(t, filepath.Join(configs, name), text+"\n")
	}
	x.program = start(t, "WORKSPACE_ID="+x.handle.ID(), "PLATFORM_URL="+x.platform.URL, "CONFIGS_DIR="+configs, "RUNTIME_ADDR="+addr,
		"CODEX_SANDBOX=danger-full-access", "CODEX_APPROVAL_POLICY=never")
	return x
}

// send sends a message as the user's browser does and returns the first part of the answer.
func (x *placed) send(params object) (text string, result object) {
	x.t.Helper()
	return userSends(x.t, x.handle, params)
}

func userSends(t *testing.T, to *fakeplatform.Handle, params object) (text string, result object) {
	t.Helper()
	body, _ := json.Marshal(object{"method": "message/send", "params": params})
	reply, err := to.Send(t.Context(), string(body))
	if err != nil || reply.Status != 200 {
		t.Fatalf("%d %s, %v", reply.Status, reply.Body, err)
	}
	return readReply(t, string(reply.Body))
}

func inBothEras(t *testing.T, test func(t *testing.T, x *placed)) {
	for _, era := range []fakeplatform.Era{fakeplatform.APR, fakeplatform.AUG} {
		t.Run(fmt.Sprint(era), func(t *testing.T) { test(t, startPlaced(t, era)) })
	}
}

// TestThroughThePlatform has the user talk through a platform of either era, which sends
// one message twice.
func TestThroughThePlatform(t *testing.T) {
	t.Parallel()
	inBothEras(t, func(t *testing.T, x *placed) {
		typed := func(id, text string) object {
			return object{"message": object{"role": "user", "messageId": id, "parts": []object{{"type": "text", "text": text}}}}
		}
		x.send(typed("m1", "remember teal-7"))
		x.platform.RepeatDispatch(1)
		if text, _ := x.send(typed("m2", "recall")); !strings.Contains(text, "teal-7") {
			t.Errorf("recalled %q", text)
		}
		if n := len(x.Model.Requests()); n != 2 {
			t.Errorf("the model was asked %d times", n)
		}
		for _, d := range x.platform.Dispatches() {
			if d.Status != 200 || d.Err != nil {
				t.Errorf("%+v", d)
			}
		}
		if told := x.handle.Notices(); len(told) != 0 {
			t.Errorf("the user was told %v", told)
		}
	})
}

// TestPendingFile is one that the platform holds until it is fetched.
func TestPendingFile(t *testing.T) {
	t.Parallel()
	x := startPlaced(t, fakeplatform.AUG)
	id := x.handle.AddPending("plan.txt", "text/plain", []byte("the plan"))
	x.send(object{"message": object{"role": "user", "messageId": "p1", "parts": []object{
		textPart("say got it"), {"kind": "file", "file": object{"uri": "platform-pending:" + x.handle.ID() + "/" + id, "name": "plan.txt", "mimeType": "text/plain"}},
	}}})
	if !x.handle.PendingAcked(id) {
		t.Error("the platform does not know that the file was fetched")
	}
	requests := x.Model.Requests()
	got := requests[len(requests)-1].LastUserText()
	_, path, ok := strings.Cut(got, "say got it\n\nAttached files:\n- plan.txt (text/plain) at ")
	if content, err := os.ReadFile(path); !ok || err != nil || string(content) != "the plan" {
		t.Errorf("codex got %q: %q, %v", got, content, err)
	}
}

// TestUploadThroughThePlatform is relayed to the workspace while the browser waits.
func TestUploadThroughThePlatform(t *testing.T) {
	t.Parallel()
	x := startPlaced(t, fakeplatform.AUG)
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	part, err := parts.CreateFormFile("files", "a.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write([]byte("text"))
	_ = parts.Close()
	res, err := x.handle.UserUploads(parts.FormDataContentType(), &form)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out object
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || res.StatusCode != http.StatusOK || at(out, "files", 0, "name") != "a.txt" {
		t.Errorf("%s %v, %v", res.Status, out, err)
	}
}

// TestOutageOfThePlatform has the platform vanish while a reply is owed.
func TestOutageOfThePlatform(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	inBothEras(t, func(t *testing.T, x *placed) {
		w, g := &workspace{program: x.program}, newGate()
		x.Model.SetScript(g.script)
		x.platform.Outage(true)
		w.leave(g, `{"id":1,"jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"o1","parts":[{"text":"slowly\nsay back","type":"text"}],"role":"user"}}}`)
		progtest.WaitFor(t, "the reply to be tried", func() bool { return strings.Contains(x.Log(), "could not be given a late reply") })
		x.platform.Outage(false)
		progtest.WaitFor(t, "the user to be told", func() bool { return len(x.handle.Notices()) == 1 })
		if told := x.handle.Notices(); told[0].Message != "back" {
			t.Errorf("the user was told %v", told)
		}
	})
}

// TestFileToTheUser is one that codex sends in the middle of its turn. The newer platform
// hands it straight back to us while we wait: with one thing at a time that would be the end.
func TestFileToTheUser(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	eras(t, func(t *testing.T, m *member) {
		m.online()
		if err := os.WriteFile(filepath.Join(m.Work, "report.txt"), []byte("report"), 0o600); err != nil {
			t.Fatal(err)
		}
		got := m.user("m1", `call send_message_to_user {"message":"look","attachments":["report.txt","report.txt"]}`)
		told := m.handle.Notices()
		if !strings.Contains(got, "with 2 attachment(s)") || len(told) != 1 || len(told[0].Attachments) != 2 || told[0].Attachments[0].Name != "report.txt" {
			t.Fatalf("%q, and the user was told %+v", got, told)
		}
		// All or nothing: one that is not there, and the user hears of none.
		got = m.user("m2", `call send_message_to_user {"message":"look","attachments":["report.txt","none.txt"]}`)
		if !strings.HasPrefix(got, "Error: ") || len(m.handle.Notices()) != 1 {
			t.Errorf("%q, and the user was told %+v", got, m.handle.Notices())
		}
	})
}
