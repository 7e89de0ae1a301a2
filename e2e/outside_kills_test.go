package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
)

// tries calls a tool of a program that may be killed meanwhile, and reports whether it has answered.
func (x *mcpHost) tries(tool string, args object) (out object, ok bool) {
	ctx, cancel := context.WithTimeout(x.t.Context(), 20*time.Second)
	defer cancel()
	res, err := x.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return nil, false
	}
	text, ok := res.Content[0].(*mcp.TextContent)
	return out, ok && json.Unmarshal([]byte(text.Text), &out) == nil
}

// TestMCPHostManyKills: however often the program is killed, and whatever becomes of what it sends, each message has one
// answer, in its order. What a model would do is done: wait, answer, wait.
func TestMCPHostManyKills(t *testing.T) {
	t.Parallel()
	const messages = 40
	x := anMCPHost(t, fakeplatform.Start(t, fakeplatform.AUG))
	x.platform.Behave("POST /workspaces/*/notify", fakeplatform.Slow(5*time.Millisecond))
	for i := range messages {
		x.say(fmt.Sprint("message ", i))
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("the seed is %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	kills, asked, answered := 0, map[string]int{}, map[string]bool{}
	for began := time.Now(); len(x.handle.Notices()) < messages; {
		if time.Since(began) > 100*time.Second {
			t.Fatalf("%d of %d messages are answered after %d kills", len(x.handle.Notices()), messages, kills)
		}
		end := time.AfterFunc(time.Duration(20+random.IntN(400))*time.Millisecond, func() { _ = x.cmd.Process.Kill() })
		for {
			message, ok := x.tries("wait_for_message", object{"timeout_secs": 1})
			if !ok {
				break
			}
			id, _ := message["activity_id"].(string)
			if id == "" { // all are answered, and some are on their way
				if len(x.handle.Notices()) >= messages {
					break
				}
				continue
			}
			asked[id]++
			if answered[id] {
				t.Errorf("%s was answered, and is shown again", id)
			}
			time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond) // the model thinks
			out, ok := x.tries("reply_to_message", object{"activity_id": id, "message": fmt.Sprint("re: ", message["text"])})
			if !ok {
				break
			}
			answered[id] = out["replied"] == true
		}
		if !end.Stop() {
			kills++
		}
		_ = x.cmd.Process.Kill()
		_ = x.session.Close()
		x.start()
	}
	x.acked(messages)
	told := x.told(messages)
	for i, text := range told {
		if want := fmt.Sprint("re: message ", i); text != want {
			t.Fatalf("the user was told %q in the place of %q: %q", text, want, told)
		}
	}
	if len(told) != messages || kills < 3 {
		t.Errorf("the user was told %d things, with %d kills", len(told), kills)
	}
	t.Logf("%d kills; %d messages were shown to the host, %d of them once", kills, len(asked), once(asked))
}

func once(asked map[string]int) (n int) {
	for _, times := range asked {
		if times == 1 {
			n++
		}
	}
	return n
}
