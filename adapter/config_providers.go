package adapter

import (
	"net/url"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/provider"
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// providers returns the registry entries of the workspace's own. One that cannot
// be used is warned about and left out. The same key also holds the choices of a
// form of the platform's, which are texts: those are no entries.
func providers(s section) []provider.Entry {
	node := s.quiet("providers")
	if node == nil {
		return nil
	}
	if node.Kind != yaml.SequenceNode {
		s.warn("providers", "a list is wanted here; this is ignored")
		return nil
	}
	var out []provider.Entry
	for _, item := range node.Content {
		if item.Kind == yaml.AliasNode {
			item = item.Alias
		}
		if item.Kind != yaml.MappingNode {
			continue
		}
		inner := section{file: s.file, path: "providers.", values: map[string]*yaml.Node{}, warnings: s.warnings}
		inner.fill(item)
		if e, wrong := providerEntry(inner); wrong != "" {
			s.add(item.Line, "providers: "+wrong+"; this entry is left out")
		} else {
			out = append(out, e)
		}
	}
	return out
}

// providerEntry returns one entry, or what is wrong with it.
func providerEntry(s section) (e provider.Entry, wrong string) {
	e = provider.Entry{
		Name: s.text("name", ""), AuthMode: s.text("auth_mode", provider.Compatible),
		Prefixes: s.list("model_prefixes"), Aliases: s.list("model_aliases"),
		BaseURL: strings.TrimRight(s.text("base_url", ""), "/"), AuthEnv: s.list("auth_env"),
		Slug: s.text("model_provider_slug", ""), ModelID: s.text("model_id_override", ""),
	}
	if wire := s.text("wire_api", "responses"); wire != "responses" {
		s.warn("wire_api", "codex speaks responses only; that is used")
	}
	if e.AuthMode == provider.OpenAI && e.BaseURL == "" {
		e.BaseEnv = []string{"OPENAI_BASE_URL"}
	}
	switch u, err := url.Parse(e.BaseURL); {
	case e.Name == "":
		return e, "one has no name"
	case e.AuthMode != provider.Subscription && e.AuthMode != provider.OpenAI && e.AuthMode != provider.Compatible:
		return e, e.Name + " has an auth_mode that is none of " + strings.Join([]string{provider.Subscription, provider.OpenAI, provider.Compatible}, ", ")
	case e.AuthMode == provider.Compatible && e.BaseURL == "":
		return e, e.Name + " has no base_url"
	case err != nil || e.BaseURL != "" && (u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil):
		return e, e.Name + " has a base_url that is no URL such as https://example.com/v1"
	}
	for _, name := range e.AuthEnv {
		if !variableName.MatchString(name) {
			return e, e.Name + " has an auth_env that is no name of a variable"
		}
	}
	return e, ""
}
