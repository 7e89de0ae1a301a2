package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// The tests named TestKept… hold what codex-channel-molecule, the bridge that people have
// run before, promised in its tests, on the real codex. The subtests have the names that
// the promises had there.

// A promise is one of them.
type promise struct {
	name string
	keep func(t *testing.T)
}

// keeps runs them beside each other, as the tests of the channel are run: each has a
// platform, a codex and directories of its own, and most of its time is waiting.
func keeps(t *testing.T, promises []promise) {
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.keep(t)
		})
	}
}

// asked are the prompts that codex was given, as the model has seen them.
func (x *polling) asked() (prompts []string) {
	for _, r := range x.Model.Requests() {
		prompts = append(prompts, r.LastUserText())
	}
	return prompts
}

// polls waits until the inbox has been asked for n more times.
func (x *polling) polls(n int) {
	x.t.Helper()
	want := len(x.platform.Requests("GET */activity")) + n
	progtest.WaitFor(x.t, fmt.Sprintf("%d more polls", n), func() bool { return len(x.platform.Requests("GET */activity")) >= want })
}

// quiet has the inbox asked for a few times more, and fails the test unless so many
// turns and notices are all there were.
func (x *polling) quiet(turns, notices int) {
	x.t.Helper()
	x.polls(3)
	if asked, told := x.asked(), x.handle.Notices(); len(asked) != turns || len(told) != notices {
		x.t.Errorf("codex was asked %d things and the user told %d, want %d and %d: %q, %v", len(asked), len(told), turns, notices, asked, told)
	}
}

// row puts a row of the user's, or of a peer's, into the inbox as it is.
func (x *polling) row(source, method, request string) fakeplatform.Row {
	x.t.Helper()
	id := x.handle.AddRow(fakeplatform.Row{Source: source, Method: method, RequestBody: json.RawMessage(request)})
	rows := x.handle.Rows()
	return rows[slices.IndexFunc(rows, func(r fakeplatform.Row) bool { return r.ID == id })]
}

// done waits until a row is acknowledged.
func (x *polling) done(r fakeplatform.Row) {
	x.t.Helper()
	progtest.WaitFor(x.t, fmt.Sprintf("row %d to be acknowledged", r.Seq), func() bool { return x.handle.Acked() >= r.Seq })
}

// warned waits for a warning in the log that has all of the parts.
func (x *polling) warned(parts ...string) {
	x.t.Helper()
	progtest.WaitFor(x.t, fmt.Sprintf("a warning of %q", parts), func() bool {
		for line := range strings.Lines(x.Log()) {
			missing := func(part string) bool { return !strings.Contains(line, part) }
			if strings.Contains(line, `"level":"WARN"`) && !slices.ContainsFunc(parts, missing) {
				return true
			}
		}
		return false
	})
}

// page is a platform that answers a poll with a body of its own.
func page(body string) fakeplatform.Rudeness {
	return fakeplatform.Answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	})
}

// userText is the request of a user who says a text.
func userText(text string) string {
	body, _ := json.Marshal(object{"jsonrpc": "2.0", "method": "message/send", "params": object{
		"message": object{"role": "user", "parts": []object{{"kind": "text", "text": text}}},
	}})
	return string(body)
}
