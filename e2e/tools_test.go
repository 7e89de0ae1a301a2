package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A station is a runtime that is a workspace of a platform, with a peer.
type station struct {
	*program
	platform *fakeplatform.Platform
	me, peer *fakeplatform.Handle
}

// peerSecret is what the peer of a station lets slip.
const peerSecret = "sk-live-0123456789abcdefghijABCDEFGHIJ"

func startStation(t *testing.T, era fakeplatform.Era, settings ...string) *station {
	t.Helper()
	platform := fakeplatform.Start(t, era)
	me := platform.Add(fakeplatform.Workspace{Name: "worker"})
	peer := platform.Add(fakeplatform.Workspace{Name: "writer", Role: "writes", Reply: func(text string) string {
		return "done: " + text + ", the key is " + peerSecret
	}})
	configs := codextest.Dir(t, "configs")
	if err := os.WriteFile(filepath.Join(configs, ".auth_token"), []byte(me.Token()), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, append([]string{
		"WORKSPACE_ID=" + me.ID(), "PLATFORM_URL=" + platform.URL, "CONFIGS_DIR=" + configs, "MOLECULE_WORKSPACE_URL=http://localhost:1",
	}, settings...)...)
	return &station{p, platform, me, peer}
}

// doors are the ways to offer the tools, and how the model calls one.
var doors = map[string]string{"dynamic": "call ", "mcp": "call mcp__molecule::"}

func TestToolsByBothDoors(t *testing.T) {
	t.Parallel()
	for door, call := range doors {
		for _, era := range []fakeplatform.Era{fakeplatform.APR, fakeplatform.AUG} {
			t.Run(door+"-"+era.String(), func(t *testing.T) {
				t.Parallel()
				s := startStation(t, era, "RUNTIME_TOOLS="+door)
				said := func(id, arguments string) string { return statusTextOf(s.send(id, "c", call+arguments)) }
				if got := said("m1", "list_peers {}"); !strings.Contains(got, "- writer (ID: "+s.peer.ID()+", status: online, role: writes)") {
					t.Errorf("list_peers: %q", got)
				}
				task := s.send("m2", "c", call+`delegate_task {"workspace_id":"`+s.peer.ID()+`","task":"a poem"}`)
				got := statusTextOf(task)
				if !strings.HasPrefix(quoted(t, got), "done: a poem") {
					t.Errorf("delegate_task: %q", got)
				}
				traced(t, task)
				if got := said("m3", `delegate_task {"workspace_id":"`+s.me.ID()+`","task":"a poem"}`); !strings.Contains(got, "self-delegation is not permitted") {
					t.Errorf("delegation to itself: %q", got)
				}
				if got := said("m4", `commit_memory {"content":"the key is `+peerSecret+`"}`); !strings.Contains(got, `"success": true`) {
					t.Errorf("commit_memory: %q", got)
				}
				if got := said("m5", `recall_memory {"query":"key"}`); !strings.Contains(got, "[LOCAL] the key is ") || strings.Contains(got, peerSecret) {
					t.Errorf("recall_memory: %q", got)
				}
				if got := said("m6", `send_message_to_user {"message":"half done"}`); !strings.Contains(got, "Message sent to user") || s.me.Notices()[0].Message != "half done" {
					t.Errorf("send_message_to_user: %q, notices %+v", got, s.me.Notices())
				}
				if era == fakeplatform.APR { // the newer one hands uploads to us
					if err := os.WriteFile(filepath.Join(s.Work, "report.txt"), []byte("report"), 0o600); err != nil {
						t.Fatal(err)
					}
					got := said("m9", `send_message_to_user {"message":"look","attachments":["report.txt"]}`)
					if files := s.me.Notices()[1].Attachments; !strings.Contains(got, "with 1 attachment(s)") || len(files) != 1 || files[0].Name != "report.txt" {
						t.Errorf("send_message_to_user: %q, notices %+v", got, s.me.Notices())
					}
				}
				said("m7", `send_message_to_user {"message":""}`)
				s.keepsItsAddress(t, func(arguments string) string { return said("m10", "update_agent_card "+arguments) })
				s.send("m8", "c", "run exit 3")
				s.rows(t, "command_execution", "mcp__molecule__recall_memory")
				if log := s.Log(); strings.Contains(log, peerSecret) {
					t.Error("the log holds what the peer let slip")
				}
			})
		}
	}
}

