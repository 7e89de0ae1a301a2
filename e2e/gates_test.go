package e2e

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// The tests in this file are the checks that the platform makes of a runtime before it
// trusts it: each has a known answer, and none of the words of a crash in it, which
// readReply looks for.

// examinee is a model that is good enough for them: it knows one word, it opens the file
// that it is told of, and it obeys what the user says.
func examinee(t *fakemodel.Turn) {
	said := t.LastUserText()
	if outputs := t.NewToolOutputs(); len(outputs) > 0 && strings.Contains(said, "Attached files:") {
		_, text, _ := strings.Cut(outputs[0].Text, "Output:\n")
		t.Say("The file says: " + strings.TrimSpace(text))
		return
	}
	if _, path, attached := strings.Cut(said, "(text/plain) at "); attached {
		command, _ := json.Marshal(object{"cmd": "cat '" + path + "'"})
		t.Call("exec_command", string(command))
		return
	}
	if word, asked := strings.CutPrefix(said, "Reply with exactly the word: "); asked {
		t.Say(word)
		return
	}
	fakemodel.Keywords(t)
}

// examined is a workspace whose model is that.
func examined(t *testing.T, test func(t *testing.T, m *member)) {
	bothEras(t, func(t *testing.T, m *member) {
		m.enter("CODEX_SANDBOX=danger-full-access", "CODEX_APPROVAL_POLICY=never")
		m.Model.SetScript(examinee)
		m.online()
		test(t, m)
	})
}

// in is a message of a session, as the platform's canaries send it.
func in(session, id string, parts ...object) object {
	return object{
		"message":       object{"role": "user", "messageId": id, "contextId": session, "taskId": nil, "parts": parts},
		"configuration": object{"acceptedOutputModes": []string{"text"}, "blocking": true},
	}
}

// inline is a file that comes with its message.
func inline(name, content string) object {
	return object{"kind": "file", "file": object{
		"name": name, "mimeType": "text/plain", "bytes": base64.StdEncoding.EncodeToString([]byte(content)),
	}}
}

func TestGatePong(t *testing.T) {
	t.Parallel()
	examined(t, func(t *testing.T, m *member) {
		if got := m.user("m1", "Reply with exactly the word: PONG"); got != "PONG" {
			t.Errorf("answered %q", got)
		}
		rows := m.handle.Rows()
		if len(rows) != 1 || rows[0].Type != "a2a_receive" || rows[0].Status != "ok" || !strings.Contains(string(rows[0].ResponseBody), "PONG") {
			t.Errorf("the platform's log has %+v", rows)
		}
	})
}

func TestGateTwoTurns(t *testing.T) {
	t.Parallel()
	examined(t, func(t *testing.T, m *member) {
		for _, session := range []string{"sess-1", "canvas-" + m.handle.ID()} {
			userSends(t, m.handle, in(session, "a-"+session, textPart("remember my name is Ada of "+session)))
			got, result := userSends(t, m.handle, in(session, "b-"+session, textPart("recall")))
			if !strings.Contains(got, "my name is Ada of "+session) || result["contextId"] != session {
				t.Errorf("in %s: %q, %v", session, got, result["contextId"])
			}
		}
	})
}

func TestGateFileOnly(t *testing.T) {
	t.Parallel()
	examined(t, func(t *testing.T, m *member) {
		if got, _ := userSends(t, m.handle, in("sess-1", "m1", inline("note.txt", "the code is 4711"))); got != "The file says: the code is 4711" {
			t.Errorf("answered %q", got)
		}
		if got := m.Model.Requests()[0].LastUserText(); !strings.HasPrefix(got, "Attached files:\n- note.txt (text/plain) at ") {
			t.Errorf("codex got %q", got)
		}
		stands := filepath.Join(m.Work, "stands.txt")
		if err := os.WriteFile(stands, []byte("and 4712"), 0o600); err != nil {
			t.Fatal(err)
		}
		named := object{"kind": "file", "file": object{"uri": "workspace:" + stands, "name": "stands.txt", "mimeType": "text/plain"}}
		if got, _ := userSends(t, m.handle, in("sess-1", "m2", named)); got != "The file says: and 4712" {
			t.Errorf("of one that stands in the workspace: %q", got)
		}
	})
}

