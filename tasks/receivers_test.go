package tasks_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// TestLargeSettings: those of a task have a room together, and what takes the place of another
// has that one's.
func TestLargeSettings(t *testing.T) {
	var woken atomic.Int32
	e := newEngine(t, newRunner(), pushing(&woken))
	id := begin(t, e, request("m", "ctx", "hi")).ID
	large := func(setting string) *a2a.PushConfig {
		return &a2a.PushConfig{TaskID: id, ID: setting, URL: hook, Token: strings.Repeat("t", 8<<10), Auth: &a2a.PushAuthInfo{Scheme: "Bearer", Credentials: strings.Repeat("c", 6<<10)}}
	}
	for _, setting := range []string{"a", "b", "b"} {
		if _, err := e.CreateTaskPushConfig(t.Context(), large(setting)); err != nil {
			t.Fatal(err)
		}
	}
	const words = "the push notification settings of the task would take "
	_, err := e.CreateTaskPushConfig(t.Context(), large("c"))
	wantError(t, err, a2a.ErrInvalidParams, words)
	further := withPush(request("further", "", "hi"), large("c"))
	further.Message.TaskID, further.Config.ReturnImmediately = id, true
	further.Config.PushConfig.TaskID = ""
	_, err = e.SendMessage(t.Context(), further)
	wantError(t, err, a2a.ErrInvalidParams, words)
	if err := e.DeleteTaskPushConfig(t.Context(), &a2a.DeleteTaskPushConfigRequest{TaskID: id, ID: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.CreateTaskPushConfig(t.Context(), large("c")); err != nil {
		t.Error(err)
	}
	_, err = e.CreateTaskPushConfig(t.Context(), &a2a.PushConfig{TaskID: id, ID: strings.Repeat("i", 129), URL: hook})
	wantError(t, err, a2a.ErrInvalidParams, "too long")
}

// TestSettingsInMemory: of the settings of tasks that wait no more is in memory than what says
// whom to tell in which version, in this process and in the next.
func TestSettingsInMemory(t *testing.T) {
	const count = 200
	var woken atomic.Int32
	m := newMachine(t, pushing(&woken))
	begin(t, m.e, request("first", "ctx", "hi"))
	fill := func(name string, token int) (taken int) {
		before := living()
		for i := range count {
			begin(t, m.e, withPush(request(fmt.Sprint(name, i), name, "hi"), &a2a.PushConfig{ID: "a", URL: hook, Token: strings.Repeat("t", token)}))
		}
		return living() - before
	}
	small := fill("small", 10)
	large := fill("large", 8<<10)
	if most := count * 4 << 10; large-small > most {
		t.Errorf("%d settings of 8 KiB take %d KiB more than small ones", count, (large-small)>>10)
	}
	before := living()
	m.restart()
	if grown := living() - before; grown > count*4<<10 {
		t.Errorf("a process that has taken them over has %d KiB more than the one before", grown>>10)
	}
}
