package chaos

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

var messagesFlag = flag.Int("messages", 60, "how many messages the inboxes get")

const (
	inboxSpaces = 4 // each with a user and this many peers: 20 chats
	inboxPeers  = 4
)

// An inboxRun is a channel, its platform and its model under strikes.
type inboxRun struct {
	t        *testing.T
	rng      *rand.Rand
	platform *fakeplatform.Platform
	server   *httptest.Server
	program  *progtest.Program
	spaces   []*fakeplatform.Handle
	peers    []*fakeplatform.Handle
	mark     string

	mu    sync.Mutex
	chats map[string][]string // the messages of each chat, in the order of their rows
	asked map[string]int      // how often the model was asked about each
	kills map[string]int
}

// TestInbox has the inboxes of workspaces worked off while the channel, its platform and
// codex are killed at random instants, and compares the books of all of them.
func TestInbox(t *testing.T) {
	r := &inboxRun{
		t: t, rng: rand.New(rand.NewPCG(*seedFlag, 7)), platform: fakeplatform.New(fakeplatform.AUG),
		chats: map[string][]string{}, asked: map[string]int{}, kills: map[string]int{},
		mark: fmt.Sprintf("CHAOS_INBOX=%d", time.Now().UnixNano()),
	}
	r.server = httptest.NewServer(r.platform)
	r.platform.URL = r.server.URL
	t.Cleanup(func() {
		r.server.CloseClientConnections()
		r.server.Close()
		r.platform.Close()
	})
	r.populate()
	model := modeltest.Start(t, r.script)
	r.program = progtest.Launch(quiet{t}, binary, []string{"channel"}, "OPENAI_BASE_URL="+model.BaseURL(), "OPENAI_API_KEY=key-of-the-chaos-run",
		"RUNTIME_LOG=info", "MOLECULE_WORKSPACES="+r.list(), "CHANNEL_POLL_INTERVAL=50ms", "RUNTIME_MID_TURN=queue", r.mark)
	r.program.AwaitListening()
	var sending sync.WaitGroup
	for n := range r.spaces {
		sending.Go(func() { r.send(n) })
	}
	for n := 0; r.answered() < *messagesFlag*4/5 && !t.Failed(); n++ {
		r.leash(n)
		r.strike()
	}
	sending.Wait()
	r.settle()
	r.program.Stop()
	r.compare()
	t.Logf("%d messages over %d chats, strikes: %v", *messagesFlag, inboxSpaces*(inboxPeers+1), r.kills)
	if t.Failed() {
		t.Logf("the log of the last process:\n%.5000s", r.program.Log())
	}
}

func (r *inboxRun) populate() {
	for n := range inboxSpaces {
		r.spaces = append(r.spaces, r.platform.Add(fakeplatform.Workspace{Name: fmt.Sprintf("space-%d", n), Poll: true}))
	}
	for n := range inboxPeers {
		r.peers = append(r.peers, r.platform.Add(fakeplatform.Workspace{Name: fmt.Sprintf("peer-%d", n), Poll: true, Status: "online"}))
	}
}

func (r *inboxRun) list() string {
	var list []map[string]string
	for _, s := range r.spaces {
		list = append(list, map[string]string{"id": s.ID(), "token": s.Token(), "platform_url": r.platform.URL})
	}
	text, _ := json.Marshal(list)
	return string(text)
}

var inboxID = regexp.MustCompile(`\bi\d+-\d+-\d+\b`)

// script answers each message with its name.
func (r *inboxRun) script(t *fakemodel.Turn) {
	id := inboxID.FindString(t.LastUserText())
	r.mu.Lock()
	r.asked[id]++
	wait := time.Duration(r.rng.IntN(40)) * time.Millisecond
	r.mu.Unlock()
	t.OpenMessage("final_answer")
	t.Delta("answer to ")
	select {
	case <-t.Context().Done():
		return
	case <-time.After(wait):
	}
	t.Delta(id)
	t.EndMessage("")
}

// send has the user and the peers of a workspace talk in turns.
func (r *inboxRun) send(space int) {
	to := r.spaces[space]
	share := *messagesFlag / inboxSpaces
	if space < *messagesFlag%inboxSpaces {
		share++
	}
	for n := range share {
		who := n % (inboxPeers + 1)
		id := fmt.Sprintf("i%d-%d-%d", space, who, n)
		if who == 0 {
			r.put(to.ID()+" canvas", id)
			_, err := to.Send(context.Background(), `{"method":"message/send","params":{"message":{"role":"user","messageId":"`+id+`","parts":[{"kind":"text","text":"Answer `+id+`."}]}}}`)
			if err != nil {
				r.t.Error(err)
			}
		} else {
			r.put(to.ID()+" "+r.peers[who-1].ID(), id)
			r.sendPeer(r.peers[who-1], to, id)
		}
		r.mu.Lock()
		wait := time.Duration(r.rng.IntN(60)) * time.Millisecond
		r.mu.Unlock()
		time.Sleep(wait)
	}
}

func (r *inboxRun) put(chat, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.chats[chat] = append(r.chats[chat], id)
}

// sendPeer repeats a message until the platform has it.
func (r *inboxRun) sendPeer(from, to *fakeplatform.Handle, id string) {
	client := platform.New(platform.Config{URL: r.platform.URL, Workspace: from.ID(), Token: platform.Token{Value: from.Token()}})
	defer client.Close()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_, err := client.Send(platform.Once(ctx), to.ID(), platform.Message{ID: id, Text: "Answer " + id + "."})
		cancel()
		if err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// strike does one harm at random.
func (r *inboxRun) strike() {
	r.mu.Lock()
	most := 3000 // milliseconds: as long as some dozens of turns
	if *messagesFlag < 200 {
		most = 600
	}
	what, after, long := r.rng.IntN(6), time.Duration(r.rng.IntN(most))*time.Millisecond, time.Duration(r.rng.IntN(400))*time.Millisecond
	r.mu.Unlock()
	time.Sleep(after)
	var name string
	switch what {
	case 0, 1:
		name = "channel"
		r.program.Kill()
		r.program = r.program.Restart()
	case 2:
		name = "codex"
		if pid := r.program.Codex(); pid != 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	case 3:
		name = "platform"
		r.fell(long)
	case 4:
		name = "platform and channel"
		r.fell(long / 4)
		r.program.Kill()
		r.program = r.program.Restart()
	default:
		name = "answers of the platform"
		r.platform.Behave("POST /workspaces/*", fakeplatform.Lose().Times(2))
	}
	r.kills[name]++
}

// leash waits until enough has been answered for another strike: a slow machine is not
// struck more often for a message than a fast one.
func (r *inboxRun) leash(strikes int) {
	for deadline := time.Now().Add(restless); strikes > 15+r.answered()/2; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("nothing is answered any more: %d of %d messages after %d strikes", r.answered(), *messagesFlag, strikes)
		}
	}
}

// fell ends the platform and starts it again with what it has written down: what it was
// asked at that moment it has done, and said nothing, or not done.
func (r *inboxRun) fell(long time.Duration) {
	r.platform.Outage(true)
	r.server.CloseClientConnections()
	time.Sleep(long)
	r.platform.Outage(false)
}
