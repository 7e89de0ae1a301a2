package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A receiver is a webhook.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []object
	ids    []string
	answer func(n int, r *http.Request) int // the status for the nth post, from 1
}

func receive(t *testing.T, answer func(n int, r *http.Request) int) *receiver {
	t.Helper()
	hook := &receiver{answer: answer}
	hook.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var said object
		_ = json.Unmarshal(body, &said)
		hook.mu.Lock()
		hook.got = append(hook.got, said)
		hook.ids = append(hook.ids, r.Header.Get("A2A-Notification-Id"))
		n := len(hook.got)
		hook.mu.Unlock()
		w.WriteHeader(hook.answer(n, r))
	}))
	t.Cleanup(hook.Close)
	return hook
}

func (h *receiver) posts() []object {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.got
}

func (b *bridge) notified(id, want string) object {
	b.t.Helper()
	var task object
	progtest.WaitFor(b.t, "the notification of "+id+" to be "+want, func() bool {
		task, _ = b.do(object{"action": "status", "task_id": id})["task"].(object)
		return task["notification_status"] == want
	})
	return task
}

const loopback = "RUNTIME_ALLOW_NETWORKS=127.0.0.0/8"

func TestBridgeNotifies(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t, loopback)
	b := p.bridge()
	always := receive(t, func(int, *http.Request) int { return http.StatusOK })
	busy := receive(t, func(n int, _ *http.Request) int {
		if n == 1 {
			return http.StatusServiceUnavailable
		}
		return http.StatusNoContent
	})
	gone := receive(t, func(n int, _ *http.Request) int {
		if n == 1 {
			return http.StatusNotFound
		}
		return http.StatusOK
	})

	id := b.start("say well   done", object{"notify_target": always.URL})
	task := b.notified(id, "sent")
	if task["notify_target"] != always.URL || task["notified_at"] == nil || task["notification_error"] != nil {
		t.Errorf("task = %v", task)
	}
	want := "Codex Bridge task " + id + " finished with status: completed.\nPrompt: say well done\nSummary: well done"
	if posts := always.posts(); len(posts) != 1 || posts[0]["text"] != want || posts[0]["task_id"] != id || posts[0]["status"] != "completed" {
		t.Errorf("posts = %v, want %q", posts, want)
	}

	// What may pass is tried again by itself; what was refused is tried when somebody asks.
	b.notified(b.start("say again", object{"notify_target": busy.URL}), "sent")
	if n := len(busy.posts()); n != 2 || busy.ids[0] != busy.ids[1] {
		t.Errorf("%d posts with the ids %v", n, busy.ids)
	}
	refused := b.start("fail 400", object{"notify_target": gone.URL})
	if task := b.notified(refused, "failed"); !strings.Contains(task["notification_error"].(string), "404") {
		t.Errorf("task = %v", task)
	}
	silent := b.start("say nothing", nil)
	b.until(silent, "completed")

	answer := b.do(object{"action": "notify_completed", "dry_run": true})
	if answer["dry_run"] != true || answer["processed"] != 2.0 || at(answer, "notifications", 0, "notification_status") != "dry_run" {
		t.Errorf("dry run = %v", answer)
	}
	answer = b.do(object{"action": "notify_completed"})
	first, second := at(answer, "notifications", 0), at(answer, "notifications", 1)
	if answer["processed"] != 2.0 || at(first, "task_id") != refused || at(first, "notification_status") != "sent" || at(first, "sent") != true ||
		at(first, "target") != gone.URL || at(first, "delivery") == nil || at(first, "notified_at") == nil || at(first, "status") != "failed" {
		t.Errorf("notify_completed = %v", answer)
	}
	if at(second, "task_id") != silent || at(second, "notification_status") != "no_target" || at(second, "sent") != false {
		t.Errorf("notify_completed = %v", answer)
	}
	if answer := b.do(object{"action": "notify_completed"}); answer["processed"] != 0.0 {
		t.Errorf("after all have been told: %v", answer)
	}
	if len(always.posts()) != 1 || len(busy.posts()) != 2 || len(gone.posts()) != 2 {
		t.Error("somebody was told twice")
	}
}

// TestNotificationSurvivesKill kills the program between the end of a task and the
// answer of the one who is told of it. The next process tells him, once.
func TestNotificationSurvivesKill(t *testing.T) {
	t.Parallel()
	p := start(t, loopback)
	asked := make(chan struct{}, 8)
	hook := receive(t, func(n int, r *http.Request) int {
		asked <- struct{}{}
		if n == 1 {
			<-r.Context().Done() // until the program is gone
		}
		return http.StatusOK
	})
	id := p.bridge().start("say it", object{"notify_target": hook.URL})
	<-asked
	p.again()
	<-asked
	p.bridge().notified(id, "sent")
	p.again()
	if answer := p.bridge().do(object{"action": "notify_completed"}); answer["processed"] != 0.0 || len(hook.posts()) != 2 || hook.ids[0] != hook.ids[1] {
		t.Errorf("%d posts with the ids %v; %v", len(hook.posts()), hook.ids, answer)
	}
}

