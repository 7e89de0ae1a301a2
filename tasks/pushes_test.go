package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
)

const hook = "https://example.com/hook"

// pushing lets an engine take push notification settings; URLs with "forbidden"
// in them are refused.
func pushing(woken *atomic.Int32) func(*tasks.Config) {
	return func(c *tasks.Config) {
		c.Push = &tasks.Push{
			Check: func(url string) error {
				if strings.Contains(url, "forbidden") {
					return errors.New("RUNTIME_ALLOW_NETWORKS can allow it")
				}
				return nil
			},
			TaskV0: wire.TaskV0,
			Wake:   func() { woken.Add(1) },
		}
	}
}

// notified returns what waits in the outbox: "<setting> <version> <id>\n<payload>".
func notified(t testing.TB, st *store.Store) []string {
	t.Helper()
	rows, err := st.Deliveries(t.Context(), push.Kind, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range rows {
		whole, err := st.Delivery(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, whole.Target+" "+string(whole.Body))
	}
	return out
}

// told renders notifications in a line each.
func told(t testing.TB, all []string) string {
	t.Helper()
	var lines []string
	for _, n := range all {
		head, payload, _ := strings.Cut(n, "\n")
		var v1 a2a.StreamResponse
		if strings.Contains(head, " "+push.V0+" ") {
			var v0 struct {
				Kind   string
				Status struct{ State string }
			}
			if err := json.Unmarshal([]byte(payload), &v0); err != nil || v0.Kind != "task" {
				t.Fatalf("payload %s: %v", payload, err)
			}
			lines = append(lines, strings.Fields(head)[0]+" task "+v0.Status.State)
			continue
		}
		if err := json.Unmarshal([]byte(payload), &v1); err != nil {
			t.Fatalf("payload %s: %v", payload, err)
		}
		lines = append(lines, strings.Fields(head)[0]+" "+show(v1.Event))
	}
	return strings.Join(lines, "\n")
}

func withPush(req *a2a.SendMessageRequest, c *a2a.PushConfig) *a2a.SendMessageRequest {
	req.Config.PushConfig = c
	return req
}

func settings(t testing.TB, e *tasks.Engine, id a2a.TaskID) []*a2a.PushConfig {
	t.Helper()
	res, err := e.ListTaskPushConfigs(t.Context(), &a2a.ListTaskPushConfigRequest{TaskID: id})
	if err != nil {
		t.Fatal(err)
	}
	return res.Configs
}

func TestWhatIsNotified(t *testing.T) {
	var woken atomic.Int32
	r, st := &asker{runner: newRunner()}, newJournal(t)
	e := newEngine(t, r, pushing(&woken), func(c *tasks.Config) { c.Journal = st })
	task := begin(t, e, withPush(request("m", "ctx", "hi"), &a2a.PushConfig{ID: "a", URL: hook, Token: "tok"}))
	if _, err := e.CreateTaskPushConfig(tasks.WithV0(t.Context()), &a2a.PushConfig{TaskID: task.ID, ID: "b", URL: hook}); err != nil {
		t.Fatal(err)
	}
	j := r.next(t).start()
	j.say("one", "some te")
	j.whole("one", "some text", "commentary")
	j.observe(tool("x")) // progress is not told
	get(t, e, task.ID)   // what a reader has seen is not what is told
	j.ask("q", "which?")
	begin(t, e, to(task, "m2", "this"))
	j.answer("done")
	want := strings.Join([]string{
		"a status working", "b task working",
		`a new one "some text" last`, "b task working",
		"a status input_required", "b task input-required",
		"a status working", "b task working",
		`a new m-` + j.ID + ` "done" last`, "b task working",
		"a status completed", "b task completed",
	}, "\n")
	got := notified(t, st)
	if lines := told(t, got); lines != want {
		t.Errorf("told\n%s\nwant\n%s", lines, want)
	}
	if woken.Load() == 0 {
		t.Error("nobody was woken")
	}
	ids := map[string]int{}
	for _, n := range got {
		head, _, _ := strings.Cut(n, "\n")
		ids[strings.Fields(head)[2]]++
	}
	for id, n := range ids {
		if n != 2 || !strings.HasPrefix(id, string(task.ID)+"/1.") {
			t.Errorf("id %q was given %d times", id, n)
		}
	}
}

// The payloads, byte for byte.
func TestPayloads(t *testing.T) {
	var woken atomic.Int32
	r, st := newRunner(), newJournal(t)
	e := newEngine(t, r, pushing(&woken), func(c *tasks.Config) { c.Journal = st })
	task := begin(t, e, withPush(request("m", "ctx", "hi"), &a2a.PushConfig{ID: "a", URL: hook}))
	if _, err := e.CreateTaskPushConfig(tasks.WithV0(t.Context()), &a2a.PushConfig{TaskID: task.ID, ID: "b", URL: hook}); err != nil {
		t.Fatal(err)
	}
	j := r.next(t).start()
	j.answer("<done>")
	end := get(t, e, task.ID)
	got := notified(t, st)
	last := []string{got[len(got)-4], got[len(got)-2], got[len(got)-1]}
	stamp := end.Status.Timestamp.Format("2006-01-02T15:04:05.999Z")
	const ids = `"contextId":"ctx"`
	meta := fmt.Sprintf(`{"message":1,"reply":"m-%s","threadId":"thread","turn":"started","turnId":"turn-%s.1"}`, j.ID, j.ID)
	want := []string{
		fmt.Sprintf(`a 1.0 %s/1.2`+"\n"+`{"artifactUpdate":{"artifact":{"artifactId":"m-%s","name":"message","parts":[{"text":"<done>"}]},%s,"lastChunk":true,"taskId":"%s"}}`,
			task.ID, j.ID, ids, task.ID),
		fmt.Sprintf(`a 1.0 %s/1.3`+"\n"+`{"statusUpdate":{%s,"metadata":%s,"status":{"state":"TASK_STATE_COMPLETED","timestamp":"%s"},"taskId":"%s"}}`,
			task.ID, ids, meta, stamp, task.ID),
		fmt.Sprintf(`b 0.3 %s/1.3`+"\n"+`{"artifacts":[{"artifactId":"m-%s","name":"message","parts":[{"kind":"text","text":"<done>"}]}],"contextId":"ctx","history":[{"contextId":"ctx","kind":"message","messageId":"m","parts":[{"kind":"text","text":"hi"}],"role":"user","taskId":"%s"}],"id":"%s","kind":"task","metadata":%s,"status":{"state":"completed","timestamp":"%s"}}`,
			task.ID, j.ID, task.ID, task.ID, meta, stamp),
	}
	for i := range want {
		if canonical(t, last[i]) != canonical(t, want[i]) {
			t.Errorf("told\n%s\nwant\n%s", last[i], want[i])
		}
	}
}

// canonical sorts the members of a notification's payload.
func canonical(t *testing.T, n string) string {
	t.Helper()
	head, payload, _ := strings.Cut(n, "\n")
	var v any
	if err := json.Unmarshal([]byte(payload), &v); err != nil {
		t.Fatalf("%s: %v", payload, err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return head + "\n" + string(out)
}

// A task without settings puts nothing into the outbox, and receivers of 0.3 do
// not get a large task with each of its artifacts.
func TestWhatIsNotNotified(t *testing.T) {
	var woken atomic.Int32
	r, st := newRunner(), newJournal(t)
	e := newEngine(t, r, pushing(&woken), func(c *tasks.Config) { c.Journal = st })
	begin(t, e, request("m", "ctx", "hi"))
	r.next(t).start().answer("done")
	if got := notified(t, st); len(got) != 0 || woken.Load() != 0 {
		t.Fatalf("told %v", got)
	}
	task := begin(t, e, request("m2", "ctx", "hi"))
	if _, err := e.CreateTaskPushConfig(tasks.WithV0(t.Context()), &a2a.PushConfig{TaskID: task.ID, ID: "b", URL: hook}); err != nil {
		t.Fatal(err)
	}
	j := r.next(t).start()
	j.whole("large", strings.Repeat("x", 70<<10), "commentary")
	j.answer("done")
	if got := told(t, notified(t, st)); got != "b task working\nb task completed" {
		t.Errorf("told %s", got)
	}
}

// Notifications are in the same commit as what they speak of: a process that is
// killed leaves both or neither, and the next one knows the settings.
func TestNotificationsSurvive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // nothing is committed by the passing of time
		var woken atomic.Int32
		m := newMachine(t, pushing(&woken))
		task := begin(t, m.e, withPush(request("m", "ctx", "hi"), &a2a.PushConfig{ID: "a", URL: hook}))
		j := m.r.next(t).start()
		j.whole("one", "some text", "commentary")
		m.restart() // the artifact was not committed
		if got := told(t, notified(t, m.st)); got != "a status working" {
			t.Fatalf("told %s", got)
		}
		if got := settings(t, m.e, task.ID); len(got) != 1 || got[0].ID != "a" || got[0].URL != hook {
			t.Fatalf("settings %+v", got)
		}
		j = m.r.next(t).attempt(2)
		j.answer("done")
		want := "a status working\na new m-" + j.ID + " \"done\" last\na status completed"
		if got := told(t, notified(t, m.st)); got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

func TestSettings(t *testing.T) {
	var woken atomic.Int32
	r := newRunner()
	e := newEngine(t, r, pushing(&woken))
	ctx := t.Context()
	id := begin(t, e, request("m", "ctx", "hi")).ID
	if got := settings(t, e, id); got == nil || len(got) != 0 {
		t.Errorf("settings %v, want an empty list", got)
	}
	create := func(c a2a.PushConfig) (*a2a.PushConfig, error) {
		c.TaskID = id
		return e.CreateTaskPushConfig(ctx, &c)
	}
	fetch := func(config string) (*a2a.PushConfig, error) {
		return e.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{TaskID: id, ID: config})
	}
	_, err := fetch("default")
	wantError(t, err, a2a.ErrTaskNotFound, "no push notification setting")
	made, err := create(a2a.PushConfig{URL: hook, Token: "tok", Auth: &a2a.PushAuthInfo{Scheme: "Bearer", Credentials: "c"}})
	if err != nil || made.ID == "" || made.TaskID != id || made.Token != "tok" || made.Auth.Credentials != "c" {
		t.Fatalf("%+v, %v", made, err)
	}
	for _, alias := range []string{made.ID, "default", ""} {
		if got, err := fetch(alias); err != nil || got.ID != made.ID || got.URL != hook || got.TaskID != id || got.Auth.Scheme != "Bearer" {
			t.Errorf("%q: %+v, %v", alias, got, err)
		}
	}
	if _, err := create(a2a.PushConfig{ID: made.ID, URL: hook + "2"}); err != nil {
		t.Error(err)
	}
	if got := settings(t, e, id); len(got) != 1 || got[0].URL != hook+"2" || got[0].Token != "" {
		t.Errorf("settings %+v, want the one that replaced the other", got)
	}
	for i := range 15 {
		if _, err := create(a2a.PushConfig{ID: fmt.Sprintf("z%02d", i), URL: hook}); err != nil {
			t.Fatal(err)
		}
	}
	_, err = create(a2a.PushConfig{URL: hook})
	wantError(t, err, a2a.ErrInvalidParams, "16 push notification settings")
	_, err = fetch("")
	wantError(t, err, a2a.ErrInvalidParams, "give the id of one")
	var pages [][]string
	for token := "-"; token != ""; {
		res, err := e.ListTaskPushConfigs(ctx, &a2a.ListTaskPushConfigRequest{TaskID: id, PageSize: 7, PageToken: strings.TrimPrefix(token, "-")})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, c := range res.Configs {
			ids = append(ids, c.ID)
		}
		pages, token = append(pages, ids), res.NextPageToken
	}
	if len(pages) != 3 || len(pages[0]) != 7 || len(pages[2]) != 2 || !slices.IsSorted(slices.Concat(pages...)) {
		t.Errorf("pages %v", pages)
	}
	for range 2 { // deleting twice is no error
		if err := e.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigRequest{TaskID: id, ID: made.ID}); err != nil {
			t.Error(err)
		}
	}
	if got := settings(t, e, id); len(got) != 15 {
		t.Errorf("%d settings", len(got))
	}
}

func TestSettingsRefused(t *testing.T) {
	var woken atomic.Int32
	r := newRunner()
	e := newEngine(t, r, pushing(&woken))
	ctx := t.Context()
	id := begin(t, e, request("m", "ctx", "hi")).ID
	for name, c := range map[string]struct {
		config a2a.PushConfig
		kind   error
		words  string
	}{
		"task":        {a2a.PushConfig{TaskID: "s3cret", URL: hook}, a2a.ErrTaskNotFound, "there is no task"},
		"noTask":      {a2a.PushConfig{URL: hook}, a2a.ErrInvalidParams, "taskId is missing"},
		"noURL":       {a2a.PushConfig{TaskID: id}, a2a.ErrInvalidParams, "url is missing"},
		"guard":       {a2a.PushConfig{TaskID: id, URL: "http://forbidden/?s3cret", Token: "s3cret"}, a2a.ErrInvalidParams, "RUNTIME_ALLOW_NETWORKS"},
		"long":        {a2a.PushConfig{TaskID: id, URL: hook, Token: strings.Repeat("s3cret", 2000)}, a2a.ErrInvalidParams, "too long"},
		"token":       {a2a.PushConfig{TaskID: id, URL: hook, Token: "s3cret\r\nX: y"}, a2a.ErrInvalidParams, "no header can hold"},
		"scheme":      {a2a.PushConfig{TaskID: id, URL: hook, Auth: &a2a.PushAuthInfo{Credentials: "s3cret"}}, a2a.ErrInvalidParams, "no scheme"},
		"credentials": {a2a.PushConfig{TaskID: id, URL: hook, Auth: &a2a.PushAuthInfo{Scheme: "Bearer", Credentials: "s3cret\n"}}, a2a.ErrInvalidParams, "no header can hold"},
		"header":      {a2a.PushConfig{TaskID: id, URL: hook, Auth: &a2a.PushAuthInfo{Scheme: "Bearer s3cret", Credentials: "x"}}, a2a.ErrInvalidParams, "no header can hold"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.CreateTaskPushConfig(ctx, &c.config)
			wantError(t, err, c.kind, c.words)
			if name != "task" && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error says %v", err)
			}
			if name == "task" || name == "noTask" {
				return
			}
			_, err = e.SendMessage(ctx, withPush(request("m-"+name, "ctx", "hi"), &c.config))
			wantError(t, err, c.kind, c.words)
		})
	}
	unknown := a2a.TaskID("nope")
	_, err := e.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{TaskID: unknown, ID: "c"})
	wantError(t, err, a2a.ErrTaskNotFound, "there is no task")
	_, err = e.ListTaskPushConfigs(ctx, &a2a.ListTaskPushConfigRequest{TaskID: unknown})
	wantError(t, err, a2a.ErrTaskNotFound, "there is no task")
	wantError(t, e.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigRequest{TaskID: unknown, ID: "c"}), a2a.ErrTaskNotFound, "there is no task")
	if r.count() != 1 {
		t.Errorf("%d jobs: a message with a setting that is refused made one", r.count())
	}
}

