package adapter

import (
	"cmp"
	"net/url"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/provider"
)

const (
	// providerID names our entry among codex's model providers. It stands in the
	// threads that codex keeps, and codex resumes none of them under another one
	// (seen on 0.169.0), so it does not change with the endpoint.
	providerID = "molecule-runtime"
	// builtInID names codex's own entry for OpenAI, which takes a login.
	builtInID = "openai"
	// forwardVariable holds what codex shows to our forwarder.
	forwardVariable = "MOLECULE_FORWARD_TOKEN"

	openAI         = "https://api.openai.com/v1"
	openAIVariable = "OPENAI_API_KEY"
	// The endpoints of a ChatGPT login, as codex has them built in.
	chatGPTModel   = "https://chatgpt.com/backend-api/codex"
	chatGPTBackend = "https://chatgpt.com/backend-api/"
)

// A Provider says which model codex talks to. Codex's app-server takes neither
// OPENAI_API_KEY nor OPENAI_BASE_URL from its environment (0.169.0 ignores
// both), so each becomes part of a provider entry of ours. The zero Provider
// leaves the choice to codex: its config.toml and its own login.
type Provider struct {
	Name    string // of the registry's entry; empty standing alone
	Login   bool   // codex's own login counts, whatever its config.toml says of providers
	ChatGPT bool   // that login is one of ChatGPT, which must be kept
	KeyName string // the variable that holds the key; empty without one
	BaseURL string // of the endpoint; with a key, empty means OpenAI's
	Model   string // that is wanted; empty leaves it to codex
	Retries bool   // the endpoint is not OpenAI's, and needs more patience
	Keys    []string
	// ScriptedURL is where the built-in scripted model listens. It wins over
	// the others, and no key is sent to it.
	ScriptedURL string
	// Forward is how codex reaches the endpoint; zero means by itself, with the key.
	Forward Forward
}

// A Forward is where codex finds the forwarder that adds the key, and what it has
// to show there.
type Forward struct{ URL, Token string }

// Alone returns the provider of a runtime that stands alone: a key of OpenAI's, an
// endpoint in the place of theirs, or codex as it is configured.
func Alone(key bool, baseURL, model string) Provider {
	p := Provider{BaseURL: baseURL, Model: model, Keys: provider.Keys(nil)}
	if key {
		p.KeyName = openAIVariable
	}
	return p
}

// Chosen returns the provider of a workspace.
func Chosen(c provider.Choice, own []provider.Entry, chatGPT bool) Provider {
	return Provider{
		Name: c.Entry.Name, Login: c.Login(), ChatGPT: chatGPT && c.Login(), KeyName: c.KeyName, BaseURL: cmp.Or(c.URL, c.Entry.BaseURL), Model: c.Model,
		Retries: c.Entry.AuthMode == provider.Compatible, Keys: provider.Keys(own),
	}
}

// Describe says in a few words who answers, for the log and for people.
func (p Provider) Describe() string {
	switch {
	case p.ScriptedURL != "":
		return "the built-in scripted model"
	case p.Login:
		return p.Name + ", by codex's own login"
	case p.KeyName != "" && p.BaseURL == "":
		return "OpenAI, by " + p.KeyName
	case p.KeyName != "":
		return p.BaseURL + ", by " + p.KeyName
	case p.BaseURL != "":
		return p.BaseURL + ", without a key"
	default:
		return "as codex is configured and logged in"
	}
}

// ours reports whether codex is to use our provider entry.
func (p Provider) ours() bool {
	return p.ScriptedURL != "" || !p.Login && (p.KeyName != "" || p.BaseURL != "")
}

// sendsKey reports whether a key is needed.
func (p Provider) sendsKey() bool { return p.ours() && p.KeyName != "" && p.ScriptedURL == "" }

// Forwards reports whether a forwarder can stand between codex and the endpoint: to keep the key from codex, and
// to find out by which way the endpoint is asked best.
func (p Provider) Forwards() bool { return p.ours() && p.ScriptedURL == "" }

// URL is the endpoint's.
func (p Provider) URL() string {
	switch {
	case p.ScriptedURL != "":
		return p.ScriptedURL
	case p.BaseURL != "":
		return p.BaseURL
	default:
		return openAI
	}
}

// KeyVariable names the variable that the key comes from; empty where we know of
// none, as codex's own login or configuration has the credential.
func (p Provider) KeyVariable() string {
	if !p.ours() {
		return ""
	}
	return cmp.Or(p.KeyName, openAIVariable)
}

// shown names the variable in codex's environment that it takes the key from; empty where it shows none.
func (p Provider) shown() string {
	switch {
	case p.Forward.URL != "":
		return forwardVariable
	case p.sendsKey():
		return p.KeyName
	}
	return ""
}

// Overrides returns the arguments that make codex use the provider, each
// behind its -c. They hold no secret: arguments are visible to every user of
// the machine.
func (p Provider) Overrides() []string {
	if p.Login {
		return p.login()
	}
	if !p.ours() {
		return nil
	}
	at := p.URL()
	if p.Forward.URL != "" {
		at = p.Forward.URL
	}
	entry := []tomlPair{{"name", p.name()}, {"base_url", at}, {"wire_api", "responses"}}
	if p.shown() != "" {
		entry = append(entry, tomlPair{"env_key", p.shown()})
	}
	args := override("model_provider", tomlString(providerID))
	args = append(args, override("model_providers."+providerID, tomlTable(entry))...)
	args = append(args, override("model_providers."+providerID+".requires_openai_auth", "false")...)
	if p.Forward.URL != "" { // which finds out whether the endpoint does
		args = append(args, "-c", "model_providers."+providerID+".supports_websockets=true")
	}
	if p.Retries {
		for _, pair := range []string{"request_max_retries=4", "stream_max_retries=10", "stream_idle_timeout_ms=300000"} {
			args = append(args, "-c", "model_providers."+providerID+"."+pair)
		}
	}
	if p.shown() != "" {
		args = append(args, p.hideKey()...)
	}
	return args
}

// ID is codex's name for the provider; empty where that is the user's to choose.
func (p Provider) ID() string {
	switch {
	case p.Login:
		return builtInID
	case p.ours():
		return providerID
	}
	return ""
}

// login has codex use its built-in provider and the login in its auth.json.
func (p Provider) login() []string {
	args := override("model_provider", tomlString(builtInID))
	args = append(args, override("cli_auth_credentials_store", tomlString("file"))...)
	if p.ChatGPT {
		args = append(args, override("forced_login_method", tomlString("chatgpt"))...)
	}
	if p.BaseURL != "" {
		args = append(args, override("openai_base_url", tomlString(p.BaseURL))...)
	}
	return args
}

// hideKey keeps the key from the commands that codex runs. Setting the
// variable to nothing adds to the user's shell_environment_policy, whereas an
// exclude list of ours would take the place of the user's.
func (p Provider) hideKey() []string {
	return override("shell_environment_policy.set."+p.shown(), tomlString(""))
}

// name is what codex calls the provider in its errors.
func (p Provider) name() string {
	if p.ScriptedURL != "" {
		return "scripted model"
	}
	if p.Name != "" {
		return p.Name
	}
	if u, err := url.Parse(p.URL()); err == nil && u.Host != "" {
		return u.Host
	}
	return "OPENAI_BASE_URL or OpenAI"
}

func override(key, value string) []string { return []string{"-c", key + "=" + value} }