// TestNotificationsStayOut refuses targets in networks that are none of a caller's business.
func TestNotificationsStayOut(t *testing.T) {
	t.Parallel()
	b := start(t).bridge()
	for _, target := range []string{"http://127.0.0.1:1/x", "http://169.254.169.254/latest", "https://localhost/x", "http://u:p@example.com/"} {
		if why := b.refused(object{"action": "start", "prompt": "say x", "notify_target": target}); !strings.Contains(why, "notifyTarget is refused") {
			t.Errorf("%s: %s", target, why)
		}
	}
}

// TestBridgeTellsTheCanvas is about a workspace: its user is told by the platform, and not
// at the word of another agent, whose own words that would be.
func TestBridgeTellsTheCanvas(t *testing.T) {
	t.Parallel()
	var path, token string
	platform := receive(t, func(n int, r *http.Request) int {
		path, token = r.URL.Path, r.Header.Get("Authorization")
		if n == 1 {
			return http.StatusForbidden
		}
		return http.StatusOK
	})
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/notify") {
			platform.Config.Handler.ServeHTTP(w, r)
			return
		}
		_, _ = io.WriteString(w, `{"status":"ok"}`)
	}))
	t.Cleanup(door.Close)
	p := start(t, "WORKSPACE_ID=ws-1", "PLATFORM_URL="+door.URL, "MOLECULE_WORKSPACE_TOKEN=token-of-the-workspace",
		"CONFIGS_DIR="+codextest.Dir(t, "configs"))
	theirs := message("peer:ws-2/from-support", "peer:ws-2/from-support", "say sign in there")
	theirs["metadata"] = object{"source_workspace_id": "ws-2", "notifyTarget": "canvas"}
	if task := p.task(p.call("SendMessage", object{"message": theirs})); text(task) != "sign in there" || at(task, "metadata", "notification") != nil {
		t.Errorf("another agent's task = %v", task)
	}
	b := p.bridge()
	id := b.start("say well done", object{"notify_target": "canvas"})
	if task := b.notified(id, "failed"); !strings.Contains(task["notification_error"].(string), "403") {
		t.Errorf("task = %v", task)
	}
	b.do(object{"action": "notify_completed"})
	b.notified(id, "sent")
	said := platform.posts()
	if text, _ := said[len(said)-1]["message"].(string); len(said) != 2 || !strings.Contains(text, "Summary: well done") ||
		path != "/workspaces/ws-1/notify" || token != "Bearer token-of-the-workspace" {
		t.Errorf("the platform got %v at %s with %q", said, path, token)
	}
	if why := b.refused(object{"action": "start", "prompt": "say no", "notify_target": "nowhere"}); !strings.Contains(why, "none of local, canvas") {
		t.Errorf("another place is refused with %q", why)
	}
}

// TestNoticesToHostsThatHang hold up no others.
func TestNoticesToHostsThatHang(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	t.Cleanup(func() { close(done); hanging.Close() })
	told := make(chan struct{}, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { told <- struct{}{} }))
	t.Cleanup(receiver.Close)
	p := start(t, "RUNTIME_ALLOW_NETWORKS=127.0.0.0/8")
	send := func(id, target string) {
		m := message(id, id, "/status")
		m["metadata"] = object{"notifyTarget": target}
		p.call("SendMessage", object{"message": m})
	}
	for i := range 60 {
		send(fmt.Sprint("m", i), fmt.Sprint(hanging.URL, "/", i))
	}
	send("other", receiver.URL)
	select {
	case <-told:
	case <-time.After(20 * time.Second): // those before it take 40
		t.Error("the other is not told")
	}
}

// TestBridgeNotifiesOthers: another agent, by what marks a message that wants no answer, and a chat that the
// workspace is connected to, where the platform has any.
func TestBridgeNotifiesOthers(t *testing.T) {
	t.Parallel()
	eras(t, func(t *testing.T, m *member) {
		m.online()
		heard := make(chan string, 4)
		bob := m.platform.Add(fakeplatform.Workspace{Name: "Bob", Reply: func(text string) string { heard <- text; return "well" }})
		m.handle.AddChat("slack", "C042")
		m.handle.AddChat("telegram", "1", "2")
		b := m.bridge()
		id := b.start("say well done", object{"notify_target": "peer:" + bob.ID()})
		b.notified(id, "sent")
		if text := <-heard; !strings.Contains(text, "Summary: well done") {
			t.Errorf("Bob has heard %q", text)
		}
		sent := m.platform.Dispatches()
		if body := string(sent[len(sent)-1].Body); !strings.Contains(body, `"molecule_channel_reply":true`) || !strings.Contains(body, m.handle.ID()) {
			t.Errorf("Bob was sent %s", body)
		}
		want := "failed"
		if strings.HasSuffix(t.Name(), "APR") {
			want = "sent"
		}
		b.notified(b.start("say in the chat", object{"notify_target": "slack:C042"}), want)
		task := b.notified(b.start("say in both", object{"notify_target": "telegram:1"}), "failed")
		if why, _ := task["notification_error"].(string); !strings.Contains(why, "chat") {
			t.Errorf("the other chat is refused with %q", why)
		}
		lines := m.handle.ChatLines()
		if (len(lines) == 1 && lines[0].Chat == "C042" && strings.Contains(lines[0].Text, "in the chat")) != (want == "sent") || len(lines) > 1 {
			t.Errorf("in chats was said %+v", lines)
		}
	})
}
