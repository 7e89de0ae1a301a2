package adapter

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// ParseConfig reads the text of the config.yaml at file. It is lenient: unknown keys
// are not looked at, and a value of the wrong kind is warned about and left at its
// default. The error is a [*Problem]: what is no YAML has no meaning at all.
func ParseConfig(file string, text []byte) (Config, []Warning, error) {
	root, err := parseYAML(file, text)
	if err != nil {
		return Config{}, nil, err
	}
	c := DefaultConfig()
	c.File = file
	if root == nil { // an empty file
		return c, nil, nil
	}
	var warnings []Warning
	s := newSection(file, root, &warnings)
	c.top(s)
	c.prompts(s)
	c.sections(s)
	c.Providers = providers(s)
	c.Secrets = secretsIn(root)
	return c, few(file, warnings), nil
}

// mostWarnings is how many there are of a file. Each start of codex logs them.
const mostWarnings = 50

func few(file string, warnings []Warning) []Warning {
	if left := len(warnings) - mostWarnings; left > 0 {
		return append(warnings[:mostWarnings:mostWarnings], Warning{File: file, Text: fmt.Sprintf("there are %d more doubts about it", left)})
	}
	return warnings
}

func (c *Config) top(s section) {
	c.Name = s.text("name", c.Name)
	c.Description = s.text("description", "")
	c.Role = s.text("role", "")
	c.Version = s.text("version", c.Version)
	c.Tier = s.number("tier", c.Tier)
	c.Runtime = s.text("runtime", c.Runtime)
	c.Skills, c.Plugins, c.Tools = s.list("skills"), s.list("plugins"), s.list("tools")
	c.SubWorkspaces = s.list("sub_workspaces")
	c.Effort, c.TaskBudget = s.text("effort", ""), s.text("task_budget", "")
	c.HITL, c.Governance = s.any("hitl"), s.any("governance")

	rc := s.section("runtime_config")
	c.RuntimeConfig = RuntimeConfig{
		Command: rc.text("command", ""), Args: rc.list("args"), RequiredEnv: rc.list("required_env"),
		Timeout: rc.seconds("timeout", 0), AuthTokenEnv: rc.text("auth_token_env", ""), AuthTokenFile: rc.text("auth_token_file", ""),
	}
	if c.RuntimeConfig.Timeout > mostTurn {
		rc.warn("timeout", fmt.Sprintf("%d seconds are the most; the default is used", int(mostTurn.Seconds())))
		c.RuntimeConfig.Timeout = 0
	}
	c.Model = cmp.Or(rc.text("model", ""), s.text("model", ""))
	c.Provider = cmp.Or(rc.text("provider", ""), s.text("provider", ""))
}

// mostTurn is the longest limit of a turn, that of CODEX_TURN_TIMEOUT.
const mostTurn = 168 * time.Hour

func (c *Config) prompts(s section) {
	c.InitialPrompt, c.InitialPromptFile = s.text("initial_prompt", ""), s.text("initial_prompt_file", "")
	c.IdlePrompt, c.IdlePromptFile = s.text("idle_prompt", ""), s.text("idle_prompt_file", "")
	c.IdleInterval = s.seconds("idle_interval_seconds", c.IdleInterval)
	c.PromptFiles, c.SharedContext = s.list("prompt_files"), s.list("shared_context")
}

