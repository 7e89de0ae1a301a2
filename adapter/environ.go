package adapter

import (
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/provider"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// ChildEnv returns the environment for codex: environ without what is not
// codex's to know, and with CODEX_HOME set to home. It is a deny-list on
// purpose: the secrets of a workspace, such as GH_TOKEN, are there for the
// agent to use.
func ChildEnv(environ []string, home string, p Provider) []string {
	out := make([]string, 0, len(environ)+3)
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		key := p.sendsKey() && name == p.KeyName
		switch {
		case !ok || name == "CODEX_HOME" || key && p.Forward.URL != "" || !key && (denied(name) || p.idle(name)):
		case key || name == openAIVariable:
			// A line feed at the end, as files of secrets have it, would make an
			// invalid header of it.
			out = append(out, name+"="+strings.TrimSpace(value))
		default:
			out = append(out, kv)
		}
	}
	if p.Forward.URL != "" {
		out = append(out, forwardVariable+"="+p.Forward.Token)
	}
	return append(aroundProxies(out), "CODEX_HOME="+home)
}

// denied reports whether a variable is ours, the platform's or the control
// plane's, or a credential for telemetry. CODEX_SANDBOX and its like are settings of ours
// under names that mean something else to codex and to programs that run inside its sandbox.
func denied(name string) bool {
	for _, prefix := range []string{
		"RUNTIME_", "ADMIN_", "CP_", "LANGFUSE_", "OTEL_EXPORTER_OTLP_",
		"MOLECULE_ADMIN_", "MOLECULE_CONFIG_RELAY_", "MOLECULE_CP_", "MOLECULE_LLM_",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains([]string{
		"CODEX_BIN", "CODEX_SANDBOX", "CODEX_APPROVAL_POLICY", "CODEX_RULES", "CODEX_QUESTION_TTL",
		"CODEX_TURN_TIMEOUT", "CODEX_IDLE_TIMEOUT", "CODEX_ITEM_TIMEOUT",
		"CODEX_AUTH_JSON", "CODEX_CHATGPT_AUTH_JSON", "CODEX_AUTH_REFRESH_OWNER", "CODEX_AUTH_SYNC_INTERVAL_SECONDS",
		"MOLECULE_WORKSPACE_TOKEN", "MOLECULE_WORKSPACE_TOKEN_FILE", "MOLECULE_WORKSPACES",
		"MOLECULE_PLATFORM_INBOUND_SECRET", "PLATFORM_INBOUND_SECRET", "MOLECULE_INBOUND_SECRET",
		forwardVariable, // a codex of ours that has started us
	}, name) || slices.Contains(forTelemetry(), name)
}

// bare reports whether a variable is one by which a program starts and reaches the network:
// those of every program and its loader, those by which npm's codex finds its node, proxies and
// certificates. To try its sandbox a codex with a ChatGPT login asks for the policies of that
// account (seen on 0.169.0).
func bare(name string) bool {
	for _, prefix := range []string{"DYLD_", "LC_", "LD_", "NIX_LD", "XDG_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return aboutProxies(name) || slices.Contains([]string{
		"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER", gitSettings, traces[0], traces[1], traces[2],
		"CODEX_CA_CERTIFICATE", "CODEX_HOME", "CODEX_REFRESH_TOKEN_URL_OVERRIDE", "CODEX_SQLITE_HOME", "SSL_CERT_DIR", "SSL_CERT_FILE",
		"ASDF_DATA_DIR", "ASDF_DIR", "FNM_DIR", "MISE_DATA_DIR", "NODENV_ROOT", "NVM_DIR", "VOLTA_HOME",
		"NODE_EXTRA_CA_CERTS", "NODE_OPTIONS", "NODE_PATH",
	}, name)
}

// aboutProxies reports whether a variable names a proxy, or what is reached without one.
func aboutProxies(name string) bool {
	return slices.Contains([]string{"http_proxy", "https_proxy", "all_proxy", "no_proxy"}, strings.ToLower(name))
}

// forTelemetry are the variables by which programs report on themselves to a service. What
// else such a service can be asked for by, as SENTRY_AUTH_TOKEN, is the agent's to use.
func forTelemetry() []string {
	return []string{
		"AGENTOPS_API_KEY", "APPLICATIONINSIGHTS_CONNECTION_STRING", "ARIZE_API_KEY", "BRAINTRUST_API_KEY", "DATADOG_API_KEY",
		"DD_API_KEY", "HELICONE_API_KEY", "HONEYCOMB_API_KEY", "LANGCHAIN_API_KEY", "LANGSMITH_API_KEY", "LOGFIRE_TOKEN",
		"NEW_RELIC_LICENSE_KEY", "OPIK_API_KEY", "PHOENIX_API_KEY", "SENTRY_DSN", "TRACELOOP_API_KEY",
	}
}

// idle reports whether a variable is a key for a model that codex has no use for.
// When codex goes by its own configuration, any may be in use.
func (p Provider) idle(name string) bool {
	switch {
	case !p.ours() && !p.Login:
		return false
	case name == provider.CodexLogin && p.Login:
		return false // it is a way to log codex in
	}
	return p.isKey(name)
}

// isKey reports whether a variable may hold a key for a model, going by its name.
func (p Provider) isKey(name string) bool {
	return slices.Contains(p.Keys, name) || provider.IsKey(name)
}

// aroundProxies has what is on this machine reached without the proxies that the
// environment may name: codex would ask them for our forwarder, too.
func aroundProxies(environ []string) []string {
	const here = "127.0.0.1,localhost"
	proxies, told := false, false
	for i, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		switch strings.ToLower(name) {
		case "http_proxy", "https_proxy", "all_proxy":
			proxies = proxies || value != ""
		case "no_proxy":
			told = true
			environ[i] = name + "=" + strings.TrimPrefix(value+","+here, ",")
		}
	}
	if proxies && !told {
		environ = append(environ, "NO_PROXY="+here, "no_proxy="+here)
	}
	return environ
}

// userEnv has an environment say who the child runs as, where that is not us.
func userEnv(environ []string, user *asuser.User) []string {
	env := lookup(environ)
	if user == nil || env("USER") == user.Name {
		return environ
	}
	who := []string{"USER=" + user.Name, "LOGNAME=" + user.Name}
	if home := user.HomeIn(env); home != "" {
		who = append(who, "HOME="+home)
	}
	for _, kv := range who {
		name, _, _ := strings.Cut(kv, "=")
		environ = slices.DeleteFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	}
	return append(environ, who...)
}

// lookup returns the values of variables without the white space that files and
// templates put around them. Of two equal names the last one counts.
func lookup(environ []string) func(string) string {
	vars := make(map[string]string, len(environ))
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			vars[name] = strings.TrimSpace(value)
		}
	}
	return func(name string) string { return vars[name] }
}

// without is an environment that lacks a variable.
func without(env []string, name string) []string {
	return slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}
