package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
)

// TestReaderCutAtEveryEvent: a reader who leaves after each event and comes back
// has the same stream as one who stays; while the turn runs, after its end, and
// after a restart; by every door.
func TestReaderCutAtEveryEvent(t *testing.T) {
	longtest.Mark(t)
	// A header that had to come first would say 200 where there is nothing more.
	s := newStation(t, Config{KeepAlive: time.Minute}, func(s *Server) { s.bindings.OpenWithin = time.Minute })
	for _, door := range bindings() {
		t.Run(door.name, func(t *testing.T) {
			s.t = t
			messageID := "message of " + door.name
			whole, failed := make(chan []frame, 1), make(chan error, 1)
			go func() {
				_, frames, err := s.stream(door.send(messageID), "", 0)
				whole <- frames
				failed <- err
			}()
			turn := s.next(1)
			played := make(chan struct{})
			go func() {
				defer close(played)
				play(turn)
			}()
			cut := s.cutReader(door.subscribe(a2a.TaskID(turn.ID[:36])))
			<-played
			all := <-whole
			if err := <-failed; err != nil || len(all) < 10 {
				t.Fatalf("only %d events: %s, %v", len(all), ids(all), err)
			}
			if !slices.Equal(cut, all[1:]) {
				t.Fatalf("the reader who was cut has\n%v\nthe other\n%v", cut, all)
			}
			s.cutAgain(door, messageID, turn, all)
			s.restart()
			s.cutAgain(door, messageID, turn, all)
		})
	}
}

// play is a turn of text and tools.
func play(turn *turn) {
	var text strings.Builder
	for i := range 12 {
		word := fmt.Sprintf("word %d <é\u2028> ", i)
		text.WriteString(word)
		turn.say(word)
		if i%4 == 0 {
			turn.observe(agent.PlanUpdated{Explanation: "so far"})
		}
		time.Sleep(3 * time.Millisecond) // let chunks come apart
	}
	turn.answer(text.String())
}

// cutReader reads one event at a time, until the last.
func (s *station) cutReader(req [3]string) []frame {
	s.t.Helper()
	var all []frame
	for after := "1.0"; len(all) < 1000; after = all[len(all)-1].id {
		_, frames := s.read(req, after, 1)
		if len(frames) == 0 {
			return all
		}
		all = append(all, frames...)
	}
	s.t.Fatalf("the stream has no end: %.500s", ids(all))
	return nil
}

// cutAgain reads the rest of an ended stream after each of its events.
func (s *station) cutAgain(door streamDoor, messageID string, turn *turn, all []frame) {
	s.t.Helper()
	reqs := [][3]string{door.subscribe(a2a.TaskID(turn.ID[:36])), door.send(messageID)}
	for i, last := range all {
		for _, req := range reqs {
			res, rest := s.read(req, last.id, 0)
			if !slices.Equal(rest, all[i+1:]) {
				s.t.Errorf("%s after %s: %s, want %s", req[2], last.id, ids(rest), ids(all[i+1:]))
			}
			want := http.StatusOK
			if i == len(all)-1 && req[0] == http.MethodGet {
				want = http.StatusNoContent
			}
			if res.StatusCode != want {
				s.t.Errorf("%v after %s: status %d, want %d", req, last.id, res.StatusCode, want)
			}
		}
	}
	// Without an id there is nothing to subscribe to.
	a := do(s.t, reqs[0][0], s.url+reqs[0][1], reqs[0][2])
	if !strings.Contains(a.body, "nothing to subscribe to") || !strings.Contains(a.body, "has ended") {
		s.t.Errorf("without an id: %d %s", a.status, a.body)
	}
}

