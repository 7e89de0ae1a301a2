package provider

import (
	"slices"
	"strings"
)

// The ways in which a provider is paid and reached.
const (
	Subscription = "chatgpt_subscription"    // codex's own login
	OpenAI       = "openai_api"              // a key of OpenAI's, or of what stands in for it
	Compatible   = "openai_compat_responses" // another endpoint that speaks the Responses API
)

// An Entry is a provider that a workspace may use.
type Entry struct {
	Name     string
	AuthMode string   // Subscription, OpenAI or Compatible
	Prefixes []string // of the models it serves
	Aliases  []string // models it serves under names of their own
	BaseURL  string   // empty is OpenAI's
	AuthEnv  []string // variables that may hold the key; the first that is set counts
	Slug     string   // another name of it
	ModelID  string   // what the endpoint calls its models, whatever they are called here; empty leaves the name

	// BaseEnv names variables that hold another BaseURL.
	BaseEnv []string
	// ModelEnv names a variable that holds another ModelID.
	ModelEnv string
	// Explicit entries are used only by name: who pays is nothing to be guessed.
	Explicit bool
}

// The names of the entries that are shipped.
const (
	nameSubscription = "openai-subscription"
	nameOpenAI       = "openai-api"
	namePlatform     = "platform"
	aliasOpenAI      = "openai" // the subscription if there is one, else the key
)

// Shipped returns the registry without what a workspace adds.
func Shipped() []Entry {
	return []Entry{
		{Name: nameSubscription, AuthMode: Subscription, Prefixes: []string{"gpt-"}},
		{Name: nameOpenAI, AuthMode: OpenAI, Prefixes: []string{"gpt-"}, AuthEnv: []string{"OPENAI_API_KEY"}, BaseEnv: []string{"OPENAI_BASE_URL"}},
		{
			Name: "minimax-token-plan", AuthMode: Compatible, Slug: "minimax",
			Prefixes: []string{"codex-minimax-", "minimax-codex-", "minimax-"},
			BaseURL:  "https://api.minimax.io/v1", BaseEnv: []string{"MINIMAX_API_BASE"},
			AuthEnv: []string{"MINIMAX_API_KEY"}, ModelID: "codex-MiniMax-M2.7", ModelEnv: "CODEX_MINIMAX_MODEL",
		},
		{
			Name: namePlatform, AuthMode: Compatible, Explicit: true,
			BaseURL: "https://api.moleculesai.app/api/v1/internal/llm/openai/v1", BaseEnv: []string{"MOLECULE_LLM_BASE_URL"},
			AuthEnv: []string{"MOLECULE_LLM_USAGE_TOKEN"}, // never the user's own key
		},
	}
}

// merged is the registry of a workspace: an entry of its own takes the place of a
// shipped one of that name, and goes before the others.
func merged(own []Entry) []Entry {
	all := slices.Clone(own)
	for _, e := range Shipped() {
		if !slices.ContainsFunc(own, func(o Entry) bool { return o.is(e.Name) }) {
			all = append(all, e)
		}
	}
	return all
}

// is reports whether name names the entry.
func (e Entry) is(name string) bool {
	return name != "" && (strings.EqualFold(name, e.Name) || strings.EqualFold(name, e.Slug))
}

// serves reports whether the entry is one for the model.
func (e Entry) serves(model string) bool {
	if slices.ContainsFunc(e.Aliases, func(a string) bool { return strings.EqualFold(a, model) }) {
		return true
	}
	model = strings.ToLower(model)
	return slices.ContainsFunc(e.Prefixes, func(p string) bool { return p != "" && strings.HasPrefix(model, strings.ToLower(p)) })
}

func named(entries []Entry, name string) (Entry, bool) {
	for _, e := range entries {
		if e.is(name) {
			return e, true
		}
	}
	return Entry{}, false
}
