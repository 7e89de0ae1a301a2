package toolset_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// TestRowsHoldBeginnings: rows wait in memory, and a task or an answer may be long.
func TestRowsHoldBeginnings(t *testing.T) {
	d := withPeer(&double{send: answers(strings.Repeat("é", 1<<20))})
	call(t, tools(t, d, nil), "delegate_task", `{"workspace_id":"`+other+`","task":"`+strings.Repeat("x", 1<<20)+`"}`)
	for _, row := range d.log {
		if len(row.Summary) > 5000 {
			t.Errorf("a row %s of %d bytes waits to be written", row.Type, len(row.Summary))
		}
	}
	if len(d.log) != 2 {
		t.Errorf("%d rows", len(d.log))
	}
}

// TestPeersThatCannotBeListed: the name of a peer is not worth the time of the call.
func TestPeersThatCannotBeListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{delegate: func(platform.Task) (platform.Delegated, error) { return platform.Delegated{ID: "d1"}, nil }}
		s := toolset.New(toolset.Config{Platform: stuck{d}, Workspace: self})
		began := time.Now()
		got := call(t, s, "delegate_task_async", `{"workspace_id":"`+other+`","task":"write"}`)
		if took := time.Since(began); got.Failed || took > 15*time.Second {
			t.Errorf("after %s: %+v", took, got)
		}
	})
}

// TestFailureByThePlatformsClock: the platform's clock may go behind ours.
func TestFailureByThePlatformsClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		behind := time.Now().Add(-time.Hour)
		d := withPeer(&double{
			delegate: func(platform.Task) (platform.Delegated, error) { return platform.Delegated{ID: "d1"}, nil },
			delegations: func() []platform.Delegation {
				return []platform.Delegation{
					{Target: other, Status: "failed", Error: "boom", CreatedAt: behind.Add(time.Second)},
					{DelegationID: "d1", Target: other, Status: "dispatched", CreatedAt: behind},
					{Target: other, Status: "failed", Error: "of another", CreatedAt: behind.Add(-time.Second)},
				}
			},
		})
		began := time.Now()
		got := call(t, tools(t, d, viaInbox), "delegate_task", `{"workspace_id":"`+other+`","task":"write"}`)
		if !strings.HasPrefix(got.Text, "DELEGATION FAILED to Writer: the reason given is:\n"+begins+"boom"+ends) || time.Since(began) > time.Second {
			t.Errorf("after %s: %+v", time.Since(began), got)
		}
	})
}

// TestResultIsAwaitedThenTold: whoever brings results to the model by himself is to leave
// those to the call that waits for them.
func TestResultIsAwaitedThenTold(t *testing.T) {
	for name, c := range map[string]struct {
		end        platform.Delegation
		told, byID bool
	}{
		"completed": {platform.Delegation{ID: "row-2", DelegationID: "d1", Target: other, Status: "completed", Preview: "text"}, true, true},
		"failed":    {platform.Delegation{ID: "row-2", Target: other, Status: "failed", CreatedAt: time.Unix(1, 0)}, true, true},
		"queued":    {platform.Delegation{ID: "row-2", DelegationID: "d1", Target: other, Status: "completed", Preview: `{"status":"queued"}`}, false, false},
		"never":     {platform.Delegation{ID: "row-2", DelegationID: "d1", Target: other, Status: "dispatched"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s *toolset.Set
				asked := 0
				d := withPeer(&double{
					delegate: func(platform.Task) (platform.Delegated, error) { return platform.Delegated{ID: "d1"}, nil },
					delegations: func() []platform.Delegation {
						given := platform.Delegation{ID: "row-1", DelegationID: "d1", Target: other, Status: "dispatched"}
						if waits, told := s.Awaited("d1"); !waits || told {
							t.Errorf("while the call waits: %t, %t", waits, told)
						}
						if asked++; asked < 3 {
							return []platform.Delegation{given}
						}
						return []platform.Delegation{c.end, given}
					},
				})
				s = tools(t, d, viaInbox)
				call(t, s, "delegate_task", `{"workspace_id":"`+other+`","task":"write"}`)
				waits, told := s.Awaited("d1")
				_, byRow := s.Awaited("row-2")
				if waits || told != c.told || byRow != c.byID {
					t.Errorf("afterwards: waits %t, told %t, by its row %t", waits, told, byRow)
				}
			})
		})
	}
}

// TestNameOfTwoPeers is none: the platform is asked about it as it stands.
func TestNameOfTwoPeers(t *testing.T) {
	d := &double{send: func(_ context.Context, target string, _ platform.Message) (platform.Reply, error) {
		return platform.Reply{Text: "from " + target}, nil
	}}
	d.peers = []platform.Peer{{ID: "p1", Name: "Twin"}, {ID: "p2", Name: "twin"}, {ID: "p3", Name: "Single"}}
	for name, want := range map[string]string{"TWIN": "from TWIN", "single": "from p3"} {
		if got := call(t, tools(t, d, nil), "delegate_task", `{"workspace_id":"`+name+`","task":"x"}`); !strings.Contains(got.Text, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestNameThatIsAnId: a peer that calls itself by the id of another gets nothing of what
// is for that one, which may be away just now.
func TestNameThatIsAnId(t *testing.T) {
	d := &double{send: func(_ context.Context, target string, _ platform.Message) (platform.Reply, error) {
		return platform.Reply{Text: "from " + target}, nil
	}}
	id := "1f0c2f4e-8d53-4a57-9d1c-000000000001"
	d.peers = []platform.Peer{{ID: "p1", Name: id}, {ID: "p2", Name: strings.ReplaceAll(id, "-", "")}}
	for _, asked := range []string{id, strings.ToUpper(id), d.peers[1].Name} {
		if got := call(t, tools(t, d, nil), "delegate_task", `{"workspace_id":"`+asked+`","task":"x"}`); !strings.Contains(got.Text, "from "+asked) {
			t.Errorf("%s: %+v", asked, got)
		}
	}
}

func TestTooManyAttachments(t *testing.T) {
	d := &double{}
	list := strings.Repeat(`"/workspace/report.pdf",`, 20) + `"/workspace/report.pdf"`
	if got := call(t, tools(t, d, nil), "send_message_to_user", `{"message":"m","attachments":[`+list+`]}`); !got.Failed || len(d.done) != 0 {
		t.Errorf("%+v, and the platform got %+v", got, d.done)
	}
}

// TestTextThatIsNotWhatItSeems: what turns the direction of writing hides what it says.
func TestTextThatIsNotWhatItSeems(t *testing.T) {
	d := withPeer(&double{send: answers("a\u202eb\u2066c\x07d")})
	if got := call(t, tools(t, d, nil), "delegate_task", `{"workspace_id":"`+other+`","task":"x"}`); !strings.Contains(got.Text, "\nabcd\n") {
		t.Errorf("%q", got.Text)
	}
}

func TestResultsAreBounded(t *testing.T) {
	d := &double{info: `{"name":"` + strings.Repeat("x", 1<<20) + `"}`}
	if got := call(t, tools(t, d, nil), "get_workspace_info", `{}`); got.Failed || len(got.Text) > 100_010 {
		t.Errorf("%d bytes", len(got.Text))
	}
}