// TestResumeOverARestart: what was committed of the first attempt is not shown
// again, the second one begins its text anew, and who has seen more than was
// committed gets the task.
func TestResumeOverARestart(t *testing.T) {
	s := newStation(t, Config{})
	for _, door := range bindings() {
		t.Run(door.name, func(t *testing.T) {
			s.t = t
			id, turn := s.begin("message of " + door.name)
			turn.say("committed ")
			_, seen := s.read(door.subscribe(id), "1.0", 2)
			_, known := s.read(door.subscribe(id), "1.0", 2) // which commits what was said
			if ids(seen) != "1.1 1.2" || !slices.Equal(seen, known) {
				t.Fatalf("%s, then %s", ids(seen), ids(known))
			}
			s.restart()
			turn = s.next(2)
			turn.say("anew ")
			_, more := s.read(door.subscribe(id), seen[1].id, 1)
			turn.answer("anew and whole")
			_, rest := s.read(door.subscribe(id), more[0].id, 0)
			got := append(more, rest...)
			for i, f := range got {
				if want := fmt.Sprintf("2.%d", i+3); f.id != want {
					t.Errorf("event %d has the id %s, want %s", i, f.id, want)
				}
			}
			if text := got[len(got)-2].data; !strings.Contains(text, "w and whole") || strings.Contains(text, "committed") {
				t.Errorf("the last chunk is %s", text)
			}
			_, snapshot := s.read(door.subscribe(id), "1.3", 0)
			if len(snapshot) != 1 || snapshot[0].id != got[len(got)-1].id || !strings.Contains(snapshot[0].data, "anew and whole") {
				t.Errorf("after an event that was lost: %v", snapshot)
			}
		})
	}
}

// TestOddLastEventIDs: whatever stands there, the answer is the task as it is.
func TestOddLastEventIDs(t *testing.T) {
	s := newStation(t, Config{})
	id, turn := s.begin("m1")
	turn.answer("done")
	for _, door := range bindings() {
		for _, after := range []string{
			"1", "x", "1.", ".1", "1.-1", "-1.1", "1.1.1", "1.99", "9.1", "+1.1", "01.1", "1.01", "1,1", "1.1 x", "1e0.1", "\"1.1\"", "0x1.1", "１.１",
			"1.9223372036854775807", "1.9223372036854775808", "1.18446744073709551617", "18446744073709551617.1", strings.Repeat("9", 60_000) + ".1", "1." + strings.Repeat("0", 60_000) + "1",
			"%s%n", "'; DROP TABLE tasks; --", "../../etc/passwd", "\x80\xff", "1.1\t",
		} {
			res, frames := s.read(door.subscribe(id), after, 0)
			if after == "1.1\t" { // the header ends before the tab
				if len(frames) == 0 || frames[0].id != "1.2" {
					t.Errorf("%s after %q: %v", door.name, after, frames)
				}
				continue
			}
			if res.StatusCode != http.StatusOK || len(frames) != 1 || !strings.Contains(frames[0].data, `"done"`) {
				t.Errorf("%s after %.40q: %d %.300v", door.name, after, res.StatusCode, frames)
			}
		}
		req := door.subscribe("nope")
		if a := do(t, req[0], s.url+req[1], req[2], "Last-Event-ID", "1.1"); !strings.Contains(a.body, "Task not found") || strings.Contains(a.body, "\nid:") {
			t.Errorf("%s: an unknown task: %d %s", door.name, a.status, a.body)
		}
	}
}

// TestLastEventIDWithLineBreaks: none gets as far as the stream.
func TestLastEventIDWithLineBreaks(t *testing.T) {
	s := newStation(t, Config{})
	id, turn := s.begin("m1")
	turn.answer("done")
	for header, status := range map[string]int{
		"1.1\r\n event: evil": 200, "1.1\n\tx": 200, "1.1\rdata: evil": 400, "1.1\x00": 400, "x\r\nX-Other: 1": 200,
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /tasks/%s:subscribe HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nLast-Event-ID: %s\r\n\r\n", id, header)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		_, _ = bufio.NewReader(res.Body).WriteTo(&got)
		_, _ = res.Body.Close(), conn.Close()
		if res.StatusCode != status || strings.Contains(got.String(), "evil") || status == 200 && !strings.Contains(got.String(), `data: {"task"`) {
			t.Errorf("%q: %d %s", header, res.StatusCode, got.String())
		}
	}
}