func (c *Config) sections(s section) {
	a := s.section("a2a")
	c.A2A.Streaming = a.yes("streaming", c.A2A.Streaming)
	c.A2A.PushNotifications = a.yes("push_notifications", c.A2A.PushNotifications)
	if c.A2A.DeliveryMode = a.oneOf("delivery_mode", "push", "poll"); c.A2A.DeliveryMode == "poll" {
		a.warn("delivery_mode", "poll is not in force: messages are taken as the platform pushes them")
	}
	if port := a.number("port", DefaultPort); port >= 1 && port <= 65535 {
		c.A2A.Port = port
	} else {
		a.warn("port", fmt.Sprintf("%d is no port; %d is used", port, DefaultPort))
	}
	d := s.section("delegation")
	c.Delegation = DelegationConfig{
		RetryAttempts: d.number("retry_attempts", c.Delegation.RetryAttempts), RetryDelay: d.seconds("retry_delay", c.Delegation.RetryDelay),
		Timeout: d.seconds("timeout", c.Delegation.Timeout), Escalate: d.yes("escalate", c.Delegation.Escalate),
	}
	b := s.section("sandbox")
	c.Sandbox = SandboxConfig{Backend: b.text("backend", ""), MemoryLimit: b.text("memory_limit", ""), Timeout: b.seconds("timeout", 0)}
	c.RBAC = roles(s, c.RBAC)
	if scan := s.quiet("security_scan"); scan != nil && scan.Kind == yaml.MappingNode {
		c.SecurityScan = s.section("security_scan").text("mode", c.SecurityScan)
	} else {
		c.SecurityScan = s.text("security_scan", c.SecurityScan)
	}
	m := s.section("compliance")
	c.Compliance = ComplianceConfig{
		Mode: m.text("mode", c.Compliance.Mode), PromptInjection: m.text("prompt_injection", c.Compliance.PromptInjection),
		MaxToolCalls:    m.number("max_tool_calls_per_task", c.Compliance.MaxToolCalls),
		MaxTaskDuration: m.seconds("max_task_duration_seconds", c.Compliance.MaxTaskDuration),
	}
	g := s.section("bridge")
	c.Bridge = BridgeConfig{Command: g.text("app_server_command", ""), Args: g.list("app_server_args")}
}

// mostConfig is the size of a config.yaml, in bytes, that is still read.
const mostConfig = 1 << 20

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

var anchor = regexp.MustCompile(`anchor '[^']*'`)

// parseYAML returns the mapping that the file holds; nil if it holds nothing.
func parseYAML(file string, text []byte) (*yaml.Node, error) {
	const fix = "correct the file, and send the message again"
	if len(text) > mostConfig {
		return nil, &Problem{What: fmt.Sprintf("%s has more than %d bytes", file, mostConfig), Fix: fix}
	}
	if !utf8.Valid(text) {
		return nil, &Problem{What: position(file, badLine(text)) + ": this is not UTF-8", Fix: fix}
	}
	var document yaml.Node
	err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&document)
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		line, what := badYAML(text, err.Error())
		return nil, &Problem{What: position(file, line) + ": " + what, Fix: fix}
	}
	root := document.Content[0]
	switch {
	case root.Kind == yaml.MappingNode:
		return root, nil
	case root.Kind == yaml.ScalarNode && root.Tag == "!!null":
		return nil, nil
	}
	return nil, &Problem{What: position(file, root.Line) + ": the file must hold keys and values, such as name: Ada", Fix: fix}
}

var unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)

// badYAML takes the line out of an error of the library, and finds it where the library
// has none: of the first line it never has.
func badYAML(text []byte, said string) (line int, what string) {
	what = said
	if m := yamlLine.FindStringSubmatch(said); m != nil {
		line, _ = strconv.Atoi(m[1])
		what = m[2]
	}
	hidden := anchor.ReplaceAllString(what, "anchor") // a secret that begins with * is taken for one
	if line > 0 {
		return line, hidden
	}
	at := 0
	if m := unknownAnchor.FindStringSubmatch(what); m != nil {
		at = bytes.Index(text, []byte("*"+m[1]))
	} else if what == "control characters are not allowed" {
		at = bytes.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\n\r\t\u0085", r) })
	}
	return 1 + bytes.Count(text[:max(at, 0)], []byte("\n")), hidden
}

// badLine is the line of the first byte that is no UTF-8.
func badLine(text []byte) int {
	line := 1
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			return line
		}
		if r == '\n' {
			line++
		}
		text = text[size:]
	}
	return line
}

func position(file string, line int) string {
	if line == 0 {
		return file
	}
	return file + ":" + strconv.Itoa(line)
}

// seconds is a whole number of them as a duration.
func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
