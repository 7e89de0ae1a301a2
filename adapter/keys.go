package adapter

import (
	"slices"
	"strings"
)

// hidden returns the arguments that keep the keys of providers from the commands that codex
// runs, where codex itself has them: it goes by its own configuration, in which any of them
// may be in use, or by a login in its environment. Each is set to nothing, which adds to the
// operator's shell_environment_policy, as in [Provider.hideKey]. They are in one table because
// a key would be split at the dots of a name, and so it takes back what stands before it.
func (l Launch) hidden(config map[string]any) []string {
	names := l.keys(config)
	if len(names) == 0 {
		return nil
	}
	entries := make([]string, 0, len(names))
	for _, name := range names {
		entries = append(entries, tomlString(name)+`=""`)
	}
	return override("shell_environment_policy.set", "{"+strings.Join(entries, ",")+"}")
}

// keys are the variables by which codex may have a provider's key, in their order, but for
// those that the operator leaves to the commands. What the operator's providers name is among
// them without being in our environment: codex also reads variables from a file in its home.
func (l Launch) keys(config map[string]any) (names []string) {
	if !l.Workspace && !l.Provider.ours() { // else the operator's providers are not used
		names = namedKeys(config)
	}
	for _, kv := range ChildEnv(l.Environ, l.Home, l.Provider) {
		if name, value, _ := strings.Cut(kv, "="); value != "" && l.Provider.isKey(name) {
			names = append(names, name)
		}
	}
	policy := tableOf(config, "shell_environment_policy")
	names = slices.DeleteFunc(names, func(name string) bool {
		return name == "" || strings.ContainsAny(name, "=\x00") || leaves(policy, name)
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// namedKeys are the variables from which the providers of a configuration take what they show
// to their endpoints.
func namedKeys(config map[string]any) (names []string) {
	providers := tableOf(config, "model_providers")
	for id := range providers {
		one := tableOf(providers, id)
		names = append(names, textOf(one, "env_key"))
		headers := tableOf(one, "env_http_headers")
		for header := range headers {
			names = append(names, textOf(headers, header))
		}
	}
	return names
}

// leaves reports whether the operator's shell_environment_policy leaves a variable to the
// commands: by a value for it, or by its whole name among those that they have. A pattern is
// about variables in general, and says nothing of a key.
func leaves(policy map[string]any, name string) bool {
	if _, ok := tableOf(policy, "set")[name]; ok {
		return true
	}
	only, _ := policy["include_only"].([]any)
	return slices.ContainsFunc(only, func(one any) bool {
		text, _ := one.(string)
		return strings.EqualFold(text, name) // as codex compares them
	})
}