func TestGateFileWithCaption(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	examined(t, func(t *testing.T, m *member) {
		got, _ := userSends(t, m.handle, in("sess-1", "m1", textPart("What is the code?"), inline("note.txt", "the code is 4711")))
		if got != "The file says: the code is 4711" {
			t.Errorf("answered %q", got)
		}
		if got := m.Model.Requests()[0].LastUserText(); !strings.HasPrefix(got, "What is the code?\n\nAttached files:\n- note.txt (text/plain) at ") {
			t.Errorf("codex got %q", got)
		}
	})
}

// TestGateMemoryAcrossSessions: what is committed in one session is recalled in another,
// and a session goes on where it was, both over a restart of the workspace.
func TestGateMemoryAcrossSessions(t *testing.T) {
	t.Parallel()
	examined(t, func(t *testing.T, m *member) {
		userSends(t, m.handle, in("sess-1", "m1", textPart(`call commit_memory {"content":"the user's boat is called Calypso"}`)))
		userSends(t, m.handle, in("sess-1", "m2", textPart("remember the harbour is Ithaca")))
		m.Kill()
		if err := m.handle.Restart(m.configs); err != nil {
			t.Fatal(err)
		}
		m.Program = m.Restart()
		m.online()
		if got, _ := userSends(t, m.handle, in("sess-2", "m3", textPart(`call recall_memory {"query":"boat"}`))); !strings.Contains(got, "Calypso") {
			t.Errorf("in another session: %q", got)
		}
		if got, _ := userSends(t, m.handle, in("sess-2", "m4", textPart("recall"))); strings.Contains(got, "Ithaca") {
			t.Errorf("the other session knows what was said in the first: %q", got)
		}
		if got, _ := userSends(t, m.handle, in("sess-1", "m5", textPart("recall"))); !strings.Contains(got, "Ithaca") {
			t.Errorf("in the first session: %q", got)
		}
	})
}

// TestGateNoErrorMarkers has everything go wrong that a model can do wrong, in the words
// that the platform takes for a runtime that has crashed. readReply finds them.
func TestGateNoErrorMarkers(t *testing.T) {
	t.Parallel()
	examined(t, func(t *testing.T, m *member) {
		for id, says := range map[string]string{
			"exception": "Exception: error result", "model": "model_not_found", "agent": "Agent error (Crash) — a2a_error",
			"key": "MISSING_BYOK_CREDENTIAL, no provider api key", "login": "Not logged in. Please run /login", "status": "unexpected status 401 Unauthorized",
		} {
			m.Model.SetScript(func(turn *fakemodel.Turn) {
				body, _ := json.Marshal(object{"error": object{"message": says, "type": "scripted"}})
				turn.Fail(http.StatusBadRequest, string(body))
			})
			got, result := userSends(t, m.handle, in("sess-1", id, textPart("go")))
			if !strings.HasPrefix(got, "[codex error] ") || at(result, "metadata", "failure", "kind") == nil {
				t.Errorf("%s: %q", says, got)
			}
			whole, _ := json.Marshal(result) // a check may look at all of it
			for word := range strings.SplitSeq("Exception,error result,model_not_found,Agent error,a2a_error,MISSING_BYOK,no provider,Not logged in,run /login,401 Unauthorized", ",") {
				if strings.Contains(strings.ToLower(string(whole)), strings.ToLower(word)) {
					t.Errorf("%q stands in %s", word, whole)
				}
			}
		}
		m.Model.SetScript(func(turn *fakemodel.Turn) {
			turn.Fail(http.StatusUnauthorized, `{"error":{"message":"401 Unauthorized: not logged in"}}`)
		})
		if got, _ := userSends(t, m.handle, in("sess-401", "m401", textPart("go"))); !strings.Contains(got, "OPENAI_API_KEY") {
			t.Errorf("with a refused key: %q", got)
		}
	})
}

// TestCanaryDoors: the newest of the checks post to /a2a, and ask for the card at
// /agent-card, without the platform in between.
func TestCanaryDoors(t *testing.T) {
	t.Parallel()
	m := join(t, fakeplatform.AUG)
	for _, path := range []string{"/agent-card", "/.well-known/agent.json", "/.well-known/agent-card.json"} {
		var card object
		if status, body := m.fetch(path); status != http.StatusOK || json.Unmarshal([]byte(body), &card) != nil || at(card, "skills", 0, "id") == nil {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	body, _ := json.Marshal(object{"jsonrpc": "2.0", "id": 7, "method": "message/send", "params": in("sess-1", "m1", textPart("say hi"))})
	res, err := http.Post(m.URL+"/a2a", "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer object
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != http.StatusOK || at(answer, "result", "parts", 0, "text") != "hi" {
		t.Errorf("%s, %v: %v", res.Status, err, answer)
	}
}
