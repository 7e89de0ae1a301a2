package adapter

import (
	"slices"
	"strings"
)

// ChildEnv returns the environment for codex: environ without what is not
// codex's to know, and with CODEX_HOME set to home. It is a deny-list on
// purpose: the secrets of a workspace, such as GH_TOKEN, are there for the
// agent to use.
func ChildEnv(environ []string, home string, p Provider) []string {
	out := make([]string, 0, len(environ)+1)
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		switch {
		case !ok || name == "CODEX_HOME" || denied(name) || p.idle(name):
		case name == keyVariable:
			// A line feed at the end, as files of secrets have it, would make an
			// invalid header of it.
			out = append(out, name+"="+strings.TrimSpace(value))
		default:
			out = append(out, kv)
		}
	}
	return append(out, "CODEX_HOME="+home)
}

// denied reports whether a variable is ours, the platform's or the control
// plane's. CODEX_SANDBOX and its like are settings of ours under names that
// mean something else to codex and to programs that run inside its sandbox.
func denied(name string) bool {
	for _, prefix := range []string{"RUNTIME_", "ADMIN_", "CP_", "MOLECULE_CP_", "MOLECULE_ADMIN_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains([]string{
		"CODEX_BIN", "CODEX_SANDBOX", "CODEX_APPROVAL_POLICY", "CODEX_QUESTION_TTL",
		"CODEX_TURN_TIMEOUT", "CODEX_IDLE_TIMEOUT", "CODEX_ITEM_TIMEOUT",
		"CODEX_AUTH_JSON", "CODEX_CHATGPT_AUTH_JSON",
		"MOLECULE_WORKSPACE_TOKEN", "MOLECULE_WORKSPACE_TOKEN_FILE",
		"PLATFORM_INBOUND_SECRET", "MOLECULE_INBOUND_SECRET",
	}, name)
}

// idle reports whether a variable is a key for a model that is not in use.
// When codex goes by its own configuration, any may be in use.
func (p Provider) idle(name string) bool {
	if !p.ours() || name == keyVariable && p.sendsKey() {
		return false
	}
	return slices.Contains([]string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "AZURE_OPENAI_API_KEY", "CODEX_API_KEY",
		"DEEPSEEK_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GROQ_API_KEY", "MINIMAX_API_KEY",
		"MISTRAL_API_KEY", "MOLECULE_LLM_USAGE_TOKEN", "MOONSHOT_API_KEY", "OPENAI_API_KEY",
		"OPENROUTER_API_KEY", "XAI_API_KEY", "ZAI_API_KEY",
	}, name)
}
