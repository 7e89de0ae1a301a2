package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

const module = "github.com/Molecule-AI/molecule-codex-runtime/"

// allowed says which packages of ours a package may import outside its tests.
var allowed = map[string][]string{
	"agent":                          {},
	"appserver/schema":               {},
	"appserver":                      {"appserver/schema", "internal/asuser"},
	"preflight":                      {"internal/asuser", "internal/regular"},
	"platform":                       {"internal/regular", "internal/stayhttp", "internal/whole"},
	"adapter":                        {"adapter/provider", "internal/asuser", "internal/brief", "internal/regular", "internal/sleep", "internal/whole", "internal/within"},
	"adapter/provider":               {},
	"toolset":                        {"internal/brief", "internal/peerwords", "internal/sleep", "platform"},
	"adapter/presence":               {"internal/brief", "internal/sleep", "platform"},
	"adapter/prompt":                 {"internal/asuser", "internal/peerwords", "internal/regular", "internal/whole", "platform"},
	"adapter/selfstart":              {"internal/sleep", "internal/whole", "platform"},
	"adapter/files":                  {"internal/asuser", "internal/netguard", "internal/regular", "internal/remove", "internal/within"},
	"executor/codex/ask":             {"agent", "internal/brief"},
	"internal/insist":                {"internal/sleep"},
	"internal/slowlock":              {},
	"internal/alarm":                 {},
	"executor":                       {"agent", "internal/alarm", "internal/insist", "internal/sleep", "internal/slowlock"},
	"executor/codex/items":           {"agent", "appserver", "executor/codex/ask"},
	"executor/codex/failure":         {"agent", "appserver", "executor", "internal/brief"},
	"executor/codex/told":            {},
	"executor/codex/rollout":         {"internal/asuser", "internal/regular"},
	"executor/codex/sandbox":         {"agent", "appserver", "executor/codex/ask", "internal/asuser", "internal/brief", "internal/within"},
	"executor/codex/inquiry":         {"agent", "appserver", "executor", "executor/codex/ask", "executor/codex/items"},
	"executor/codex/child":           {"appserver", "executor", "internal/insist", "internal/sleep", "internal/within"},
	"executor/codex/login":           {"agent", "appserver", "executor", "executor/codex/child", "executor/codex/failure", "internal/asuser", "internal/regular", "internal/sleep"},
	"executor/codex/place":           {"internal/commands"},
	"executor/codex/leftovers":       {"appserver", "executor/codex/child", "executor/codex/inquiry", "internal/asuser", "internal/commands", "internal/sleep"},
	"executor/codex":                 {"agent", "appserver", "executor", "executor/codex/ask", "executor/codex/child", "executor/codex/failure", "executor/codex/inquiry", "executor/codex/items", "executor/codex/leftovers", "executor/codex/login", "executor/codex/place", "executor/codex/rollout", "executor/codex/sandbox", "executor/codex/told", "internal/alarm", "internal/asuser", "internal/brief", "internal/commands", "internal/insist", "internal/sleep", "internal/within"},
	"machine/trees":                  {"internal/asuser", "internal/brief", "machine/places", "machine/wire", "worktree"},
	"machine/wire":                   {},
	"fleet/branches":                 {"worktree"},
	"fleet/link":                     {},
	"fleet/placement":                {"machine/wire"},
	"fleet/roster":                   {},
	"fleet/client":                   {"internal/stayhttp", "machine/wire"},
	"fleet":                          {"executor/codex/place", "fleet/client", "fleet/link", "fleet/placement", "fleet/roster", "internal/brief", "internal/commands", "internal/regular", "internal/sleep", "machine/wire"},
	"machine":                        {"internal/asuser", "internal/commands", "internal/crowd", "internal/refusals", "internal/sleep", "internal/whole", "internal/within", "machine/execs", "machine/identity", "machine/places", "machine/tenancy", "machine/trees", "machine/wire", "preflight"},
	"fleet/control":                  {"fleet", "internal/stayhttp"},
	"fleet/tryout":                   {"fleet/link", "machine/wire"},
	"internal/machines":              {"fleet/client", "fleet/placement", "fleet/roster", "internal/regular", "internal/settings"},
	"machine/tenancy":                {"machine/wire"},
	"machine/identity":               {"internal/regular", "internal/sleep", "internal/whole", "machine/wire"},
	"machine/execs":                  {"internal/asuser", "internal/commands", "internal/remove", "internal/sleep", "machine/tenancy", "preflight"},
	"machine/places":                 {"internal/asuser", "internal/regular", "internal/within", "machine/wire"},
	"worktree":                       {"internal/asuser", "internal/brief", "internal/regular", "internal/remove", "internal/sleep", "internal/whole", "internal/within"},
	"store":                          {},
	"tasks":                          {"agent", "executor", "internal/brief", "internal/peerwords", "internal/slowlock", "store", "tasks/attach", "tasks/codec", "tasks/feed", "tasks/keys", "tasks/late", "tasks/notify", "tasks/origin", "tasks/overrides", "tasks/progress", "tasks/prompt", "tasks/push", "tasks/refusal", "tasks/reply", "tasks/requests", "tasks/sizes"},
	"tasks/feed":                     {"tasks/keys", "tasks/sizes"},
	"tasks/refusal":                  {"internal/brief"},
	"tasks/keys":                     {"agent"},
	"tasks/codec":                    {},
	"tasks/sizes":                    {"tasks/codec"},
	"tasks/origin":                   {"internal/peerwords"},
	"tasks/reply":                    {"agent", "internal/brief", "tasks/attach", "tasks/keys"},
	"tasks/progress":                 {"agent", "internal/brief", "tasks/keys"},
	"tasks/overrides":                {"agent", "internal/brief", "internal/within", "tasks/keys", "tasks/refusal"},
	"tasks/attach":                   {"agent", "internal/brief"},
	"tasks/prompt":                   {"agent", "internal/brief", "internal/peerwords", "internal/picture", "tasks/attach", "tasks/codec", "tasks/origin", "tasks/refusal"},
	"deliver":                        {"internal/sleep", "store"},
	"tasks/late":                     {"deliver", "store"},
	"tasks/requests":                 {"deliver", "store"},
	"tasks/notify":                   {"deliver", "store", "tasks/push"},
	"tasks/push":                     {"deliver", "internal/netguard", "store"},
	"server":                         {"adapter/files", "internal/crowd", "internal/refusals", "server/binding", "server/bounds", "server/doors", "server/guard", "server/respond", "server/wire", "tasks"},
	"server/binding":                 {"adapter", "server/bounds", "server/guard", "server/respond", "server/wire", "tasks", "tasks/feed", "tasks/keys", "tasks/reply"},
	"server/bounds":                  {"server/wire", "tasks"},
	"server/doors":                   {"internal/caller", "internal/crowd", "internal/refusals", "server/respond", "server/wire"},
	"server/guard":                   {"server/bounds", "server/doors", "server/respond", "server/wire", "tasks", "tasks/attach", "tasks/feed"},
	"server/respond":                 {"server/wire"},
	"server/wire":                    {},
	"bridge/terminal":                {"bridge", "internal/brief"},
	"bridge":                         {"internal/brief", "internal/stayhttp", "internal/within"},
	"channel":                        {"deliver", "internal/brief", "internal/peerwords", "internal/sleep", "platform", "store"},
	"connect":                        {},
	"console":                        {"internal/caller", "internal/crowd", "internal/refusals"},
	"deploy":                         {},
	"channel/takeover":               {"internal/regular"},
	"cmd/runtime":                    {"adapter/presence", "bridge", "bridge/terminal", "channel", "channel/control", "connect", "executor/codex", "fleet", "fleet/control", "internal/brief", "internal/codexlog", "internal/codextools", "internal/doctor", "internal/host", "internal/host/inbox", "internal/host/outside", "internal/host/serve", "internal/launch", "internal/logging", "internal/memlimit", "internal/regular", "internal/secrets", "internal/settings", "machine", "store"},
	"internal/host":                  {"adapter", "adapter/files", "executor", "executor/codex", "fleet", "fleet/branches", "fleet/control", "fleet/roster", "internal/attachments", "internal/codexfit", "internal/codexlog", "internal/doctor", "internal/fakemodel", "internal/giveback", "internal/launch", "internal/logging", "internal/machines", "internal/metrics", "internal/readiness", "internal/refusals", "internal/retention", "internal/settings", "internal/sleep", "internal/tracing", "internal/wirelog", "machine/wire", "platform", "server", "store", "tasks", "tasks/overrides", "tasks/requests"},
	"internal/host/inbox":            {"adapter", "adapter/activity", "adapter/files", "adapter/presence", "agent", "channel", "channel/control", "channel/desk", "channel/takeover", "executor", "executor/codex", "executor/codex/rollout", "internal/attachments", "internal/codextools", "internal/fence", "internal/giveback", "internal/host", "internal/launch", "internal/metrics", "internal/peerwords", "internal/readiness", "internal/secrets", "internal/settings", "platform", "server", "store", "tasks", "tasks/attach", "tasks/keys", "tasks/reply", "toolset"},
	"internal/host/outside":          {"adapter/files", "adapter/presence", "channel", "channel/control", "channel/desk", "internal/attachments", "internal/brief", "internal/codextools", "internal/host", "internal/logging", "internal/peerwords", "internal/secrets", "internal/settings", "internal/sleep", "platform", "store", "toolset"},
	"internal/host/serve":            {"adapter", "adapter/activity", "adapter/files", "adapter/presence", "adapter/prompt", "adapter/selfstart", "console", "console/sources", "executor", "executor/codex", "internal/asuser", "internal/attachments", "internal/codextools", "internal/doctor", "internal/giveback", "internal/host", "internal/launch", "internal/logging", "internal/netguard", "internal/peerwords", "internal/readiness", "internal/regular", "internal/secrets", "internal/settings", "platform", "server", "server/guard", "server/wire", "tasks", "tasks/late", "tasks/notify", "tasks/push", "tasks/reply", "toolset"},
	"console/sources":                {"adapter", "adapter/presence", "console", "executor", "fleet", "internal/codexfit", "internal/readiness", "internal/resident", "internal/settings", "preflight", "store", "tasks"},
	"channel/control":                {"channel", "internal/crowd", "internal/sleep", "store"},
	"channel/desk":                   {"channel", "internal/brief", "platform", "store"},
	"internal/metrics":               {"fleet", "platform", "store"},
	"adapter/activity":               {"adapter/presence", "agent", "executor", "internal/brief", "platform", "toolset"},
	"internal/codexfit":              {"executor/codex", "internal/asuser", "internal/remove", "preflight"},
	"internal/doctor":                {"adapter", "agent", "bridge", "executor", "executor/codex", "fleet/client", "fleet/placement", "fleet/roster", "fleet/tryout", "internal/asuser", "internal/brief", "internal/codexfit", "internal/codextemp", "internal/codextools", "internal/fakemodel", "internal/fence", "internal/forward", "internal/launch", "internal/logging", "internal/machines", "internal/regular", "internal/remove", "internal/secrets", "internal/settings", "internal/stayhttp", "machine/wire", "platform", "preflight", "store", "toolset"},
	"internal/codextools":            {"adapter", "agent", "bridge", "executor/codex", "internal/attachments", "internal/logging", "internal/secrets", "internal/settings", "platform", "toolset"},
	"internal/attachments":           {"adapter/files", "agent", "channel", "internal/netguard", "internal/remove", "internal/retention", "internal/secrets", "internal/settings", "platform", "store", "tasks/attach"},
	"internal/launch":                {"adapter", "agent", "executor", "executor/codex", "internal/asuser", "internal/codexfit", "internal/codextemp", "internal/fence", "internal/forward", "internal/logging", "internal/secrets", "internal/settings", "preflight", "store", "tasks/overrides"},
	"internal/readiness":             {"agent", "executor", "fleet", "internal/codexfit", "internal/logging", "internal/resident", "internal/secrets", "preflight", "server", "store"},
	"internal/giveback":              {},
	"internal/secrets":               {"adapter", "internal/asuser", "internal/brief", "internal/logging", "internal/regular", "internal/settings", "internal/wirelog", "platform"},
	"internal/retention":             {"executor", "executor/codex", "executor/codex/rollout", "internal/asuser", "store"},
	"internal/codextemp":             {"adapter", "internal/asuser", "internal/regular", "internal/remove", "internal/settings"},
	"internal/fence":                 {"internal/asuser", "internal/regular", "internal/settings"},
	"internal/asuser":                {},
	"internal/brief":                 {},
	"internal/caller":                {},
	"internal/crowd":                 {"internal/caller"},
	"internal/refusals":              {"internal/caller"},
	"internal/commands":              {},
	"internal/codexlog":              {"internal/asuser", "internal/regular"},
	"internal/tracing":               {"agent", "executor", "platform", "tasks/feed", "tasks/keys"},
	"internal/whole":                 {"internal/regular"},
	"internal/logging":               {"internal/brief"},
	"internal/forward":               {"internal/crowd", "internal/stayhttp"},
	"internal/memlimit":              {},
	"internal/netguard":              {"internal/stayhttp"},
	"internal/stayhttp":              {},
	"internal/peerwords":             {},
	"internal/picture":               {},
	"internal/regular":               {},
	"internal/resident":              {},
	"internal/remove":                {"internal/regular"},
	"internal/settings":              {"internal/asuser", "internal/within"},
	"internal/wirelog":               {"agent", "executor", "internal/brief"},
	"internal/test/compat":           {"appserver/schema", "executor/codex"},
	"internal/test/codextest":        {"internal/within"},
	"internal/within":                {"internal/regular"},
	"internal/fakemodel":             {},
	"internal/fakemodel/modeltest":   {"internal/fakemodel"},
	"internal/fake/fakecodex":        {},
	"internal/fake/fakelogin":        {},
	"internal/fake/fakeplatform":     {},
	"internal/fake/fakeplatform/cmd": {"internal/fake/fakeplatform"},
	"internal/test/progtest":         {"internal/test/codextest"},
	"internal/test/tcksut":           {"adapter", "agent", "executor", "internal/netguard", "server", "server/wire", "store", "tasks", "tasks/feed", "tasks/push"},
	"internal/archtest":              {},
	"internal/test/sim":              {"agent", "executor", "store", "tasks"},
	"internal/test/fleetsim":         {"fleet/placement", "machine/wire"},
	"internal/test/mutation":         {"internal/test/codextest"},
	"internal/test/longtest":         {},
	"internal/test/minutes":          {"internal/test/codextest"},
	"internal/test/leaktest":         {},
	"internal/test/leasetest":        {},
	"internal/test/linktest":         {},
	"internal/test/upgrades":         {},
	"internal/sleep":                 {},
	"internal/test/screentest":       {},
	"internal/test/testnames":        {},
	"e2e":                            {},
	"e2e/browser":                    {},
	"e2e/chaos":                      {},
	"e2e/hostile":                    {},
	"e2e/image":                      {},
	"bench":                          {},
	"scripts":                        {},
}