// TestQuietStreamOpensSoon: a reader who comes back to a task that says nothing
// gets its header all the same.
func TestQuietStreamOpensSoon(t *testing.T) {
	s := newStation(t, Config{KeepAlive: time.Minute})
	id, turn := s.begin("m1")
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	for _, door := range bindings() {
		req := door.subscribe(id)
		r, err := http.NewRequestWithContext(ctx, req[0], s.url+req[1], strings.NewReader(req[2]))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Last-Event-ID", "1.1")
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Errorf("%s: %v", door.name, err)
		} else if _ = res.Body.Close(); res.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%s: %d %v", door.name, res.StatusCode, res.Header)
		}
	}
	turn.answer("done")
}

// A counter counts how often it is encoded.
type counter struct{ n atomic.Int64 }

func (c *counter) MarshalJSON() ([]byte, error) {
	return json.Marshal(fmt.Sprintf("encoding %d", c.n.Add(1)))
}

// TestEventIsEncodedOncePerForm, however many read it, and each gets the id of his
// own request around it.
func TestEventIsEncodedOncePerForm(t *testing.T) {
	count := &counter{}
	shared := &feed.Event{ID: "1.1", Shared: true, Event: &a2a.TaskStatusUpdateEvent{TaskID: "T", ContextID: "C",
		Status: a2a.TaskStatus{State: a2a.TaskStateWorking}, Metadata: map[string]any{"x": count}}}
	s := &station{t: t, url: start(t, Config{Handler: &fakeHandler{shared: func(context.Context) guard.Events {
		return func(yield func(*feed.Event, error) bool) { yield(shared, nil) }
	}}}).URL}
	var wg sync.WaitGroup
	for i := range 8 {
		for _, door := range bindings() {
			wg.Go(func() {
				req, want := door.send("m"), ""
				if req[1] == "/" {
					req[2] = strings.Replace(req[2], `"<1>"`, fmt.Sprint(i), 1)
					want = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{`, i)
				}
				_, frames, err := s.stream(req, "", 0)
				if err != nil || len(frames) != 1 || !strings.HasPrefix(frames[0].data, want) || !json.Valid([]byte(frames[0].data)) {
					t.Errorf("%v %v", frames, err)
				}
			})
		}
	}
	wg.Wait()
	if n := count.n.Load(); n != 3 {
		t.Errorf("encoded %d times, want 3", n)
	}
}

// TestLargeEventIsWhole: events too large to be copied look like the others.
func TestLargeEventIsWhole(t *testing.T) {
	const largest = 1 << 10 // of the events that are written in one piece
	for _, size := range []int{largest - 200, largest, largest + 1, 300 << 10} {
		text := strings.Repeat("x", size)
		h := &fakeHandler{stream: func(context.Context, *a2a.SendMessageRequest) unplaced {
			return events(&a2a.TaskArtifactUpdateEvent{TaskID: "T", ContextID: "C",
				Artifact: &a2a.Artifact{ID: "A", Parts: a2a.ContentParts{a2a.NewTextPart(text)}}}, &a2a.Task{ID: "T"})
		}}
		s := &station{t: t, url: start(t, Config{Handler: h}).URL}
		for _, door := range bindings() {
			_, frames := s.read(door.send("m"), "", 0)
			if ids(frames) != "1.1 1.2" || !json.Valid([]byte(frames[0].data)) || !strings.Contains(frames[0].data, `"`+text+`"`) {
				t.Errorf("%s: %d bytes: %s, %.200s", door.name, size, ids(frames), frames[0].data)
			}
		}
	}
}

// TestEscapedSubscribe: however its path is written, the stream is ours.
func TestEscapedSubscribe(t *testing.T) {
	ts := start(t, Config{})
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		for _, path := range []string{"T1%3Asubscribe", "T1%3asubscribe", "T1:subscribe", "T%31:subscribe", "T1:%73ubscribe"} {
			for _, base := range []string{"/tasks/", "/v1/tasks/"} {
				a := do(t, method, ts.URL+base+path, "")
				if a.status != 200 || !strings.HasPrefix(a.body, "id: 1.1\ndata: ") {
					t.Errorf("%s %s%s: %d %v %s", method, base, path, a.status, a.header, a.body)
				}
			}
		}
	}
}
