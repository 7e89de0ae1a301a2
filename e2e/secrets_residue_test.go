package e2e

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// What docs/security.md says may be seen by codex's commands, and so by the model.

// forAgent are the secrets of the workspace that the agent is given.
func forAgent() []string {
	return []string{"GH_TOKEN", "DATABASE_PASSWORD", "FILE_PASSWORD", "DEPLOY_KEY"}
}

// inFiles are those in the folder of the configuration.
func inFiles() []string {
	return []string{
		"FILE_PASSWORD", "DEPLOY_KEY", "live-token", "stale-token", "inbound", "key-in-config", "key-for-a-name", "password-of-url", "system-prompt",
	}
}

// told are those that stand in codex's files, and in the conversations.
func told() []string {
	return []string{
		"platform-login-id", "platform-login-key", "platform-login-access", "platform-login-refresh", // auth.json
		"instructions", "system-prompt", "user",
	}
}

// ofCallers are those by which receivers of push notifications know us.
func ofCallers() []string { return []string{"push-token", "push-credentials", "push-url"} }

func sets(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// TestSecrets plants secrets, has everything go wrong that may quote one, and looks for
// them. What is found is what docs/security.md names, no more and no less.
func TestSecrets(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc to look into")
	}
	for name, c := range map[string]struct {
		era           fakeplatform.Era
		sandbox, door string
		processes     []string // that commands find in the environments of others
	}{
		"container": {fakeplatform.AUG, "danger-full-access", "mcp", sets(forAgent(), []string{"forward-token"})},
		"sandbox":   {fakeplatform.APR, "workspace-write", "dynamic", forAgent()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := plantGarden(t, c.era, c.sandbox, c.door)
			g.begin()
			g.none("what callers are told of a quoted key", g.quotes(), true)
			g.looks(c.processes)
			g.pushes()
			g.tools()
			answers := g.refusals()
			g.none("what callers are told", answers, true)
			g.none("/readyz", string(g.fetch(http.MethodGet, "/readyz", nil)), true)
			g.none("/metrics", string(g.fetch(http.MethodGet, "/metrics", nil)), false)
			g.none("the card", string(g.fetch(http.MethodGet, "/.well-known/agent-card.json", nil)), false)
			g.none("/transcript", string(g.fetch(http.MethodGet, "/transcript", nil)), false)
			state, report := g.console()
			g.none("the console's state", state, true)
			g.none("the console's doctor", report, false)
			g.none("doctor", g.doctor(), false)
			g.none("doctor --json", g.doctor("--json"), false)
			g.none("the command lines", g.argv(), false)
			g.Stop()
			g.none("the log", g.Log(), true)
			g.none("the record of the wire", g.wireRecord(), true)
			g.none("what the platform is told", g.platformTold(), true)
			g.stored(sets(c.processes, inFiles(), told(), []string{"peer"}))
		})
	}
}

// console is what a person who has logged in is shown of how the runtime stands. The
// lines of tasks are not looked at: what callers write is theirs.
func (g *garden) console() (state, report string) {
	g.t.Helper()
	b := g.browser()
	b.login(g.value("RUNTIME_TOKEN"))
	_, state = b.do(http.MethodGet, "/console/api/state", "", "")
	_, report = b.do(http.MethodPost, "/console/api/doctor", "", "", "X-Console", "1")
	if !strings.Contains(state, `"queue"`) || !strings.Contains(report, `"sandbox"`) {
		g.t.Errorf("the console shows %.500s and %.500s", state, report)
	}
	return state, report
}

// wireRecord is what RUNTIME_DEBUG_WIRE has written.
func (g *garden) wireRecord() string {
	g.t.Helper()
	text, err := os.ReadFile(g.wire)
	if err != nil {
		g.t.Fatal(err)
	}
	return string(text)
}

// begin waits until codex would be told everything, and says something with a secret in it.
func (g *garden) begin() {
	g.t.Helper()
	g.Model.SetScript(g.obey)
	progtest.WaitFor(g.t, "the platform's instructions", func() bool {
		text, _ := os.ReadFile(filepath.Join(g.State, "prompt.json"))
		return strings.Contains(string(text), g.value("instructions"))
	})
	g.say("user", "hello, mine is "+g.plant(keyed("user")))
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", g.Child()))
	if err != nil {
		g.t.Fatal(err)
	}
	_, token, _ := strings.Cut(string(environ), forwardToken)
	token, _, _ = strings.Cut(token, "\x00")
	if g.plant(plant{"forward-token", token}) == "" {
		g.t.Fatal("codex is not sent to the forwarder")
	}
}

// looks has codex's shell look around. Later looks find what earlier ones have printed
// in what is kept of the conversation.
func (g *garden) looks(processes []string) {
	g.t.Helper()
	for _, c := range []struct {
		view string
		want []string
	}{
		{"CODEX_HOME", told()}, {"state", told()}, {"wire", nil}, {"work", nil}, {"command lines", nil},
		{"environment", forAgent()}, {"processes", processes}, {"configuration", inFiles()},
	} {
		if got, want := g.look(c.view), sets(c.want); !slices.Equal(got, want) {
			g.t.Errorf("a command that looks at %s finds %q, want %q", c.view, got, want)
		}
	}
}

// none fails the test if a secret stands in a text. Where one was taken out of it, that
// shows.
func (g *garden) none(what, text string, taken bool) {
	g.t.Helper()
	for _, name := range g.in(text) {
		i := strings.Index(text, g.value(name))
		g.t.Errorf("%s: there is %s: …%.200s", what, name, text[max(0, i-100):])
	}
	if taken && !strings.Contains(text, "***") {
		g.t.Errorf("%s: no secret has been taken out of %.2000s", what, text)
	}
}

// stored looks into the database: what of a task is no part of its conversation holds no
// secret, but for where callers want to be told.
func (g *garden) stored(conversation []string) {
	g.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(g.State, "state.db"))
	if err != nil {
		g.t.Fatal(err)
	}
	defer db.Close()
	tables, err := db.QueryContext(g.t.Context(), "SELECT name FROM sqlite_schema WHERE type = 'table'")
	if err != nil {
		g.t.Fatal(err)
	}
	var names []string
	for tables.Next() {
		var name string
		if err := tables.Scan(&name); err != nil {
			g.t.Fatal(err)
		}
		names = append(names, name)
	}
	_ = tables.Close()
	want := map[string][]string{"push_configs": sets(ofCallers()), "history": {"user"}, "events": conversation}
	for _, name := range names {
		if got := g.in(g.table(db, name)); !slices.Equal(got, sets(want[name])) {
			g.t.Errorf("in the table %s stands %q, want %q", name, got, want[name])
		}
	}
}

// table is all values of a table.
func (g *garden) table(db *sql.DB, name string) string {
	g.t.Helper()
	rows, err := db.QueryContext(g.t.Context(), "SELECT * FROM "+name)
	if err != nil {
		g.t.Fatal(err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	var all strings.Builder
	for rows.Next() {
		values := make([]sql.RawBytes, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			g.t.Fatal(err)
		}
		for _, v := range values {
			all.Write(v)
			all.WriteByte('\n')
		}
	}
	if err := rows.Err(); err != nil {
		g.t.Fatal(err)
	}
	return all.String()
}