func TestWithoutPush(t *testing.T) {
	e := newEngine(t, newRunner())
	ctx := context.Background()
	_, err := e.SendMessage(ctx, withPush(request("m", "ctx", "hi"), &a2a.PushConfig{URL: hook}))
	wantError(t, err, a2a.ErrPushNotificationNotSupported, "not supported")
	_, err = e.CreateTaskPushConfig(ctx, &a2a.PushConfig{})
	wantError(t, err, a2a.ErrPushNotificationNotSupported, "not supported")
	_, err = e.GetTaskPushConfig(ctx, nil)
	wantError(t, err, a2a.ErrPushNotificationNotSupported, "not supported")
	_, err = e.ListTaskPushConfigs(ctx, nil)
	wantError(t, err, a2a.ErrPushNotificationNotSupported, "not supported")
	wantError(t, e.DeleteTaskPushConfig(ctx, nil), a2a.ErrPushNotificationNotSupported, "not supported")
}

// A message that is sent again has its setting once; one that is refused leaves none.
func TestSettingsOfMessages(t *testing.T) {
	var woken atomic.Int32
	r := newRunner()
	e := newEngine(t, r, pushing(&woken))
	id := begin(t, e, withPush(request("m", "ctx", "hi"), &a2a.PushConfig{URL: hook, Token: "1"})).ID
	begin(t, e, withPush(request("m", "ctx", "hi"), &a2a.PushConfig{URL: hook, Token: "1"}))
	if got := settings(t, e, id); len(got) != 1 {
		t.Errorf("%d settings of a message that was sent twice", len(got))
	}
	begin(t, e, withPush(request("m", "ctx", "hi"), &a2a.PushConfig{URL: hook, Token: "2"}))
	if got := settings(t, e, id); len(got) != 2 {
		t.Errorf("%d settings, want another", len(got))
	}
	before := settings(t, e, id)
	r.refuse = executor.ErrQueueFull
	for _, config := range []string{"", before[0].ID} {
		req := withPush(request("more"+config, "", "hi"), &a2a.PushConfig{ID: config, URL: hook + "/other"})
		req.Message.TaskID = id
		_, err := e.SendMessage(t.Context(), req)
		wantError(t, err, a2a.ErrServerError, "")
	}
	after := settings(t, e, id)
	if len(after) != 2 || after[0].URL != hook || after[1].URL != hook {
		t.Errorf("settings %+v, want those of before", after)
	}
}