// traced looks at what the platform is shown of a call: what it was made with, and what
// came of it, without secrets.
func traced(t *testing.T, task object) {
	t.Helper()
	input, _ := at(task, "metadata", "tool_trace", 0, "input").(string)
	output, _ := at(task, "metadata", "tool_trace", 0, "output_preview").(string)
	if !strings.Contains(input, "a poem") || !strings.Contains(output, "done: a poem") || strings.Contains(output, peerSecret) {
		t.Errorf("the trace of a tool has the input %q and the output %q", input, output)
	}
}

// keepsItsAddress has the agent change its card, and give itself another address.
func (s *station) keepsItsAddress(t *testing.T, update func(arguments string) string) {
	t.Helper()
	progtest.WaitFor(t, "the workspace to be registered", func() bool { return len(s.me.Card()) > 0 })
	got := update(`{"card":{"name":"Grace","url":"http://localhost:2/"}}`)
	var card struct{ Name, URL string }
	if err := json.Unmarshal(s.me.Card(), &card); err != nil || card.Name != "Grace" || card.URL != "http://localhost:1/" {
		t.Errorf("update_agent_card: %q, and the card is %+v, %v", got, card, err)
	}
}

// rows waits for a row of activity of each method, and looks at all of them.
func (s *station) rows(t *testing.T, methods ...string) {
	t.Helper()
	progtest.WaitFor(t, "the rows of activity", func() bool {
		rows := s.me.Rows()
		return !slices.ContainsFunc(methods, func(m string) bool {
			return !slices.ContainsFunc(rows, func(r fakeplatform.Row) bool { return r.Type == "agent_log" && r.Method == m })
		})
	})
	for _, r := range s.me.Rows() {
		if r.Source == s.me.ID() && strings.Contains(r.Summary+string(r.RequestBody)+string(r.ResponseBody), peerSecret) {
			t.Errorf("a row of ours holds what the peer let slip: %+v", r)
		}
		if r.Type == "agent_log" && r.Method == "command_execution" && (r.Status != "error" || r.ErrorDetail != "exit code 3") {
			t.Errorf("the failed command is logged as %+v", r)
		}
		if r.Type == "agent_log" && strings.Contains(r.Summary+r.ErrorDetail+string(r.RequestBody), peerSecret) {
			t.Errorf("a row of activity holds what the peer let slip: %+v", r)
		}
	}
}

// statusTextOf is all text of an answer.
func statusTextOf(answer object) string {
	var all []string
	var walk func(v any)
	walk = func(v any) {
		switch x := v.(type) {
		case object:
			if text, ok := x["text"].(string); ok {
				all = append(all, text)
			}
			for _, key := range []string{"result", "task", "message", "artifacts", "parts", "status"} {
				walk(x[key])
			}
		case []any:
			for _, one := range x {
				walk(one)
			}
		}
	}
	walk(answer)
	return strings.Join(all, "\n")
}

// TestToolsOutliveTheProgram kills the runtime, and has the same thread call a tool.
func TestToolsOutliveTheProgram(t *testing.T) {
	t.Parallel()
	s := startStation(t, fakeplatform.AUG)
	s.send("m1", "c", "remember blue-42")
	s.Kill()
	s.program = &program{Program: s.Restart(), Model: s.Model, t: t}
	if got := statusTextOf(s.send("m2", "c", "call list_peers {}")); !strings.Contains(got, "- writer (") {
		t.Errorf("list_peers: %q", got)
	}
	if got := statusTextOf(s.send("m3", "c", "recall")); !strings.Contains(got, "blue-42") {
		t.Errorf("after a restart the thread recalls %q", got)
	}
}

