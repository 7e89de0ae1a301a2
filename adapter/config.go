package adapter

import (
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/provider"
)

// A Config is a workspace's config.yaml, with defaults filled in. Every key that
// the platform's other runtimes read is here; docs/workspace-config.md says which
// of them this one acts on.
type Config struct {
	File string // where it was read; empty if there is none

	Name, Description, Role, Version string
	Tier                             int
	Runtime                          string
	Model                            string // runtime_config.model, else model
	Provider                         string // runtime_config.provider, else provider
	Providers                        []provider.Entry
	RuntimeConfig                    RuntimeConfig

	InitialPrompt, InitialPromptFile string
	IdlePrompt, IdlePromptFile       string
	IdleInterval                     time.Duration

	Skills, Plugins, Tools     []string
	PromptFiles, SharedContext []string
	SubWorkspaces              []string

	A2A        A2AConfig
	Delegation DelegationConfig
	Sandbox    SandboxConfig
	RBAC       RBACConfig
	Compliance ComplianceConfig
	Bridge     BridgeConfig

	SecurityScan string // how strictly plugins are scanned
	Effort       string
	TaskBudget   string
	// HITL and Governance are taken as they are: their keys are others' business.
	HITL, Governance map[string]any

	Secrets []string // what looks like one, and must not be shown
}

// A RuntimeConfig is what stands under runtime_config.
type RuntimeConfig struct {
	Command     string
	Args        []string
	RequiredEnv []string      // hints: which credential is needed the provider says
	Timeout     time.Duration // of a turn; 0 is none
	// The two ways in which older templates named a token. AuthTokenFile is
	// deprecated there.
	AuthTokenEnv, AuthTokenFile string
}

// An A2AConfig is what stands under a2a.
type A2AConfig struct {
	Port              int
	Streaming         bool
	PushNotifications bool
	DeliveryMode      string // push or poll; empty if it is not said
}

// A DelegationConfig is what stands under delegation.
type DelegationConfig struct {
	RetryAttempts int
	RetryDelay    time.Duration
	Timeout       time.Duration
	Escalate      bool
}

// A SandboxConfig is what stands under sandbox.
type SandboxConfig struct {
	Backend, MemoryLimit string
	Timeout              time.Duration
}

// An RBACConfig is what stands under rbac.
type RBACConfig struct {
	Roles          []string
	AllowedActions map[string]any
}

// A ComplianceConfig is what stands under compliance.
type ComplianceConfig struct {
	Mode, PromptInjection string
	MaxToolCalls          int
	MaxTaskDuration       time.Duration
}

// A BridgeConfig is what stands under bridge. Nothing has ever read it.
type BridgeConfig struct {
	Command string
	Args    []string
}

// DefaultPort is the one that the platform maps; any other is reached by nobody
// in a container that it has made.
const DefaultPort = 8000

// DefaultConfig returns what holds where nothing is said. The model's default is
// codex's own: that of the platform's older runtime is one of another vendor.
func DefaultConfig() Config {
	return Config{
		Name: "Workspace", Version: "1.0.0", Tier: 1, Runtime: "codex",
		IdleInterval: 600 * time.Second,
		A2A:          A2AConfig{Port: DefaultPort, Streaming: true, PushNotifications: true},
		Delegation:   DelegationConfig{RetryAttempts: 3, RetryDelay: 5 * time.Second, Timeout: 120 * time.Second, Escalate: true},
		RBAC:         RBACConfig{Roles: []string{"operator"}},
		SecurityScan: "warn",
		Compliance: ComplianceConfig{
			Mode: "owasp_agentic", PromptInjection: "detect", MaxToolCalls: 50, MaxTaskDuration: 300 * time.Second,
		},
	}
}

// A Warning is something in a file that does not do what was meant.
type Warning struct {
	File string
	Line int // 0 if it is about the whole file
	Text string
}

func (w Warning) String() string { return position(w.File, w.Line) + ": " + w.Text }

// A Problem is why a workspace cannot work as it is configured.
type Problem struct {
	What string // with the file and the line, where there is one
	Fix  string // what to do
}

func (p *Problem) Error() string { return p.What + " (" + p.Fix + ")" }
