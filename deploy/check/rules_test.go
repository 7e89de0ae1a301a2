package check

import (
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
)

func rules(t *testing.T) []rulefmt.Rule {
	t.Helper()
	text, err := os.ReadFile("../prometheus/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(text, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Error(err)
	}
	var all []rulefmt.Rule
	for _, group := range groups.Groups {
		all = append(all, group.Rules...)
	}
	return all
}

// others are the metrics that are not the runtime's own.
var others = []string{
	"up", "kubelet_volume_stats_available_bytes", "kubelet_volume_stats_capacity_bytes",
	"kube_pod_status_phase", "kube_statefulset_replicas", "kube_statefulset_status_replicas",
}

// known are the metrics that there are, by the page that names them all.
func known(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Clone(others)
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)`").FindAllSubmatch(page, -1) {
		names = append(names, string(row[1]))
	}
	return names
}

// asksFor calls ask with each metric that a query asks for.
func asksFor(t *testing.T, query string, ask func(name string)) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		t.Errorf("%s: %v", query, err)
		return
	}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			ask(regexp.MustCompile("_(bucket|count|sum)$").ReplaceAllString(selector.Name, ""))
		}
		return nil
	})
}

// TestRules holds that the alarms ask for metrics that there are, by the page that
// names them all, and that the page says of each alarm what it means.
func TestRules(t *testing.T) {
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	known := known(t)
	for _, rule := range rules(t) {
		asksFor(t, rule.Expr, func(name string) {
			if !slices.Contains(known, name) {
				t.Errorf("%s asks for %s, which docs/metrics.md does not know", rule.Alert, name)
			}
		})
		anchor := "docs/operations.md#" + strings.ToLower(rule.Alert)
		if rule.Annotations["runbook"] != anchor || !strings.Contains(string(page), "\n### "+rule.Alert+"\n") {
			t.Errorf("%s: %s says nothing of it, or it does not point there", rule.Alert, anchor)
		}
	}
}

// scenes are an hour of series, a sample a minute, and the alarms that are to be there at
// the end of it.
var scenes = []struct {
	name, series string
	want         []string
}{
	{"all is well", `
		up{job="workspaces",instance="a"} 1x60
		kube_pod_status_phase{namespace="workspaces",pod="a",phase="Running"} 1x60
		kube_pod_status_phase{namespace="workspaces",pod="a",phase="Pending"} 0x60
		kube_statefulset_replicas{namespace="workspaces",statefulset="a"} 1x60
		kube_statefulset_status_replicas{namespace="workspaces",statefulset="a"} 1x60
		kube_statefulset_replicas{namespace="workspaces",statefulset="to-be-restored"} 0x60
		kube_statefulset_status_replicas{namespace="workspaces",statefulset="to-be-restored"} 0x60
		molecule_codex_held{instance="a",reason="auth"} 0x60
		molecule_codex_held{instance="a",reason="limit"} 0x60
		molecule_codex_limit_used_ratio{instance="a",window="primary"} 0.4x60
		molecule_codex_queue_depth{instance="a"} 2x60
		molecule_codex_turns_active{instance="a"} 4x60
		molecule_codex_turn_wait_seconds_bucket{instance="a",le="60"} 0+10x60
		molecule_codex_turn_wait_seconds_bucket{instance="a",le="+Inf"} 0+10x60
		molecule_codex_turn_duration_seconds_count{instance="a",outcome="completed"} 0+10x60
		molecule_codex_turn_duration_seconds_count{instance="a",outcome="failed"} 0+1x60
		molecule_codex_child_restarts_total{instance="a",reason="died"} 1x60
		molecule_codex_ready{instance="a"} 1x60
		molecule_codex_platform_call_duration_seconds_count{instance="a",operation="heartbeat",outcome="ok"} 0+2x60
		molecule_codex_platform_call_duration_seconds_count{instance="a",operation="heartbeat",outcome="unavailable"} 0+1x60
		molecule_codex_rpc_errors_total{instance="a",code="-32000"} 3x60
		molecule_codex_rpc_errors_total{instance="a",code="-32602"} 0+9x60
		molecule_codex_child_memory_bytes{instance="a",of="codex"} 200000000x60
		molecule_codex_child_memory_bytes{instance="a",of="commands"} 900000000x60
		molecule_codex_journal_commit_duration_seconds_bucket{instance="a",le="0.01"} 0+20x60
		molecule_codex_journal_commit_duration_seconds_bucket{instance="a",le="+Inf"} 0+20x60
		molecule_codex_journal_commit_duration_seconds_count{instance="a"} 0+20x60
		molecule_codex_channel_last_poll_timestamp_seconds{instance="b",workspace="w"} 0+60x60
		molecule_codex_channel_replies_total{instance="b",workspace="w",result="dead"} 2x60
		molecule_codex_channel_replies_total{instance="b",workspace="w",result="sent"} 0+1x60
		molecule_codex_http_request_duration_seconds_count{instance="a",code="503",route="/readyz"} 0+9x60
		molecule_codex_http_request_duration_seconds_count{instance="a",code="200",route="/"} 0+9x60
		molecule_codex_streams_dropped_total{instance="a"} 3x60
		molecule_codex_state_rows{instance="a",of="deliveries_waiting"} 1x60
		molecule_codex_state_bytes{instance="a",file="database"} 50000000x60
		kubelet_volume_stats_available_bytes{persistentvolumeclaim="configs-ws-one-workspace-0"} 40x60
		kubelet_volume_stats_capacity_bytes{persistentvolumeclaim="configs-ws-one-workspace-0"} 100x60`, nil},
	{"it is gone", `up{job="workspaces",instance="a"} 0x60`, []string{"WorkspaceDown"}},
	{"its pod waits for a volume", `kube_pod_status_phase{namespace="workspaces",pod="ws-a-workspace-0",phase="Pending"} 1x60`, []string{"WorkspaceDown"}},
	{"its pod cannot be made", `
		kube_statefulset_replicas{namespace="workspaces",statefulset="ws-a-workspace"} 1x60
		kube_statefulset_status_replicas{namespace="workspaces",statefulset="ws-a-workspace"} 0x60`, []string{"WorkspaceDown"}},
	{"a login is needed, and messages wait for it", `
		molecule_codex_ready{instance="a"} 0x60
		molecule_codex_held{instance="a",reason="auth"} 1x60
		molecule_codex_held{instance="a",reason="limit"} 0x60
		molecule_codex_queue_depth{instance="a"} 2x60
		molecule_codex_turns_active{instance="a"} 0x60`, []string{"WorkspaceWantsLogin"}},
	{"there is no credential, and nothing has been asked for yet", `
		molecule_codex_ready{instance="a"} 0x60
		molecule_codex_held{instance="a",reason="auth"} 0x60
		molecule_codex_check{instance="a",check="credential"} 0x60
		molecule_codex_check{instance="a",check="configuration"} 1x60`, []string{"WorkspaceWantsLogin"}},
	{"the configuration is broken", `
		molecule_codex_ready{instance="a"} 0x60
		molecule_codex_held{instance="a",reason="auth"} 0x60
		molecule_codex_check{instance="a",check="credential"} 0x60
		molecule_codex_check{instance="a",check="configuration"} 0x60`, []string{"WorkspaceNotReady"}},
	{"turns are canceled, and refused for what they ask", `
		molecule_codex_turn_duration_seconds_count{instance="a",outcome="completed"} 0+1x60
		molecule_codex_turn_duration_seconds_count{instance="a",outcome="canceled"} 0+2x60
		molecule_codex_turn_duration_seconds_count{instance="a",outcome="rejected"} 0+2x60`, nil},
	{"a limit", `
		molecule_codex_held{instance="a",reason="limit"} 1x60
		molecule_codex_limit_used_ratio{instance="a",window="primary"} 1x60`, []string{"WorkspaceAtLimit", "WorkspaceNearLimit"}},
	{"messages wait for nothing", `
		molecule_codex_held{instance="a",reason="auth"} 0x60
		molecule_codex_held{instance="a",reason="limit"} 0x60
		molecule_codex_queue_depth{instance="a"} 2x60
		molecule_codex_turns_active{instance="a"} 0x60`, []string{"WorkspaceStuck"}},
	{"messages wait for turns that all wait for answers", `
		molecule_codex_held{instance="a",reason="auth"} 0x60
		molecule_codex_held{instance="a",reason="limit"} 0x60
		molecule_codex_queue_depth{instance="a"} 1x60
		molecule_codex_turns_active{instance="a"} 68x60
		molecule_codex_questions_open{instance="a"} 68x60
		molecule_codex_turn_slots{instance="a",state="working"} 0x60
		molecule_codex_turn_slots{instance="a",state="asking"} 4x60
		molecule_codex_turn_slots{instance="a",state="free"} 0x60
		molecule_codex_turn_slots_full_seconds{instance="a"} 0+60x60`, []string{"WorkspaceStuck"}},
	{"messages wait for turns that work and do not end", `
		molecule_codex_held{instance="a",reason="auth"} 0x60
		molecule_codex_held{instance="a",reason="limit"} 0x60
		molecule_codex_queue_depth{instance="a"} 1x60
		molecule_codex_turns_active{instance="a"} 4x60
		molecule_codex_turn_slots{instance="a",state="working"} 4x60
		molecule_codex_turn_slots{instance="a",state="asking"} 0x60
		molecule_codex_turn_slots{instance="a",state="free"} 0x60
		molecule_codex_turn_slots_full_seconds{instance="a"} 0+60x60`, []string{"WorkspaceFull"}},
	{"turns work long, and nothing waits for them", `
		molecule_codex_held{instance="a",reason="auth"} 0x60
		molecule_codex_held{instance="a",reason="limit"} 0x60
		molecule_codex_queue_depth{instance="a"} 0x60
		molecule_codex_turns_active{instance="a"} 4x60
		molecule_codex_turn_slots{instance="a",state="working"} 4x60
		molecule_codex_turn_slots{instance="a",state="free"} 0x60
		molecule_codex_turn_slots_full_seconds{instance="a"} 0+60x60`, nil},
	{"every slot is taken, and one turn follows the other", `
		molecule_codex_held{instance="a",reason="auth"} 0x60
		molecule_codex_held{instance="a",reason="limit"} 0x60
		molecule_codex_queue_depth{instance="a"} 9x60
		molecule_codex_turns_active{instance="a"} 4x60
		molecule_codex_turn_slots{instance="a",state="working"} 4x60
		molecule_codex_turn_slots{instance="a",state="free"} 0x60
		molecule_codex_turn_slots_full_seconds{instance="a"} 40x60`, nil},
	{"a message waits for the answer to a question of its conversation", `
		molecule_codex_held{instance="a",reason="auth"} 0x60
		molecule_codex_held{instance="a",reason="limit"} 0x60
		molecule_codex_queue_depth{instance="a"} 1x60
		molecule_codex_turns_active{instance="a"} 1x60
		molecule_codex_questions_open{instance="a"} 1x60
		molecule_codex_turn_slots{instance="a",state="working"} 0x60
		molecule_codex_turn_slots{instance="a",state="asking"} 0x60
		molecule_codex_turn_slots{instance="a",state="free"} 4x60`, nil},
	{"messages wait long", `
		molecule_codex_turn_wait_seconds_bucket{instance="a",le="300"} 0+5x60
		molecule_codex_turn_wait_seconds_bucket{instance="a",le="1800"} 0+10x60
		molecule_codex_turn_wait_seconds_bucket{instance="a",le="+Inf"} 0+10x60`, []string{"WorkspaceSlow"}},
	{"turns fail", `
		molecule_codex_turn_duration_seconds_count{instance="a",outcome="completed"} 0+1x60
		molecule_codex_turn_duration_seconds_count{instance="a",outcome="failed"} 0+2x60`, []string{"WorkspaceTurnsFail"}},
	{"the only turn of a while has failed", `
		molecule_codex_turn_duration_seconds_count{instance="a",outcome="failed"} 0x50 1x10`, nil},
	{"codex dies again and again", `
		molecule_codex_child_restarts_total{instance="a",reason="died"} 0+1x60`, []string{"WorkspaceCodexRestarts"}},
	{"the platform is away", `
		molecule_codex_platform_call_duration_seconds_count{instance="a",operation="heartbeat",outcome="ok"} 9x60
		molecule_codex_platform_call_duration_seconds_count{instance="a",operation="heartbeat",outcome="unavailable"} 0+2x60`, []string{"WorkspaceLostPlatform"}},
	{"a machine is lost again and again", `
		molecule_codex_machine_lost_total{instance="a",machine="m1"} 0+1x60
		molecule_codex_machine_lost_total{instance="a",machine="m2"} 1x60`, []string{"WorkspaceMachineLost"}},
	{"messages are refused", `
		molecule_codex_http_request_duration_seconds_count{instance="a",code="503",route="/"} 0+1x60
		molecule_codex_rpc_errors_total{instance="a",code="-32000"} 0x60`, []string{"WorkspaceRefuses"}},
	{"messages are refused, with HTTP's 200", `
		molecule_codex_http_request_duration_seconds_count{instance="a",code="503",route="/readyz"} 0+1x60
		molecule_codex_rpc_errors_total{instance="a",code="-32000"} 0+1x60`, []string{"WorkspaceRefuses"}},
	{"no turn would run", `
		molecule_codex_ready{instance="a"} 0x60
		molecule_codex_held{instance="a",reason="auth"} 0x60`, []string{"WorkspaceNotReady"}},
	{"a command takes much memory", `
		molecule_codex_child_memory_bytes{instance="a",of="codex"} 200000000x60
		molecule_codex_child_memory_bytes{instance="a",of="commands"} 1700000000x60`, []string{"WorkspaceCodexMemory"}},
	{"the disk is slow", `
		molecule_codex_journal_commit_duration_seconds_bucket{instance="a",le="0.25"} 0+5x60
		molecule_codex_journal_commit_duration_seconds_bucket{instance="a",le="1"} 0+10x60
		molecule_codex_journal_commit_duration_seconds_bucket{instance="a",le="+Inf"} 0+10x60
		molecule_codex_journal_commit_duration_seconds_count{instance="a"} 0+10x60`, []string{"WorkspaceDiskSlow"}},
	{"an inbox is not read", `
		molecule_codex_channel_last_poll_timestamp_seconds{instance="b",workspace="w"} 600x60`, []string{"ChannelInboxSilent"}},
	{"replies are refused for good", `
		molecule_codex_channel_replies_total{instance="b",workspace="w",result="dead"} 0x30 1x30`, []string{"ChannelDeadLetters"}},
	{"readers stall", `molecule_codex_streams_dropped_total{instance="a"} 0+1x60`, []string{"WorkspaceReadersStall"}},
	{"receivers are away", `molecule_codex_state_rows{instance="a",of="deliveries_waiting"} 101x60`, []string{"WorkspaceDeliveriesWait"}},
	{"much is kept", `
		molecule_codex_state_bytes{instance="a",file="database"} 1900000000x60
		molecule_codex_state_bytes{instance="a",file="log"} 200000000x60`, []string{"WorkspaceStateLarge"}},
	{"a volume is almost full", `
		kubelet_volume_stats_available_bytes{persistentvolumeclaim="configs-ws-one-workspace-0"} 4x60
		kubelet_volume_stats_capacity_bytes{persistentvolumeclaim="configs-ws-one-workspace-0"} 100x60`, []string{"WorkspaceDiskFull"}},
}

// TestAlarms has each alarm sound for what it is for, and none other with it.
func TestAlarms(t *testing.T) {
	all := rules(t)
	sounded := map[string]bool{}
	for _, scene := range scenes {
		t.Run(scene.name, func(t *testing.T) {
			store := promqltest.LoadedStorage(t, "load 1m\n\t"+strings.TrimSpace(scene.series))
			engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
			var got []string
			for _, rule := range all {
				query, err := engine.NewInstantQuery(t.Context(), store, nil, rule.Expr, model.Time(60*60*1000).Time())
				if err != nil {
					t.Fatal(err)
				}
				result := query.Exec(t.Context())
				vector, err := result.Vector()
				if err != nil {
					t.Fatalf("%s: %v", rule.Alert, err)
				}
				if len(vector) > 0 {
					got, sounded[rule.Alert] = append(got, rule.Alert), true
					checkWho(t, rule.Alert, vector[0].Metric)
				}
				query.Close()
			}
			if !slices.Equal(got, scene.want) {
				t.Errorf("got %v, want %v", got, scene.want)
			}
		})
	}
	for _, rule := range all {
		if !sounded[rule.Alert] {
			t.Errorf("nothing makes %s sound", rule.Alert)
		}
	}
}

// checkWho holds that an alarm says whom it is about.
func checkWho(t *testing.T, alert string, who labels.Labels) {
	t.Helper()
	if who.Get("instance") == "" && who.Get("persistentvolumeclaim") == "" {
		t.Errorf("%s does not say of whom: %s", alert, fmt.Sprint(who))
	}
}