// TestSlowToolBlocksNoOther calls a tool that waits for the platform, and one that
// does not, at once: the second comes to its end while the first waits.
func TestSlowToolBlocksNoOther(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for door, namespace := range map[string]string{"dynamic": "", "mcp": "mcp__molecule"} {
		t.Run(door, func(t *testing.T) {
			s := startStation(t, fakeplatform.AUG, "RUNTIME_TOOLS="+door)
			undo := s.platform.Behave("POST /workspaces/"+s.peer.ID()+"/a2a", fakeplatform.Hang())
			s.Model.SetScript(func(m *fakemodel.Turn) {
				if outputs := m.NewToolOutputs(); len(outputs) > 0 {
					m.Say(outputs[0].Text + " and " + outputs[1].Text)
					return
				}
				call := func(name, arguments string) {
					if namespace == "" {
						m.Call(name, arguments)
					} else {
						m.CallIn(namespace, name, arguments)
					}
				}
				call("delegate_task", `{"workspace_id":"`+s.peer.ID()+`","task":"x"}`)
				call("commit_memory", `{"content":"fast"}`)
			})
			answer := make(chan object, 1)
			go func() { answer <- s.send("m1", "c", "go") }()
			ctx := t.Context()
			memories := "/workspaces/" + s.me.ID() + "/memories"
			if err := s.platform.Await(ctx, func() bool {
				done := false
				for _, r := range s.platform.Requests("POST " + memories) {
					done = done || r.Status == 201
				}
				return done
			}); err != nil {
				t.Fatal(err)
			}
			select {
			case got := <-answer:
				t.Fatalf("the turn has ended before the slow tool: %v", got)
			case <-time.After(100 * time.Millisecond): // it cannot: delegate_task hangs
			}
			undo()
			s.cancelAll(t, "c")
			<-answer
		})
	}
}

// cancelAll ends the turn of a context by the word for that.
func (s *station) cancelAll(t *testing.T, contextID string) {
	t.Helper()
	if said := statusTextOf(s.send("stop-"+contextID, contextID, "/stop")); !strings.Contains(said, "topped") {
		t.Errorf("/stop says %q", said)
	}
}

// TestDoctorTriesBothDoors asks doctor about a workspace.
func TestDoctorTriesBothDoors(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), binary, "doctor", "--json")
	cmd.Env = append(progtest.Environ(t),
		"CODEX_BIN="+codextest.Bin(t), "CODEX_HOME="+codextest.Home(t), "RUNTIME_STATE_DIR="+codextest.Dir(t, "state"),
		"RUNTIME_WORKDIR="+codextest.Dir(t, "work"), "CONFIGS_DIR="+codextest.Dir(t, "configs"), "RUNTIME_ADDR=127.0.0.1:0",
		"WORKSPACE_ID=w", "PLATFORM_URL=http://127.0.0.1:1", "RUNTIME_MODEL=scripted")
	out, err := cmd.Output()
	var report struct {
		Checks []struct{ Name, Status, Detail string }
	}
	if jsonErr := json.Unmarshal(out, &report); jsonErr != nil {
		t.Fatalf("doctor: %v, %v: %s", err, jsonErr, out)
	}
	want := map[string]string{"tools (dynamic)": "18 tools, in use", "tools (mcp)": "18 tools, not in use (RUNTIME_TOOLS)"}
	for _, check := range report.Checks {
		if detail, ours := want[check.Name]; ours {
			if check.Status != "ok" || check.Detail != detail {
				t.Errorf("%s: %s, %s", check.Name, check.Status, check.Detail)
			}
			delete(want, check.Name)
		}
	}
	if len(want) > 0 {
		t.Errorf("doctor does not check %v: %s", want, out)
	}
}

// TestDoctorStartsNothingOfTheFolder: a command could write what the doctor's own codex reads of the
// working directory, so nothing there counts for that, also where it is trusted.
func TestDoctorStartsNothingOfTheFolder(t *testing.T) {
	t.Parallel()
	work, home, outside := codextest.Dir(t, "work"), codextest.Home(t), filepath.Join(codextest.Dir(t, "outside"), "server")
	writeFile(t, filepath.Join(home, "config.toml"), "[projects.'"+work+"']\ntrust_level = 'trusted'\n")
	writeFile(t, filepath.Join(work, ".codex/config.toml"), "[mcp_servers.x]\ncommand = 'touch'\nargs = ['"+outside+"']\n")
	w := startWorkspace(t, "RUNTIME_WORKDIR="+work, "CODEX_HOME="+home, "CODEX_SANDBOX=workspace-write")
	if out, _ := w.Command("doctor"); !strings.Contains(out, "tools, in use") {
		t.Errorf("the doctor's codex did not begin a thread:\n%s", out)
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("the doctor has started a server of the working directory")
	}
	w.send("m1", "c", "say hello") // whose own codex trusts it
	progtest.WaitFor(t, "the server of the folder that is trusted", func() bool { _, err := os.Lstat(outside); return err == nil })
}
