package platform_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestRowThatWaited: the platform dates rows by when they come, and a row of ours says
// how long it has waited. What others say of themselves is not looked at.
func TestRowThatWaited(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		s := newSite(t, era)
		began := time.Now()
		for _, body := range []string{``, `{"task":"x"}`, `[1]`, `null`} {
			err := s.Activity(t.Context(), platform.Event{
				Type: "a2a_send", Source: s.w.ID(), Summary: body, RequestBody: json.RawMessage(body), At: began.Add(-5 * time.Second),
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		rows, err := s.ActivityRows(t.Context(), platform.RowQuery{})
		if err != nil || len(rows) != 4 {
			t.Fatalf("%v: %d rows", err, len(rows))
		}
		for _, row := range rows {
			late := row.CreatedAt.Sub(row.Happened(s.w.ID()))
			if object := row.Summary == "" || row.Summary == `{"task":"x"}`; object != (late >= 5*time.Second) || !object && late != 0 {
				t.Errorf("%q: %s late", row.Summary, late)
			}
		}
	})
}

func TestHappened(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		source, body string
		took         int64
		want         time.Duration // before the row's time
	}{
		"ours":            {"us", `{"late_ms":1500}`, 9000, 1500 * time.Millisecond},
		"ours-in-capital": {"US", `{"late_ms":1500}`, 0, 1500 * time.Millisecond},
		"ours-at-once":    {"us", `{}`, 9000, 0},
		"ours-wrong":      {"us", `{"late_ms":-1500}`, 0, 0},
		"ours-for-ever":   {"us", `{"late_ms":9000000000000000}`, 0, 10 * time.Minute},
		"theirs":          {"them", `{"late_ms":1500}`, 0, 0},
		"theirs-answered": {"them", `{}`, 4000, 4 * time.Second},
		"theirs-wrong":    {"them", ``, -5, 0},
	} {
		row := platform.Row{Source: c.source, CreatedAt: at, DurationMS: c.took, RequestBody: json.RawMessage(c.body)}
		if got := at.Sub(row.Happened("us")); got != c.want {
			t.Errorf("%s: %s before, want %s", name, got, c.want)
		}
	}
}

func TestReplyOfARow(t *testing.T) {
	for body, want := range map[string]string{
		``: "", `null`: "", `5`: "", `{`: "",
		`{"result":{"kind":"message","parts":[{"kind":"text","text":"a"}]}}`: "a",
		`{"result":"a"}`:                                                "a",
		`{"text":"a","delegation_id":"d"}`:                              "a",
		`{"delegation_id":"d"}`:                                         "",
		`{"error":{"code":-1,"message":"no"}}`:                          "",
		`{"status":"queued","delivery_mode":"poll"}`:                    "",
		`{"text":"{\"status\":\"queued\",\"delivery_mode\":\"poll\"}"}`: "",
	} {
		if got := (platform.Row{ResponseBody: json.RawMessage(body)}).Reply(); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// TestWhenRowsAreWritten, by this machine's clock: the platform's says how long ago that was.
func TestWhenRowsAreWritten(t *testing.T) {
	there := time.Now().Add(-time.Hour)
	double := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", there.UTC().Format(http.TimeFormat))
		_, _ = fmt.Fprintf(w, `[{"id":"a","created_at":%q},{"id":"b"}]`, there.Add(-time.Minute).UTC().Format(time.RFC3339Nano))
	}))
	defer double.Close()
	c := platform.New(platform.Config{URL: double.URL, Workspace: "w", Token: platform.Token{Value: "t"}})
	defer c.Close()
	asked := time.Now()
	rows, err := c.ActivityRows(t.Context(), platform.RowQuery{})
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v, %v", rows, err)
	}
	for _, row := range rows {
		switch early, late := asked.Add(-time.Minute), time.Now().Add(-time.Minute+time.Second); {
		case row.ID == "b" && !row.Written.IsZero():
			t.Errorf("it is not known, and said: %s", row.Written)
		case row.ID == "a" && (row.Written.Before(early) || row.Written.After(late)):
			t.Errorf("written %s, not between %s and %s", row.Written, early, late)
		}
	}
}
