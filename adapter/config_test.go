package adapter

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/provider"
)

func TestConfigWithNothingInIt(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "comment": "# nothing\n", "null": "~\n", "document": "---\n"} {
		got, warnings, err := ParseConfig("c", []byte(text))
		want := DefaultConfig()
		want.File = "c"
		if diff := cmp.Diff(want, got); err != nil || len(warnings) > 0 || diff != "" {
			t.Errorf("%s: %v, %v\n%s", name, err, warnings, diff)
		}
	}
}

// TestGeneratedConfig is what the platform writes where there is no template.
func TestGeneratedConfig(t *testing.T) {
	got, warnings, err := ParseConfig("c", []byte("name: Ada\ndescription: \"\"\nversion: 1.0.0\ntier: 3\nruntime: codex\nmodel: gpt-5.5\nruntime_config:\n  timeout: 0\n"))
	want := DefaultConfig()
	want.File, want.Name, want.Tier, want.Model = "c", "Ada", 3, "gpt-5.5"
	if diff := cmp.Diff(want, got); err != nil || len(warnings) > 0 || diff != "" {
		t.Errorf("%v, %v\n%s", err, warnings, diff)
	}
}

const everyKey = `
name: Ada
description: D
role: R
version: 2
tier: 2
runtime: codex
model: old
runtime_config:
  command: c
  args: [a, b]
  required_env: [K]
  timeout: 90
  model: gpt-5.5
  provider: house
  auth_token_env: E
  auth_token_file: F
initial_prompt: ip
initial_prompt_file: ipf
idle_prompt: xp
idle_prompt_file: xpf
idle_interval_seconds: 60
skills: [s1, {name: s2}, {id: s3}]
plugins: one
tools: [t]
prompt_files: [p.md]
shared_context: [{path: x.md}]
sub_workspaces: [w]
a2a: {port: 9000, streaming: no, push_notifications: "off", delivery_mode: Push}
delegation: {retry_attempts: 1, retry_delay: 2, timeout: 3, escalate: false}
sandbox: {backend: b, memory_limit: 1g, timeout: 4}
rbac: {roles: [admin], allowed_actions: {admin: [x]}}
hitl: {a: 1}
governance: {b: 2}
security_scan: {mode: block}
compliance: {mode: m, prompt_injection: block, max_tool_calls_per_task: 7, max_task_duration_seconds: 8}
effort: high
task_budget: 100
providers:
  - {name: house, auth_mode: openai_compat_responses, model_prefixes: [house-], model_aliases: [h1], base_url: "https://house/v1/", auth_env: [HOUSE_KEY], wire_api: responses, model_provider_slug: h, model_id_override: H}
  - gpt
bridge: {app_server_command: x, app_server_args: [y]}
unknown_key: {a: [b]}
template_schema_version: 1
`

func TestConfigWithEveryKey(t *testing.T) {
	got, warnings, err := ParseConfig("c", []byte(everyKey))
	want := Config{
		File: "c", Name: "Ada", Description: "D", Role: "R", Version: "2", Tier: 2, Runtime: "codex", Model: "gpt-5.5", Provider: "house",
		Providers: []provider.Entry{{
			Name: "house", AuthMode: provider.Compatible, Prefixes: []string{"house-"}, Aliases: []string{"h1"},
			BaseURL: "https://house/v1", AuthEnv: []string{"HOUSE_KEY"}, Slug: "h", ModelID: "H",
		}},
		RuntimeConfig: RuntimeConfig{Command: "c", Args: []string{"a", "b"}, RequiredEnv: []string{"K"}, Timeout: 90 * time.Second, AuthTokenEnv: "E", AuthTokenFile: "F"},
		InitialPrompt: "ip", InitialPromptFile: "ipf", IdlePrompt: "xp", IdlePromptFile: "xpf", IdleInterval: time.Minute,
		Skills: []string{"s1", "s2", "s3"}, Plugins: []string{"one"}, Tools: []string{"t"}, PromptFiles: []string{"p.md"}, SharedContext: []string{"x.md"},
		SubWorkspaces: []string{"w"}, A2A: A2AConfig{Port: 9000, DeliveryMode: "push"},
		Delegation: DelegationConfig{RetryAttempts: 1, RetryDelay: 2 * time.Second, Timeout: 3 * time.Second},
		Sandbox:    SandboxConfig{Backend: "b", MemoryLimit: "1g", Timeout: 4 * time.Second},
		RBAC:       RBACConfig{Roles: []string{"admin"}, AllowedActions: map[string]any{"admin": []any{"x"}}},
		Compliance: ComplianceConfig{Mode: "m", PromptInjection: "block", MaxToolCalls: 7, MaxTaskDuration: 8 * time.Second},
		Bridge:     BridgeConfig{Command: "x", Args: []string{"y"}}, SecurityScan: "block", Effort: "high", TaskBudget: "100",
		HITL: map[string]any{"a": 1}, Governance: map[string]any{"b": 2},
	}
	if diff := cmp.Diff(want, got); err != nil || len(warnings) > 0 || diff != "" {
		t.Errorf("%v, %v\n%s", err, warnings, diff)
	}
}

