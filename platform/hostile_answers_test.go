package platform_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

func answer(status int, header, value, body string) fakeplatform.Rudeness {
	return fakeplatform.Answer(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set(header, value)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// TestOddRows: a row of the wrong form does not keep the others from being read.
func TestOddRows(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	rows := []string{
		`null`, `7`, `"row"`, `[]`, `{}`, `{"id":5}`,
		`{"id":"a","seq":"12","created_at":"yesterday","attachments":{},"summary":["x"],"request_body":"text","status":null}`,
		`{"id":"b","seq":1.5,"source_id":{"name":"x"},"created_at":17}`,
		`{"id":"c","seq":13,"source_id":null,"method":"message/send","attachments":[{"uri":4},{"uri":"u"}]}`,
	}
	s.p.Behave("*/activity", fakeplatform.Refuse(200, "["+strings.Join(rows, ",")+"]"))
	got, err := s.ActivityRows(t.Context(), platform.RowQuery{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]platform.Row{}
	for _, r := range got {
		seen[r.ID] = r
	}
	if len(got) != len(rows) || seen["a"].Seq != 12 || seen["a"].Summary != "" || seen["c"].Seq != 13 || seen["c"].Method != "message/send" {
		t.Errorf("%+v", got)
	}
	if b := seen["b"]; b.Source == "" || b.FromPeer() != "" {
		t.Errorf("a sender that is no text is taken for %q", b.Source)
	}
}

// TestDeepAnswers: what is valid where a peer sends it, and too deep for any reader where the
// platform shows it, hides neither the rest of that page nor the rest of that peer.
func TestDeepAnswers(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	deep := func(levels int) string {
		return strings.Repeat(`{"params":`, levels-1) + "{}" + strings.Repeat("}", levels-1)
	}
	s.p.Behave("*/activity", fakeplatform.Refuse(200, `[{"id":"a","request_body":{"text":"first"}},`+
		`{"id":"b","seq":2,"request_body":`+deep(9_999)+`,"method":"message/send"},{"id":"c","request_body":{"text":"last"}}]`))
	rows, err := s.ActivityRows(t.Context(), platform.RowQuery{})
	if err != nil || len(rows) != 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if rows[0].ID != "a" || string(rows[1].RequestBody) != `{"text":"last"}` || rows[2].ID != "b" || rows[2].Seq != 2 || rows[2].Method != "message/send" {
		t.Errorf("%.300v", rows)
	}
	s.p.Behave("*/peers", fakeplatform.Refuse(200, `[{"id":"a","agent_card":{"name":"A"}},{"id":"b","name":"B","agent_card":`+deep(9_998)+`,"role":"writer"},{"id":"c"}]`))
	peers, err := s.Peers(t.Context())
	if err != nil || len(peers) != 3 || string(peers[0].Card) != `{"name":"A"}` || peers[1].Role != "writer" || peers[2].ID != "c" {
		t.Errorf("%.300v, %v", peers, err)
	}
	for _, bad := range []string{deep(10_100), deep(9_999) + "}", deep(9_999)[1:], strings.Replace(deep(9_999), "{}", "{,}", 1)} {
		s.p.Behave("*/peers", fakeplatform.Refuse(200, `[{"id":"a","agent_card":`+bad+`}]`))
		if _, err := s.Peers(t.Context()); !errors.Is(err, platform.ErrNotUnderstood) {
			t.Errorf("%.30q: %v", bad, err)
		}
	}
}

// TestOtherClock: how old rows are is said by the platform's clock, not by ours.
func TestOtherClock(t *testing.T) {
	for _, ahead := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		s := newSite(t, fakeplatform.AUG)
		now := time.Now().Add(ahead)
		row := func(id string, at time.Time) string {
			return fmt.Sprintf(`{"id":%q,"created_at":%q}`, id, at.Format(time.RFC3339Nano))
		}
		s.p.Behave("*/activity", answer(200, "Date", now.UTC().Format(http.TimeFormat),
			"["+row("new", now.Add(-time.Minute))+","+row("old", now.Add(-time.Hour))+"]"))
		got, err := s.ActivityRows(t.Context(), platform.RowQuery{Since: 10 * time.Minute})
		if err != nil || len(got) != 1 || got[0].ID != "new" {
			t.Errorf("%s ahead: %+v, %v", ahead, got, err)
		}
	}
}

// TestPagesInBetween: what answers is not the platform, whatever it says of itself.
func TestPagesInBetween(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	for name, how := range map[string]fakeplatform.Rudeness{
		"page":     answer(200, "Content-Type", "text/html", "<html>Log in</html>"),
		"unnamed":  answer(200, "Content-Type", "", "\n <!DOCTYPE html>"),
		"redirect": answer(307, "Location", "https://elsewhere.example/", `{}`),
	} {
		undo := s.p.Behave("*/notify", how)
		err := s.Notify(platform.Once(t.Context()), "hi")
		refused, is := errors.AsType[*platform.Error](err)
		if err == nil || is && refused.Permanent() {
			t.Errorf("%s: %v", name, err)
		}
		if _, again := platform.Again(err); !is && !again {
			t.Errorf("%s: not worth another try: %v", name, err)
		}
		undo()
	}
}

// TestPeersOddAnswers: a message that a peer has answered is not sent again, whatever
// the answer is.
func TestPeersOddAnswers(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	for name, body := range map[string]string{"empty": "\n", "cut": `{"result":`, "text": "ok", "large": `"` + strings.Repeat("x", 17<<20) + `"`} {
		undo := s.p.Behave("*/a2a", fakeplatform.Refuse(200, body))
		_, err := s.Send(t.Context(), "peer", platform.Message{ID: "m", Text: "hi"})
		if _, taken := errors.AsType[*platform.TakenError](err); !taken {
			t.Errorf("%s: %v", name, err)
		}
		undo()
	}
}

// TestUploadThatIsCutOff may be had with the next try.
func TestUploadThatIsCutOff(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	s.p.Behave("*/content", fakeplatform.Answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	var got bytes.Buffer
	_, err := s.PendingUpload(t.Context(), "f1", &got, 1000)
	if _, again := platform.Again(err); !again || got.String() != "half" {
		t.Errorf("%v, after %q", err, got.String())
	}
}

// TestPlacesAreLeft by large answers, whatever became of them.
func TestPlacesAreLeft(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	for range 3 {
		for _, end := range []string{`"}`, `"}]`, `"}]]`, `","x":` + strings.Repeat(" ", 17<<20) + `1}]`} {
			undo := s.p.Behave("*/peers", fakeplatform.Refuse(200, `[{"name":"`+strings.Repeat("x", 1<<20)+end))
			peers, err := s.Peers(t.Context())
			if good := end == `"}]`; (err == nil) != good || good && len(peers) != 1 {
				t.Errorf("%.10s: %v", end, err)
			}
			undo()
		}
	}
	s.p.Behave("*/peers", fakeplatform.Refuse(200, "["+strings.Repeat("{},", platform.MostElements)+"{}]"))
	if _, err := s.Peers(t.Context()); !errors.Is(err, platform.ErrTooMuch) {
		t.Errorf("more peers than are read: %v", err)
	}
}
