package fakeplatform_test

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
)

// An inboxRow is what these tests read of a row.
type inboxRow struct {
	ID          string  `json:"id"`
	Source      *string `json:"source_id"`
	Method      string  `json:"method"`
	Summary     string  `json:"summary"`
	Seq         int64   `json:"seq"`
	PeerName    string  `json:"peer_name"`
	CardURL     string  `json:"agent_card_url"`
	Attachments []struct {
		Kind, URI, Name string
		MimeType        string `json:"mime_type"`
	} `json:"attachments"`
	Request json.RawMessage `json:"request_body"`
}

// poll reads the inbox as a workspace does.
func poll(t *testing.T, p *fakeplatform.Platform, w *fakeplatform.Handle, query string) (rows []inboxRow, status int) {
	t.Helper()
	status, answer := ask(t, p, w.Token(), "", "GET", "/workspaces/"+w.ID()+"/activity?type=a2a_receive&include=peer_info&"+query, "")
	if status == 200 {
		if err := json.Unmarshal([]byte(answer), &rows); err != nil {
			t.Fatalf("%s: %v", answer, err)
		}
	}
	return rows, status
}

func summaries(rows []inboxRow) string {
	var all []string
	for _, r := range rows {
		all = append(all, r.Summary)
	}
	return strings.Join(all, " ")
}

// TestInboxPages reads an inbox page by page. An older platform knows no cursor: each
// page is the newest rows.
func TestInboxPages(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		p := fakeplatform.Start(t, era)
		w := p.Add(fakeplatform.Workspace{Poll: true})
		w.AddRow(fakeplatform.Row{Summary: "old", Method: "message/send", At: time.Now().Add(-time.Hour)})
		for i := range 5 {
			w.AddRow(fakeplatform.Row{Summary: strconv.Itoa(i), Method: "message/send"})
		}
		first, _ := poll(t, p, w, "since_secs=600")
		wantFirst := map[fakeplatform.Era]string{fakeplatform.JUN: "4 3 2 1 0", fakeplatform.AUG: "4 3 2 1 0", fakeplatform.APR: "4 3 2 1 0 old"}[era]
		if got := summaries(first); got != wantFirst {
			t.Errorf("the first page is %q", got)
		}
		cursor := first[len(first)-1].ID
		if era == fakeplatform.APR {
			cursor = first[4].ID
		}
		next, _ := poll(t, p, w, "limit=2&since_id="+cursor)
		wantNext := map[fakeplatform.Era]string{fakeplatform.JUN: "1 2", fakeplatform.AUG: "1 2", fakeplatform.APR: "4 3"}[era]
		if got := summaries(next); got != wantNext {
			t.Errorf("the page behind %q is %q", "0", got)
		}
		if era != fakeplatform.AUG && next[0].Seq != 0 {
			t.Error("an older platform has numbers")
		}
		if era == fakeplatform.APR {
			return
		}
		w.RepeatRows(1)
		if rows, _ := poll(t, p, w, "since_id="+next[1].ID); summaries(rows) != "3 3 4" {
			t.Errorf("with a row twice the page is %q", summaries(rows))
		}
		w.Forget(1)
		if _, status := poll(t, p, w, "since_id="+cursor); status != 410 {
			t.Errorf("a pruned cursor: %d", status)
		}
		other := p.Add(fakeplatform.Workspace{Poll: true})
		if _, status := poll(t, p, w, "since_id="+other.AddRow(fakeplatform.Row{})); status != 410 {
			t.Errorf("a cursor of another workspace: %d", status)
		}
	})
}

