package provider

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

// An Input is what the choice is made from.
type Input struct {
	Env   func(name string) string // the environment, and the files of secrets
	Login bool                     // codex has a ChatGPT login, or is about to get one
	// What config.yaml says. File names it in errors.
	File     string
	Model    string
	Provider string
	Own      []Entry // its providers
}

// A Choice is the provider that is used. No secret is in it.
type Choice struct {
	Entry Entry
	Model string // that codex is started with; empty leaves it to codex
	URL   string // of the endpoint; empty with a login
	// KeyName names the variable that holds the key; empty with a login, and for
	// an endpoint that is asked without one.
	KeyName string
	Why     string // in a few words, for the log
}

// Login reports whether codex's own login is what counts.
func (c Choice) Login() bool { return c.Entry.AuthMode == Subscription }

// An Error says why no provider can be used, and what to do.
type Error struct{ What, Fix string }

func (e *Error) Error() string { return e.What + " (" + e.Fix + ")" }

const openAIURL = "https://api.openai.com/v1"

// Resolve chooses. The order is the platform's: a provider that was named; the
// login, for a model that it may serve; a provider for the model whose key is
// there; a provider for the model; a provider whose key is there; the first.
func Resolve(in Input) (Choice, error) {
	r := resolver{in: in, all: merged(in.Own)}
	if err := r.model(); err != nil {
		return Choice{}, err
	}
	entry, why, err := r.entry()
	if err != nil {
		return Choice{}, err
	}
	return r.choice(entry, why)
}

type resolver struct {
	in       Input
	all      []Entry
	name     string // the model
	nameFrom string // where it was said
	namedArm string // a provider that came with the model, as in openai:gpt-5.5
}

// providerVars are where a provider is named, the strongest first.
func providerVars() []string {
	return []string{"MOLECULE_RESOLVED_PROVIDER", "LLM_PROVIDER", "MODEL_PROVIDER"}
}

// known reports whether name is one of a provider.
func (r *resolver) known(name string) bool {
	_, ok := named(r.all, name)
	return ok || strings.EqualFold(name, aliasOpenAI)
}

// model finds the model that is asked for. MODEL_PROVIDER holds a model on older
// platforms and a provider on newer ones.
func (r *resolver) model() error {
	for _, name := range []string{"MOLECULE_MODEL", "MODEL", "MODEL_PROVIDER"} {
		value := r.in.Env(name)
		if value == "" || name == "MODEL_PROVIDER" && r.known(value) {
			continue
		}
		r.name, r.nameFrom = value, name
		break
	}
	if r.name == "" {
		r.name, r.nameFrom = r.in.Model, cmp.Or(r.in.File, "config.yaml")+": model"
	}
	r.split()
	if r.known(r.name) {
		return &Error{
			What: fmt.Sprintf("%s is %q, which is the name of a provider and not of a model", r.nameFrom, r.name),
			Fix:  "set it to a model such as gpt-5.5, and name the provider in MODEL_PROVIDER, or in runtime_config.provider of config.yaml",
		}
	}
	return nil
}

// split takes a provider off the front of a model, as in openai:gpt-5.5.
func (r *resolver) split() {
	front, rest, ok := strings.Cut(r.name, ":")
	if ok && rest != "" && r.known(front) {
		r.namedArm, r.name = front, rest
	}
}

// entry chooses the entry.
func (r *resolver) entry() (Entry, string, error) {
	for _, name := range providerVars() {
		value := r.in.Env(name)
		if value == "" || name == "MODEL_PROVIDER" && !r.known(value) {
			continue
		}
		return r.byName(value, name)
	}
	if r.in.Provider != "" {
		return r.byName(r.in.Provider, cmp.Or(r.in.File, "config.yaml")+": provider")
	}
	if r.namedArm != "" {
		return r.byName(r.namedArm, r.nameFrom)
	}
	return r.guess()
}

