package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// ofPeer marks a request as another agent's, and ofUser as that of the user of the workspace.
var (
	ofPeer = object{"source_workspace_id": "peer-9"}
	ofUser = object{"source": "canvas_user"}
)

// bring sends a message with a file of zeros, and does not wait for its end.
func (w *workspace) bring(id, text string, kib int, from object) (answer object) {
	w.t.Helper()
	file := object{"raw": base64.StdEncoding.EncodeToString(make([]byte, kib<<10)), "filename": id + ".bin"}
	return w.call("SendMessage", object{
		"metadata": from, "configuration": object{"returnImmediately": true},
		"message": object{"messageId": id, "role": "ROLE_USER", "parts": []object{{"text": text}, file}},
	})
}

// brought are the names that files of messages were sent by, and how many bytes they have.
func (w *workspace) brought() (names string, size int64) {
	w.t.Helper()
	folder := os.DirFS(filepath.Join(w.Work, ".molecule/chat-uploads"))
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		info, err := entry.Info()
		if _, name, ok := strings.Cut(entry.Name(), "-"); ok && err == nil {
			all, size = append(all, name), size+info.Size()
		}
	}
	return strings.Join(all, " "), size
}

// TestFilesOfCanceledMessagesGo: a peer's messages that are canceled while they wait leave
// nothing, and those that came to a turn stay, as does the file of the user.
func TestFilesOfCanceledMessagesGo(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	w := startWorkspace(t)
	w.ended(w.task(w.bring("user", "say done", 1, ofUser))["id"])
	runs := w.task(w.bring("runs", "hang", 1, ofPeer))["id"]
	w.modelAsked(2)
	var waiting []any
	for _, id := range []string{"a", "b", "c"} {
		waiting = append(waiting, w.task(w.bring(id, "say never", 3<<10, ofPeer))["id"])
	}
	if names, size := w.brought(); size < 9<<20 {
		t.Fatalf("while they wait there are %q, %d bytes", names, size)
	}
	for _, id := range append(waiting, runs) {
		w.call("CancelTask", object{"id": id, "metadata": ofPeer})
		if task := w.ended(id); state(task) != "TASK_STATE_CANCELED" {
			t.Errorf("canceled: %v", task)
		}
	}
	progtest.WaitFor(t, "the files to go", func() bool { _, size := w.brought(); return size == 2<<10 })
	if names, _ := w.brought(); !strings.Contains(names, "user.bin") || !strings.Contains(names, "runs.bin") {
		t.Errorf("there are %q", names)
	}
}

// TestFilesOfPeersHaveAShare, also after a restart: theirs make room for theirs, and where
// those are of tasks that have not ended, the message is refused.
func TestFilesOfPeersHaveAShare(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	w := startWorkspace(t, "RUNTIME_UPLOADS_MIB=16")
	w.ended(w.task(w.bring("user", "say done", 3<<10, ofUser))["id"])
	for _, id := range []string{"a", "b", "c", "d"} {
		w.ended(w.task(w.bring(id, "say done", 1500, ofPeer))["id"])
	}
	names, size := w.brought()
	if size != (3<<10+2*1500)<<10 || !strings.Contains(names, "user.bin") || strings.Contains(names, "b.bin") {
		t.Errorf("there are %q, %d bytes", names, size)
	}
	w.Kill()
	w.Program = w.Restart()
	w.begin("hangs", "other", "hang")
	w.modelAsked(6)
	open := w.task(w.bring("e", "hang", 3000, ofPeer))["id"]
	w.modelAsked(7)
	refused, _ := json.Marshal(w.bring("f", "say done", 3000, ofPeer))
	if !bytes.Contains(refused, []byte("those of other agents 4 of them")) || !bytes.Contains(refused, []byte("-32000")) {
		t.Errorf("beside one that runs: %s", refused)
	}
	w.task(w.bring("more", "say done", 3000, ofUser))
	names, _ = w.brought()
	for _, name := range []string{"user.bin", "e.bin", "more.bin"} {
		if !strings.Contains(names, name) {
			t.Errorf("there are %q, and not %s", names, name)
		}
	}
	w.call("CancelTask", object{"id": open, "metadata": ofPeer})
	w.ended(open)
	w.ended(w.task(w.bring("f", "say done", 3000, ofPeer))["id"])
}