// TestInboxSenders has a user and a peer write to a workspace that polls, and the
// workspace answer both: its own words come back in its inbox.
func TestInboxSenders(t *testing.T) {
	p := fakeplatform.Start(t, fakeplatform.AUG)
	w := p.Add(fakeplatform.Workspace{Poll: true})
	peer := p.Add(fakeplatform.Workspace{Name: "writer", Poll: true})
	reply, err := w.Send(t.Context(), `{"method":"message/send","params":{"message":{"messageId":"m1","parts":[{"kind":"text","text":"one"},
		{"kind":"file","file":{"uri":"platform-pending:x/1","name":"a.png","mimeType":"image/png"}}]}}}`)
	if err != nil || reply.Status != 200 || !strings.Contains(string(reply.Body), `"status":"queued"`) || !strings.Contains(string(reply.Body), `"delivery_mode":"poll"`) {
		t.Errorf("%d %s, %v", reply.Status, reply.Body, err)
	}
	for range 2 { // the second text of a message is lost
		if reply, err := w.SendFrom(t.Context(), peer, `{"method":"message/send","params":{"message":{"messageId":"m2","parts":[{"kind":"text","text":"two"}]}}}`); err != nil || reply.Status != 200 {
			t.Errorf("%d %s, %v", reply.Status, reply.Body, err)
		}
	}
	status, answer := ask(t, p, w.Token(), "", "POST", "/workspaces/"+w.ID()+"/notify", `{"message":"reply"}`)
	want(t, status, answer, 200, "sent")
	status, answer = ask(t, p, w.Token(), w.ID(), "POST", "/workspaces/"+peer.ID()+"/a2a",
		`{"jsonrpc":"2.0","id":"1","method":"message/send","params":{"message":{"messageId":"m3","role":"user","parts":[{"kind":"text","text":"answer"}],"metadata":{"mark":1}}}}`)
	want(t, status, answer, 200, `"status":"queued"`)

	rows, _ := poll(t, p, w, "since_secs=600")
	if len(rows) != 3 {
		t.Fatalf("%d rows: %+v", len(rows), rows)
	}
	note, second, first := rows[0], rows[1], rows[2]
	if first.Source != nil || first.Method != "message/send" || len(first.Attachments) != 1 || first.Attachments[0].Kind != "image" || first.Attachments[0].Name != "a.png" {
		t.Errorf("of the user: %+v", first)
	}
	if second.Source == nil || *second.Source != peer.ID() || second.PeerName != "writer" || second.CardURL == "" {
		t.Errorf("of the peer: %+v", second)
	}
	if note.Source != nil || note.Method != "notify" {
		t.Errorf("its own: %+v", note)
	}
	theirs, _ := poll(t, p, peer, "since_secs=600")
	if len(theirs) != 1 || *theirs[0].Source != w.ID() || !strings.Contains(string(theirs[0].Request), `"mark":1`) {
		t.Errorf("the peer has %+v", theirs)
	}
	w.Mute(true)
	status, answer = ask(t, p, w.Token(), "", "POST", "/workspaces/"+w.ID()+"/notify", `{"message":"more"}`)
	want(t, status, answer, 403, "talk_to_user_disabled")
	status, answer = ask(t, p, w.Token(), "", "POST", "/workspaces/"+w.ID()+"/notify", `{"message":""}`)
	want(t, status, answer, 400, "message is required")
	if n := len(w.Notices()); n != 1 {
		t.Errorf("the user was told %d things", n)
	}
}

// TestInboxUploads keeps files for a workspace that has no address.
func TestInboxUploads(t *testing.T) {
	p := fakeplatform.Start(t, fakeplatform.AUG)
	w := p.Add(fakeplatform.Workspace{Poll: true})
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	part, _ := parts.CreateFormFile("files", "a.txt")
	_, _ = io.WriteString(part, "hello")
	_ = parts.Close()
	res, err := w.UserUploads(parts.FormDataContentType(), &form)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out struct {
		Files []struct{ URI, Name string }
	}
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || res.StatusCode != http.StatusOK || len(out.Files) != 1 {
		t.Fatalf("%d %+v, %v", res.StatusCode, out, err)
	}
	rows, _ := poll(t, p, w, "since_secs=600")
	if len(rows) != 1 || rows[0].Method != "chat_upload_receive" || !strings.Contains(string(rows[0].Request), out.Files[0].URI) {
		t.Errorf("%+v", rows)
	}
	id := strings.TrimPrefix(out.Files[0].URI, "platform-pending:"+w.ID()+"/")
	status, answer := ask(t, p, w.Token(), "", "GET", "/workspaces/"+w.ID()+"/pending-uploads/"+id+"/content", "")
	want(t, status, answer, 200, "hello")
}

// TestKill loses the answer, and not what was done.
func TestKill(t *testing.T) {
	p := fakeplatform.Start(t, fakeplatform.AUG)
	w := p.Add(fakeplatform.Workspace{Poll: true})
	asked := make(chan struct{})
	p.Behave("GET */activity", fakeplatform.Answer(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}).Times(1))
	polled := make(chan int, 1)
	go func() {
		status, _ := ask(t, p, w.Token(), "", "GET", "/workspaces/"+w.ID()+"/activity", "")
		polled <- status
	}()
	<-asked
	p.Kill()
	if status := <-polled; status != 0 {
		t.Errorf("whoever asked got %d", status)
	}
	if status, _ := ask(t, p, w.Token(), "", "GET", "/workspaces/"+w.ID()+"/activity", ""); status != 0 {
		t.Errorf("a dead platform answers %d", status)
	}
	p.Outage(false)
	if _, status := poll(t, p, w, ""); status != 200 {
		t.Errorf("back again: %d", status)
	}
}
