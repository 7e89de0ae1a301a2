package platform_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A slowLink answers each request with the same text, so many bytes a second, and hangs behind
// some of them.
type slowLink struct {
	text  string
	speed int
	hangs int // 0 is nowhere
}

func (l slowLink) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: &slowBody{l, r.Context(), time.Now(), 0}, Request: r}, nil
}

type slowBody struct {
	slowLink
	ctx   context.Context
	began time.Time
	at    int
}

func (b *slowBody) Read(into []byte) (int, error) {
	for b.ctx.Err() == nil {
		there := min(b.speed*int(time.Since(b.began)/time.Second), len(b.text))
		if b.hangs > 0 {
			there = min(there, b.hangs)
		}
		if n := copy(into, b.text[b.at:there]); n > 0 {
			b.at += n
			return n, nil
		}
		if b.at == len(b.text) {
			return 0, io.EOF
		}
		select {
		case <-time.After(time.Second):
		case <-b.ctx.Done():
		}
	}
	return 0, b.ctx.Err()
}

func (*slowBody) Close() error { return nil }

// TestBoundsOfSlowAnswers: one that keeps coming is waited for, but for ten minutes only: of a page
// less is asked for then, and of a row that has come for so long there is its head.
func TestBoundsOfSlowAnswers(t *testing.T) {
	longtest.Mark(t)
	row := func(size int) string {
		return `[{"id":"r1","request_body":"` + strings.Repeat("x", size) + `","source_id":"p"}]`
	}
	for name, c := range map[string]struct {
		link  slowLink
		query platform.RowQuery
		took  time.Duration // about
		want  string        // the row without what, the fact or the error
	}{
		"page":                {slowLink{text: row(8 << 20), speed: 100_000}, platform.RowQuery{Patient: true}, 84 * time.Second, "r1 p, without "},
		"page-in-a-hurry":     {slowLink{text: row(8 << 20), speed: 100_000}, platform.RowQuery{}, 30 * time.Second, "does not answer in time"},
		"page-too-slow":       {slowLink{text: row(8 << 20), speed: 10_000}, platform.RowQuery{Patient: true}, 10 * time.Minute, "too large to come in time"},
		"page-hangs":          {slowLink{text: row(8 << 20), speed: 100_000, hangs: 1 << 20}, platform.RowQuery{Patient: true}, 41 * time.Second, "too large to come in time"},
		"page-hangs-at-once":  {slowLink{text: row(8 << 20), speed: 10_000, hangs: 60_000}, platform.RowQuery{Patient: true}, 30 * time.Second, "does not answer in time"},
		"page-drips":          {slowLink{text: row(8 << 20), speed: 1}, platform.RowQuery{Patient: true}, 30 * time.Second, "does not answer in time"},
		"row":                 {slowLink{text: row(20 << 20), speed: 150_000}, platform.RowQuery{Patient: true, Limit: 1}, 140 * time.Second, "r1 p, without "},
		"large-row":           {slowLink{text: row(65 << 20), speed: 300_000}, platform.RowQuery{Patient: true, Limit: 1}, 228 * time.Second, "r1 p, without request_body"},
		"large-row-in-hurry":  {slowLink{text: row(65 << 20), speed: 300_000}, platform.RowQuery{Limit: 1}, 30 * time.Second, "does not answer in time"},
		"large-row-too-slow":  {slowLink{text: row(80 << 20), speed: 120_000}, platform.RowQuery{Patient: true, Limit: 1}, 10 * time.Minute, "r1  , without workspace_id"},
		"row-too-slow":        {slowLink{text: row(16 << 20), speed: 20_000}, platform.RowQuery{Patient: true, Limit: 1}, 10 * time.Minute, "r1  , without workspace_id"},
		"row-without-an-id":   {slowLink{text: `[{` + strings.TrimPrefix(row(16<<20), `[{"id":"r1",`), speed: 20_000}, platform.RowQuery{Patient: true, Limit: 1}, 10 * time.Minute, "cut off"},
		"row-hangs":           {slowLink{text: row(16 << 20), speed: 100_000, hangs: 1 << 20}, platform.RowQuery{Patient: true, Limit: 1}, 41 * time.Second, "does not answer in time"},
		"row-drips":           {slowLink{text: row(16 << 20), speed: 2_000}, platform.RowQuery{Patient: true, Limit: 1}, 30 * time.Second, "does not answer in time"},
		"row-is-cut-off":      {slowLink{text: row(65 << 20)[:65<<20], speed: 500_000}, platform.RowQuery{Patient: true, Limit: 1}, 137 * time.Second, "cut off"},
		"small-row-cut-off":   {slowLink{text: row(1 << 20)[:1<<20], speed: 500_000}, platform.RowQuery{Patient: true, Limit: 1}, 4 * time.Second, "not understood"},
		"nothing-for-a-while": {slowLink{text: row(100), speed: 1000, hangs: 1}, platform.RowQuery{Patient: true, Limit: 1}, 30 * time.Second, "does not answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := platform.New(platform.Config{URL: "http://platform", Workspace: "w", Token: platform.Token{Value: "t"}, HTTP: &http.Client{Transport: c.link}})
				begin := time.Now()
				rows, err := client.ActivityRows(platform.Once(t.Context()), c.query)
				took, got := time.Since(begin), ""
				if err != nil {
					got = err.Error()
				} else if len(rows) == 1 {
					got = rows[0].ID + " " + rows[0].Source + ", without " + strings.Join(rows[0].Cut, " ")
				}
				if took < c.took-3*time.Second || took > c.took+3*time.Second {
					t.Errorf("it took %v, and not about %v", took, c.took)
				}
				if err == nil && !strings.HasPrefix(got, c.want) || !strings.Contains(got, c.want) {
					t.Errorf("%q, want %q", got, c.want)
				}
				if _, again := platform.Again(err); err != nil && again == (errors.Is(err, platform.ErrTooMuch) || errors.Is(err, platform.ErrNotUnderstood)) {
					t.Errorf("%v: again is %v", err, again)
				}
			})
		})
	}
}

// TestLeavingALargeRow: who does not wait any longer has no row, whatever has come of it.
func TestLeavingALargeRow(t *testing.T) {
	longtest.Mark(t)
	synctest.Test(t, func(t *testing.T) {
		link := slowLink{text: `[{"id":"r1","source_id":"p","request_body":"` + strings.Repeat("x", 65<<20), speed: 1 << 20}
		client := platform.New(platform.Config{URL: "http://platform", Workspace: "w", Token: platform.Token{Value: "t"}, HTTP: &http.Client{Transport: link}})
		for _, after := range []time.Duration{10 * time.Second, 2 * time.Minute} {
			ctx, cancel := context.WithTimeout(platform.Once(t.Context()), after)
			if rows, err := client.ActivityRows(ctx, platform.RowQuery{Patient: true, Limit: 1}); err == nil {
				t.Errorf("%.100v", rows)
			}
			cancel()
		}
	})
}