func TestConfigOfTheWrongKinds(t *testing.T) {
	for name, c := range map[string]struct {
		text, warning string
		same          func(Config) bool
	}{
		"tier":         {"name: A\ntier: high\n", "c:2: tier: a number", func(c Config) bool { return c.Tier == 1 && c.Name == "A" }},
		"tier-text":    {"tier: '3'\n", "", func(c Config) bool { return c.Tier == 3 }},
		"port":         {"a2a:\n  port: 70000\n", "c:2: a2a.port: 70000 is no port", func(c Config) bool { return c.A2A.Port == DefaultPort }},
		"port-nan":     {"a2a: {port: .nan}\n", "c:1: a2a.port: a number", func(c Config) bool { return c.A2A.Port == DefaultPort }},
		"section":      {"a2a: 8000\nname: A\n", "c:1: a2a: keys and values", func(c Config) bool { return c.A2A.Streaming && c.Name == "A" }},
		"name-list":    {"name: [a]\n", "c:1: name: one value", func(c Config) bool { return c.Name == "Workspace" }},
		"list-map":     {"prompt_files: {a: b}\n", "c:1: prompt_files: a list", func(c Config) bool { return c.PromptFiles == nil }},
		"list-entries": {"skills:\n  - ok\n  - [x]\n", "c:3: skills: an entry", func(c Config) bool { return len(c.Skills) == 1 }},
		"yes":          {"delegation: {escalate: maybe}\n", "c:1: delegation.escalate: true or false", func(c Config) bool { return c.Delegation.Escalate }},
		"negative":     {"idle_interval_seconds: -5\n", "c:1: idle_interval_seconds", func(c Config) bool { return c.IdleInterval == 10*time.Minute }},
		"null":         {"name:\ndescription: ~\ntier:\n", "", func(c Config) bool { return c.Name == "Workspace" && c.Tier == 1 }},
		"twice":        {"name: A\nname: B\n", "c:2: name stands twice, first in line 1", func(c Config) bool { return c.Name == "B" }},
		"delivery":     {"a2a: {delivery_mode: pigeon}\n", "c:1: a2a.delivery_mode: this is none of push, poll", func(c Config) bool { return c.A2A.DeliveryMode == "" }},
		"poll":         {"a2a: {delivery_mode: Poll}\n", "c:1: a2a.delivery_mode: poll is not in force", func(c Config) bool { return c.A2A.DeliveryMode == "poll" }},
		"alias":        {"x: &p [a.md]\nprompt_files: *p\n", "", func(c Config) bool { return len(c.PromptFiles) == 1 }},
		"wire-chat":    {"providers:\n- {name: o, base_url: 'http://o/v1', wire_api: chat}\n", "c:2: providers.wire_api: codex speaks responses only", func(c Config) bool { return len(c.Providers) == 1 }},
		"no-url":       {"providers:\n- {name: o}\n- {name: p, base_url: 'http://p/v1'}\n", "c:2: providers: o has no base_url", func(c Config) bool { return len(c.Providers) == 1 }},
		"password-url": {"providers:\n- {name: o, base_url: 'http://u:geheim@h/v1'}\n", "c:2: providers: o has a base_url that is no URL", func(c Config) bool { return len(c.Providers) == 0 }},
		"auth-mode":    {"providers:\n- {name: o, auth_mode: magic}\n", "c:2: providers: o has an auth_mode", func(c Config) bool { return len(c.Providers) == 0 }},
		"auth-env":     {"providers:\n- {name: o, base_url: 'http://o/v1', auth_env: ['a b']}\n", "no name of a variable", func(c Config) bool { return len(c.Providers) == 0 }},
		"crlf":         {"name: A\r\ntier: 2\r\n", "", func(c Config) bool { return c.Name == "A" && c.Tier == 2 }},
	} {
		t.Run(name, func(t *testing.T) {
			got, warnings, err := ParseConfig("c", []byte(c.text))
			if err != nil || !c.same(got) {
				t.Errorf("%v, %+v", err, got)
			}
			all := ""
			for _, w := range warnings {
				all += w.String() + "\n"
			}
			if (c.warning == "") != (all == "") || !strings.Contains(all, c.warning) || strings.Contains(all, "geheim") {
				t.Errorf("warnings %q, want %q", all, c.warning)
			}
		})
	}
}

func TestConfigThatIsNone(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"syntax":   {"name: A\nmodel: [gpt\nx: y\n", "c:"},
		"tab":      {"name: A\n\ttier: 1\n", "c:2: "},
		"list":     {"\n- a\n", "c:2: the file must hold keys and values"},
		"text":     {"hello\n", "c:1: the file must"},
		"not-utf8": {"name: A\nrole: \xff\n", "c:2: this is not UTF-8"},
		"too-big":  {"name: " + strings.Repeat("x", mostConfig), "more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := ParseConfig("c", []byte(c.text))
			wrong, ok := errors.AsType[*Problem](err)
			if !ok || !strings.Contains(wrong.What, c.want) || wrong.Fix == "" {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestLateConfig is the older platform, which copies the file after our start.
func TestLateConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	synctest.Test(t, func(t *testing.T) {
		until := time.Now().Add(time.Minute)
		time.AfterFunc(40*time.Second, func() { put(t, file, "") }) // made, and not written yet
		time.AfterFunc(50*time.Second, func() { put(t, file, "name: Late\n") })
		started := time.Now()
		c, _, err := AwaitConfig(t.Context(), file, until)
		if waited := time.Since(started); err != nil || c.Name != "Late" || waited < 50*time.Second || waited > 51*time.Second {
			t.Errorf("after %v: %q, %v", waited, c.Name, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		c, warnings, err := AwaitConfig(t.Context(), file+".never", started.Add(time.Minute))
		if err != nil || c.Name != "Workspace" || len(warnings) != 1 || time.Since(started) < time.Minute {
			t.Errorf("without a file: %q, %v, %v", c.Name, warnings, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := AwaitConfig(ctx, file+".never", time.Now().Add(time.Minute)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without the time for it: %v", err)
		}
	})
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Error(err)
	}
}

// TestConfigThatIsNoFile would wait for ever for the other end of a pipe.
func TestConfigThatIsNoFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "config.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, filepath.Dir(pipe)} {
		if _, _, err := ReadConfig(path); err == nil || !strings.Contains(err.Error(), "it is not a file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