func (r *resolver) byName(name, from string) (Entry, string, error) {
	if _, own := named(r.all, name); !own && strings.EqualFold(name, aliasOpenAI) {
		name = nameOpenAI
		if r.in.Login {
			name = nameSubscription
		}
	}
	e, ok := named(r.all, name)
	if !ok {
		return e, "", &Error{
			What: fmt.Sprintf("%s names the provider %q, which is not known", from, name),
			Fix:  "name one of " + r.names() + ", or describe it under providers in config.yaml",
		}
	}
	return e, from, nil
}

func (r *resolver) names() string {
	names := make([]string, len(r.all))
	for i, e := range r.all {
		names[i] = e.Name
	}
	return strings.Join(names, ", ")
}

// guess chooses where nobody has named a provider.
func (r *resolver) guess() (Entry, string, error) {
	var serving, keyed []Entry
	for _, e := range r.all {
		if e.Explicit {
			continue
		}
		if r.name != "" && e.serves(r.name) {
			serving = append(serving, e)
		}
		if r.has(e) {
			keyed = append(keyed, e)
		}
	}
	if err := r.foreign(serving); err != nil {
		return Entry{}, "", err
	}
	if e, ok := named(r.all, nameSubscription); ok && r.in.Login && r.mayServe(e, serving) {
		return e, "the login", nil
	}
	for _, e := range serving {
		if r.has(e) {
			return e, "the model", nil
		}
	}
	switch {
	case len(serving) > 0:
		return serving[0], "the model", nil
	case len(keyed) > 0:
		return keyed[0], "its key", nil
	}
	return r.all[0], "the first of all", nil
}

// mayServe reports whether e is one for the model, or nobody claims that.
func (r *resolver) mayServe(e Entry, serving []Entry) bool {
	return len(serving) == 0 || e.serves(r.name)
}

// foreign refuses models of vendors that no entry is for. One of them is the
// default of the platform's older runtime, and codex would hang on its first turn.
func (r *resolver) foreign(serving []Entry) error {
	vendor, rest, ok := strings.Cut(r.name, ":")
	if len(serving) > 0 || !ok || rest == "" {
		return nil
	}
	return &Error{
		What: fmt.Sprintf("%s is %q: no provider here serves models of %s", r.nameFrom, r.name, vendor),
		Fix:  "set it to a model for codex, such as gpt-5.5, or describe the provider under providers in config.yaml",
	}
}

// has reports whether there is a credential for e.
func (r *resolver) has(e Entry) bool {
	return e.AuthMode == Subscription && r.in.Login || r.key(e) != ""
}

func (r *resolver) key(e Entry) string {
	for _, name := range e.AuthEnv {
		if strings.TrimSpace(r.in.Env(name)) != "" {
			return name
		}
	}
	return ""
}

// choice fills in what the entry comes to.
func (r *resolver) choice(e Entry, why string) (Choice, error) {
	c := Choice{Entry: e, Model: r.name, Why: why}
	if e.AuthMode == Subscription {
		return c, nil
	}
	c.KeyName, c.URL = r.key(e), cmp.Or(e.BaseURL, openAIURL)
	moved := ""
	for _, name := range e.BaseEnv {
		if moved = strings.TrimRight(r.in.Env(name), "/"); moved != "" {
			c.URL = moved
			break
		}
	}
	if e.ModelEnv != "" {
		e.ModelID = cmp.Or(r.in.Env(e.ModelEnv), e.ModelID)
	}
	c.Model = cmp.Or(e.ModelID, c.Model)
	if u, err := url.Parse(c.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return Choice{}, &Error{ // the URL may hold a password
			What: fmt.Sprintf("the provider %s (chosen by %s) has a base URL that is none such as %s", e.Name, why, openAIURL),
			Fix:  "correct " + cmp.Or(strings.Join(e.BaseEnv, " or "), "its base_url in config.yaml"),
		}
	}
	if c.KeyName == "" && len(e.AuthEnv) > 0 && (moved == "" || e.AuthMode != OpenAI) {
		return Choice{}, &Error{
			What: fmt.Sprintf("the provider %s (chosen by %s) has no key", e.Name, why),
			Fix:  "set " + strings.Join(e.AuthEnv, " or "),
		}
	}
	return c, nil
}
