package preflight

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A wound clock is one that a test turns: rate is what it shows per what passes, step what
// it is put forward by at its second look.
func wound(shows time.Time, rate float64, steps ...time.Duration) clock {
	var passed time.Duration
	return clock{
		wall:  func() time.Time { return shows.Add(time.Duration(float64(passed) * rate)) },
		since: func() time.Duration { return passed },
		wait: func(_ context.Context, d time.Duration) {
			passed += d
			if len(steps) > 0 {
				shows, steps = shows.Add(steps[0]), steps[1:]
			}
		},
	}
}

func TestClock(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	expect(t, wound(at, 1).check().Do(t.Context()), OK, "it goes", "")
	expect(t, wound(at, 0.5).check().Do(t.Context()), OK, "it goes", "")
	expect(t, wound(at, 0).check().Do(t.Context()), Fail, "stands at 2026-03-01T12:00:00Z", "have it go again")
	expect(t, wound(at, 1, -glance).check().Do(t.Context()), OK, "it goes", "") // put right by as much as has passed
	expect(t, wound(at, 1, -time.Hour, -time.Hour).check().Do(t.Context()), OK, "it goes", "")
	expect(t, Clock().Do(t.Context()), OK, "it goes", "")
}

// serve is a source that says it is some time.
func serve(t *testing.T, header map[string]string) TimeSource {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead || r.Header.Get("Authorization") != "" {
			t.Errorf("it is asked %s with %v", r.Method, r.Header)
		}
		w.Header()["Date"] = nil
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(http.StatusNotFound) // each answer has a date
	}))
	t.Cleanup(server.Close)
	return TimeSource{"it", server.URL, &http.Transport{DisableKeepAlives: true}}
}

func TestSkew(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	says := func(off time.Duration) map[string]string {
		return map[string]string{"Date": at.Add(off).Format(http.TimeFormat)}
	}
	for name, c := range map[string]struct {
		header map[string]string
		status Status
		detail string
		fix    string
	}{
		"as-here":      {says(0), OK, "as it has it", ""},
		"a-bit-ahead":  {says(-9 * time.Second), OK, "as it has it", ""},
		"a-bit-behind": {says(9 * time.Second), OK, "as it has it", ""},
		"ahead":        {says(-43 * time.Second), Warn, "42s ahead of it", "waits for the end of a limit"},
		"behind":       {says(42 * time.Second), Warn, "42s behind it", "NTP"},
		"far-ahead":    {says(-2 * time.Hour), Fail, "1h59m59s ahead of it", "tokens and certificates"},
		"far-behind":   {says(48 * time.Hour), Fail, "48h0m0s behind it", "tokens and certificates"},
		"kept":         {map[string]string{"Date": at.Add(-time.Hour).Format(http.TimeFormat), "Age": "3600"}, OK, "as it has it", ""},
		"ages":         {map[string]string{"Date": "Fri, 01 Jan 9999 00:00:00 GMT"}, Fail, "behind it", "tokens and certificates"},
		"no-date":      {nil, OK, "not compared with it: it does not say", ""},
		"odd-date":     {map[string]string{"Date": "yesterday"}, OK, "not compared with it: it does not say", ""},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, wound(at, 1).skew([]TimeSource{serve(t, c.header)}).Do(t.Context()), c.status, c.detail, c.fix)
		})
	}
	expect(t, wound(at, 1).skew(nil).Do(t.Context()), OK, "nothing that it could be compared with", "")
	gone := TimeSource{"it", "http://127.0.0.1:1", &http.Transport{DisableKeepAlives: true}}
	expect(t, wound(at, 1).skew([]TimeSource{gone}).Do(t.Context()), OK, "not compared with it: dial tcp", "")
	// One that agrees says that the other one is wrong.
	expect(t, wound(at, 1).skew([]TimeSource{serve(t, says(0)), serve(t, says(time.Hour))}).Do(t.Context()), Warn, "as it has it; 1h0m0s behind it", "have the other's set")
	expect(t, wound(at, 1).skew([]TimeSource{gone, serve(t, says(time.Hour))}).Do(t.Context()), Fail, "1h0m0s behind it", "")
}

// TestSkewKnowsOfTheWayThere has an answer take long: what the clock shows at its end is
// not what it showed when the source looked at its own.
func TestSkewKnowsOfTheWayThere(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	source := serve(t, map[string]string{"Date": at.Format(http.TimeFormat)})
	looks := 0
	slow := clock{wall: func() time.Time {
		looks++
		return at.Add(time.Duration(looks-1) * time.Minute)
	}}
	expect(t, slow.skew([]TimeSource{source}).Do(t.Context()), OK, "as it has it", "")
}

// TestSkewByACertificate cannot ask at all: the source's certificate is not valid yet, or no
// more, at the time that the clock shows.
func TestSkewByACertificate(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	server.Config.ErrorLog = nil
	for shows, want := range map[string]struct {
		status Status
		detail string
	}{
		"1969-06-01T00:00:00Z": {Fail, "the clock is behind: not compared with it: the clock shows 1969-06-01T00:00:00Z, and its certificate begins at 1970"},
		"2999-06-01T00:00:00Z": {Warn, "its certificate has ended at 2084"},
	} {
		now, err := time.Parse(time.RFC3339, shows)
		if err != nil {
			t.Fatal(err)
		}
		transport, ok := server.Client().Transport.(*http.Transport)
		if !ok {
			t.Fatal("another transport")
		}
		via := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: transport.TLSClientConfig.RootCAs, Time: func() time.Time { return now }}}
		r := wound(now, 1).skew([]TimeSource{{"it", server.URL, via}}).Do(t.Context())
		if r.Status != want.status || !strings.Contains(r.Detail, want.detail) {
			t.Errorf("%s: %+v", shows, r)
		}
	}
}
