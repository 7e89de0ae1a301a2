package adapter

// providerID names our entry among codex's model providers. It stands in the
// threads that codex keeps, so it does not change.
const providerID = "molecule-runtime"

// keyVariable holds the key. Codex is told its name and never its value.
const keyVariable = "OPENAI_API_KEY"

const openAI = "https://api.openai.com/v1"

// A Provider says which model codex talks to. Codex's app-server takes neither
// OPENAI_API_KEY nor OPENAI_BASE_URL from its environment (0.169.0 ignores
// both), so each becomes part of a provider entry of ours. The zero Provider
// leaves the choice to codex: its config.toml and its own login.
type Provider struct {
	Key     bool   // there is a key in OPENAI_API_KEY
	BaseURL string // OPENAI_BASE_URL; with a key, empty means OpenAI's
	// ScriptedURL is where the built-in scripted model listens. It wins over
	// the others, and no key is sent to it.
	ScriptedURL string
}

// Describe says in a few words who answers, for the log and for people.
func (p Provider) Describe() string {
	switch {
	case p.ScriptedURL != "":
		return "the built-in scripted model"
	case p.Key && p.BaseURL == "":
		return "OpenAI, by OPENAI_API_KEY"
	case p.Key:
		return p.BaseURL + ", by OPENAI_API_KEY"
	case p.BaseURL != "":
		return p.BaseURL + ", without a key"
	default:
		return "as codex is configured and logged in"
	}
}

// ours reports whether codex is to use our provider entry.
func (p Provider) ours() bool { return p.Key || p.BaseURL != "" || p.ScriptedURL != "" }

// sendsKey reports whether codex needs the key.
func (p Provider) sendsKey() bool { return p.Key && p.ScriptedURL == "" }

// KeyVariable names the variable that the key comes from; empty where we know of
// none, as codex's own login or configuration has the credential.
func (p Provider) KeyVariable() string {
	if !p.ours() {
		return ""
	}
	return keyVariable
}

// Overrides returns the arguments that make codex use the provider, each
// behind its -c. They hold no secret: arguments are visible to every user of
// the machine.
func (p Provider) Overrides() []string {
	if !p.ours() {
		return nil
	}
	entry := []tomlPair{{"name", p.name()}, {"base_url", p.url()}, {"wire_api", "responses"}}
	if p.sendsKey() {
		entry = append(entry, tomlPair{"env_key", keyVariable})
	}
	args := override("model_provider", tomlString(providerID))
	args = append(args, override("model_providers."+providerID, tomlTable(entry))...)
	if p.sendsKey() {
		args = append(args, hideKey()...)
	}
	return args
}

// hideKey keeps the key from the commands that codex runs. Setting the
// variable to nothing adds to the user's shell_environment_policy, whereas an
// exclude list of ours would take the place of the user's.
func hideKey() []string {
	return override("shell_environment_policy.set."+keyVariable, tomlString(""))
}

func (p Provider) name() string {
	if p.ScriptedURL != "" {
		return "scripted model"
	}
	return "OPENAI_BASE_URL or OpenAI"
}

func (p Provider) url() string {
	switch {
	case p.ScriptedURL != "":
		return p.ScriptedURL
	case p.BaseURL != "":
		return p.BaseURL
	default:
		return openAI
	}
}

func override(key, value string) []string { return []string{"-c", key + "=" + value} }
