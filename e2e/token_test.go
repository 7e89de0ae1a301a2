package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// unauthorized are the requests since a time that had no good token.
func (m *member) unauthorized(since time.Time) (paths []string) {
	for _, r := range m.platform.Requests() {
		if r.At.After(since) && r.Status == http.StatusUnauthorized {
			paths = append(paths, r.Method+" "+r.Path)
		}
	}
	return paths
}

// TestRestartWithARotatedToken restarts the workspace as the platform does: killed, with
// another token in the file; then the platform says that it was restarted. Nothing is sent
// with the old token, and the conversation goes on.
func TestRestartWithARotatedToken(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	eras(t, func(t *testing.T, m *member) {
		m.online()
		m.user("m1", "remember plum-5")
		m.Kill()
		asked := len(m.Model.Requests())
		if err := m.handle.Restart(m.configs); err != nil {
			t.Fatal(err)
		}
		m.Program = m.Restart()
		progtest.WaitFor(t, "the workspace to be online", func() bool { return m.handle.Status() == "online" && m.handle.URL() != "" })
		told := m.handle.RestartContext(t.Context())
		if text, _ := readReply(t, string(told.Body)); told.Status != http.StatusOK || !strings.Contains(text, "back after its restart") {
			t.Errorf("the restart context is answered %d %s", told.Status, told.Body)
		}
		if n := len(m.Model.Requests()); n != asked {
			t.Errorf("it cost %d turns", n-asked)
		}
		if got := m.user("m2", "recall"); !strings.Contains(got, "plum-5") {
			t.Errorf("after the restart: %q", got)
		}
		if late := m.unauthorized(m.Born); len(late) != 0 {
			t.Errorf("sent with the old token: %v", late)
		}
	})
}

// TestTokenIsReadEachTime rotates it while codex has the tools loaded: each call of either
// door is made with the one that stands in the file.
func TestTokenIsReadEachTime(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for door, call := range doors {
		t.Run(door, func(t *testing.T) {
			bothEras(t, func(t *testing.T, m *member) {
				m.enter("RUNTIME_TOOLS=" + door)
				m.online()
				m.platform.Add(fakeplatform.Workspace{Name: "Peer", Reply: strings.ToUpper})
				if got := m.user("m1", call+"list_peers {}"); !strings.Contains(got, "- Peer (") {
					t.Fatalf("list_peers: %q", got)
				}
				m.put(".auth_token", m.handle.Rotate())
				since := time.Now()
				if got := m.user("m2", call+"list_peers {}"); !strings.Contains(got, "- Peer (") {
					t.Errorf("with another token: %q", got)
				}
				if late := m.unauthorized(since); slices.Contains(late, "GET /registry/"+m.handle.ID()+"/peers") {
					t.Errorf("sent with the old token: %v", late)
				}
			})
		})
	}
}

// TestRevokedToken has the platform forget it: the workspace registers itself anew, and
// writes down what it is given.
func TestRevokedToken(t *testing.T) {
	t.Parallel()
	eras(t, func(t *testing.T, m *member) {
		m.online()
		m.handle.Revoke()
		m.begin("m1", "c", "say one") // its beats are refused
		progtest.WaitFor(t, "a new token", func() bool { return m.handle.Token() != "" })
		file := filepath.Join(m.configs, ".auth_token")
		progtest.WaitFor(t, "the token to be written down", func() bool {
			kept, err := os.ReadFile(file)
			return err == nil && strings.TrimSpace(string(kept)) == m.handle.Token()
		})
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		before := len(m.handle.Beats())
		m.begin("m2", "c", "say two")
		progtest.WaitFor(t, "a beat with the new token", func() bool { return len(m.handle.Beats()) > before })
		if strings.Contains(m.Log(), m.handle.Token()) {
			t.Error("the token was logged")
		}
	})
}