func TestImportGraph(t *testing.T) {
	for _, pkg := range packages(t) {
		path := strings.TrimPrefix(pkg.ImportPath, module)
		may, known := allowed[path]
		if !known {
			t.Errorf("%s stands in no row of the table: say here what it may import, and draw it in ARCHITECTURE.md", path)
			continue
		}
		for _, ours := range may {
			if !slices.Contains(pkg.Imports, module+ours) {
				t.Errorf("%s may import %s and does not: take it out of the table, here and in ARCHITECTURE.md", path, ours)
			}
		}
		for _, imported := range pkg.Imports {
			ours, ok := strings.CutPrefix(imported, module)
			if ok && !slices.Contains(may, ours) {
				t.Errorf("%s imports %s, which the design does not allow", path, ours)
			}
		}
	}
}

// TestOnlyTheDriverSpeaksToCodex keeps the protocol of codex to its driver, in tests, too. The benchmarks measure
// codex without the driver, and what plays codex is tested without it.
func TestOnlyTheDriverSpeaksToCodex(t *testing.T) {
	for _, pkg := range packages(t) {
		switch path := strings.TrimPrefix(pkg.ImportPath, module); {
		case path == "appserver", path == "bench", path == "internal/fake/fakecodex":
		case path == "executor/codex", strings.HasPrefix(path, "executor/codex/"):
		case slices.Contains(slices.Concat(pkg.Imports, pkg.TestImports, pkg.XTestImports), module+"appserver"):
			t.Errorf("%s imports appserver: have executor/codex, or a package below it, do what it needs, and say it in words of "+
				"its own or of package agent, as codex.Process, codex.ReadAccount and codex.RefusedError are", path)
		}
	}
}

// TestTestDoublesStayOut keeps what only tests need out of the program.
func TestTestDoublesStayOut(t *testing.T) {
	out := goList(t, "-deps", "./cmd/runtime")
	for dep := range strings.Lines(string(out)) {
		switch dep = strings.TrimSpace(dep); dep {
		case "testing", module + "internal/fake/fakecodex", module + "internal/fake/fakelogin", module + "internal/fake/fakeplatform", module + "internal/test/codextest", module + "internal/test/linktest", module + "internal/test/progtest", module + "internal/fakemodel/modeltest":
			t.Errorf("cmd/runtime depends on %s", dep)
		}
	}
}

type pkg struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func packages(t *testing.T) []pkg {
	decoder := json.NewDecoder(bytes.NewReader(goList(t, "-json=ImportPath,Imports,TestImports,XTestImports", "./...")))
	var all []pkg
	for {
		var p pkg
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func goList(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	cmd.Dir = codextest.Root(t)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	return out
}
