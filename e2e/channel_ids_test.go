package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestChannelLongIDs: what a platform writes in the ids, URIs and senders of rows, which are kept
// for a month, takes no disk from the workspaces of others.
func TestChannelLongIDs(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	x := &polling{platform: fakeplatform.Start(t, fakeplatform.AUG)}
	x.handle = x.platform.Add(fakeplatform.Workspace{Name: "Ada", Poll: true})
	bad := fakeplatform.Start(t, fakeplatform.AUG)
	other := bad.Add(fakeplatform.Workspace{Name: "Eve", Poll: true})
	list, _ := json.Marshal([]object{{"id": x.handle.ID(), "token": x.handle.Token(), "platform_url": x.platform.URL}, {"id": other.ID(), "token": other.Token(), "platform_url": bad.URL}})
	var pages atomic.Int64
	bad.Behave("GET /workspaces/*/activity", fakeplatform.Answer(func(w http.ResponseWriter, _ *http.Request) {
		page := pages.Add(1)
		rows := []object{}
		for i := range 30 {
			if page > 10 {
				break
			}
			long := fmt.Sprintf("%d-%d-%s", page, i, strings.Repeat("x", 100<<10))
			row := object{"id": fmt.Sprintf("%d-%d", page, i), "activity_type": "a2a_receive", "seq": 30*page + int64(i), "created_at": time.Now().UTC().Format(time.RFC3339Nano)}
			switch i % 3 {
			case 0:
				row["id"], row["activity_type"] = long, "agent_log"
			case 1:
				row["method"], row["request_body"] = "chat_upload_receive", object{"uri": "platform-pending:" + long, "name": "n"}
			default:
				row["method"], row["source_id"], row["request_body"] = "message/send", long, object{"text": "hi"}
			}
			rows = append(rows, row)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(rows)
	}))
	x.launch(t, []string{"channel"}, "MOLECULE_WORKSPACES="+string(list), "WORKSPACE_ID=", "MOLECULE_WORKSPACE_TOKEN=", "CHANNEL_POLL_INTERVAL=200ms")
	x.AwaitListening()
	progtest.WaitFor(t, "the pages to be read", func() bool { return pages.Load() > 11 })
	x.say("say well")
	x.told(1)
	var all int64
	_ = filepath.WalkDir(x.State, func(_ string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				all += info.Size()
			}
		}
		return nil
	})
	if all > 12<<20 { // 6 MiB of it are for a full disk
		t.Errorf("the state has %d MiB", all>>20)
	}
}
