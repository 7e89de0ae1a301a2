package provider

import (
	"errors"
	"strings"
	"testing"
)

// env is a lookup in a list of NAME=value.
func env(vars ...string) func(string) string {
	return func(name string) string {
		for _, kv := range vars {
			if n, v, _ := strings.Cut(kv, "="); n == name {
				return v
			}
		}
		return ""
	}
}

var own = Entry{Name: "house", AuthMode: Compatible, Prefixes: []string{"house-"}, BaseURL: "http://house/v1", AuthEnv: []string{"HOUSE_KEY", "HOUSE_OLD_KEY"}, Slug: "h"}

func TestResolve(t *testing.T) {
	const key, mini = "OPENAI_API_KEY=k", "MINIMAX_API_KEY=m"
	for name, c := range map[string]struct {
		in   Input
		want string // entry model url key
	}{
		"nothing":                         {Input{Env: env()}, "openai-subscription   "},
		"key":                             {Input{Env: env(key)}, "openai-api  https://api.openai.com/v1 OPENAI_API_KEY"},
		"key-elsewhere":                   {Input{Env: env(key, "OPENAI_BASE_URL=http://b/v1/")}, "openai-api  http://b/v1 OPENAI_API_KEY"},
		"login":                           {Input{Env: env(), Login: true, Model: "gpt-5.4"}, "openai-subscription gpt-5.4  "},
		"login-before-key":                {Input{Env: env(key), Login: true}, "openai-subscription   "},
		"login-is-not-for-minimax":        {Input{Env: env(mini), Login: true, Model: "codex-minimax-m2.7"}, "minimax-token-plan codex-MiniMax-M2.7 https://api.minimax.io/v1 MINIMAX_API_KEY"},
		"model-any-case":                  {Input{Env: env(mini), Model: "MiniMax-X"}, "minimax-token-plan codex-MiniMax-M2.7 https://api.minimax.io/v1 MINIMAX_API_KEY"},
		"model-with-key-before-without":   {Input{Env: env(key), Model: "gpt-5.5"}, "openai-api gpt-5.5 https://api.openai.com/v1 OPENAI_API_KEY"},
		"model-without-any":               {Input{Env: env(mini), Model: "gpt-5.5"}, "openai-subscription gpt-5.5  "},
		"unknown-model-goes-by-key":       {Input{Env: env(mini), Model: "o9"}, "minimax-token-plan codex-MiniMax-M2.7 https://api.minimax.io/v1 MINIMAX_API_KEY"},
		"minimax-legacy-names":            {Input{Env: env(mini, "MINIMAX_API_BASE=http://m/v1", "CODEX_MINIMAX_MODEL=codex-MiniMax-M3"), Model: "minimax-x"}, "minimax-token-plan codex-MiniMax-M3 http://m/v1 MINIMAX_API_KEY"},
		"platform-only-by-name":           {Input{Env: env("MOLECULE_LLM_USAGE_TOKEN=t", key), Model: "gpt-5.5"}, "openai-api gpt-5.5 https://api.openai.com/v1 OPENAI_API_KEY"},
		"platform":                        {Input{Env: env("MOLECULE_RESOLVED_PROVIDER=platform", "MOLECULE_LLM_USAGE_TOKEN=t", "MOLECULE_LLM_BASE_URL=http://p/v1", key), Model: "gpt-5.5"}, "platform gpt-5.5 http://p/v1 MOLECULE_LLM_USAGE_TOKEN"},
		"platform-default-base":           {Input{Env: env("LLM_PROVIDER=platform", "MOLECULE_LLM_USAGE_TOKEN=t")}, "platform  https://api.moleculesai.app/api/v1/internal/llm/openai/v1 MOLECULE_LLM_USAGE_TOKEN"},
		"platform-by-openai-names":        {Input{Env: env(key, "OPENAI_BASE_URL=http://llm/openai/v1", "MOLECULE_MODEL=gpt-5.5", "MODEL=gpt-5.4")}, "openai-api gpt-5.5 http://llm/openai/v1 OPENAI_API_KEY"},
		"resolved-before-llm-before-prov": {Input{Env: env("MOLECULE_RESOLVED_PROVIDER=openai-api", "LLM_PROVIDER=minimax", "MODEL_PROVIDER=platform", key)}, "openai-api  https://api.openai.com/v1 OPENAI_API_KEY"},
		"llm-before-model-provider":       {Input{Env: env("LLM_PROVIDER=minimax", "MODEL_PROVIDER=openai-api", mini, key)}, "minimax-token-plan codex-MiniMax-M2.7 https://api.minimax.io/v1 MINIMAX_API_KEY"},
		"model-provider-names-one":        {Input{Env: env("MODEL_PROVIDER=openai-api", key), Login: true, Model: "gpt-5.5"}, "openai-api gpt-5.5 https://api.openai.com/v1 OPENAI_API_KEY"},
		"model-provider-is-a-model":       {Input{Env: env("MODEL_PROVIDER=gpt-5.3-codex", key), Model: "gpt-5.5"}, "openai-api gpt-5.3-codex https://api.openai.com/v1 OPENAI_API_KEY"},
		"model-before-model-provider":     {Input{Env: env("MODEL=gpt-5.4", "MODEL_PROVIDER=gpt-5.3", key), Model: "gpt-5.5"}, "openai-api gpt-5.4 https://api.openai.com/v1 OPENAI_API_KEY"},
		"yaml-provider":                   {Input{Env: env(key), Login: true, Provider: "openai-api"}, "openai-api  https://api.openai.com/v1 OPENAI_API_KEY"},
		"environment-before-yaml":         {Input{Env: env(key, "MODEL_PROVIDER=openai-api"), Provider: "minimax"}, "openai-api  https://api.openai.com/v1 OPENAI_API_KEY"},
		"openai-with-login":               {Input{Env: env(key), Login: true, Provider: "openai"}, "openai-subscription   "},
		"openai-with-key":                 {Input{Env: env(key), Provider: "OpenAI"}, "openai-api  https://api.openai.com/v1 OPENAI_API_KEY"},
		"provider-in-front-of-the-model":  {Input{Env: env(key), Model: "openai:gpt-5.5"}, "openai-api gpt-5.5 https://api.openai.com/v1 OPENAI_API_KEY"},
		"own":                             {Input{Env: env("HOUSE_OLD_KEY=k"), Model: "house-1", Own: []Entry{own}}, "house house-1 http://house/v1 HOUSE_OLD_KEY"},
		"own-by-slug":                     {Input{Env: env("HOUSE_KEY=k", "MODEL_PROVIDER=h"), Own: []Entry{own}}, "house  http://house/v1 HOUSE_KEY"},
		"own-in-the-place-of-a-shipped":   {Input{Env: env("K=k"), Model: "gpt-1", Provider: "openai-api", Own: []Entry{{Name: "openai-api", AuthMode: OpenAI, BaseURL: "http://o/v1", AuthEnv: []string{"K"}}}}, "openai-api gpt-1 http://o/v1 K"},
		"no-key-wanted":                   {Input{Env: env(), Provider: "lan", Own: []Entry{{Name: "lan", AuthMode: Compatible, BaseURL: "http://lan/v1"}}}, "lan  http://lan/v1 "},
		"openai-base-without-key":         {Input{Env: env("OPENAI_BASE_URL=http://lan/v1"), Provider: "openai-api"}, "openai-api  http://lan/v1 "},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Resolve(c.in)
			if s := strings.Join([]string{got.Entry.Name, got.Model, got.URL, got.KeyName}, " "); err != nil || s != c.want {
				t.Errorf("%q, %v; want %q", s, err, c.want)
			}
		})
	}
}

func TestWhatCannotBeResolvedSaysWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		in   Input
		what string
		fix  string
	}{
		// The platform once wrote a provider into model, and agents hung in silence.
		"provider-as-model":     {Input{Env: env(), File: "c.yaml", Model: "minimax-token-plan"}, `c.yaml: model is "minimax-token-plan", which is the name of a provider`, "gpt-5.5"},
		"slug-as-model":         {Input{Env: env("MODEL=MiniMax"), Model: "gpt-5.5"}, `MODEL is "MiniMax", which`, "MODEL_PROVIDER"},
		"openai-as-model":       {Input{Env: env(), Model: "openai"}, `config.yaml: model is "openai", which`, ""},
		"platform-as-model":     {Input{Env: env("MOLECULE_MODEL=platform")}, `MOLECULE_MODEL is "platform", which`, ""},
		"provider-twice":        {Input{Env: env(), Model: "openai:platform"}, `is "platform", which`, ""},
		"own-as-model":          {Input{Env: env(), Model: "House", Own: []Entry{own}}, `is "House", which`, ""},
		"unknown-provider":      {Input{Env: env("LLM_PROVIDER=nobody")}, `LLM_PROVIDER names the provider "nobody"`, "openai-subscription, openai-api, minimax-token-plan, platform"},
		"unknown-in-yaml":       {Input{Env: env(), File: "c.yaml", Provider: "nobody"}, `c.yaml: provider names the provider "nobody"`, "providers in config.yaml"},
		"resolved-is-no-model":  {Input{Env: env("MOLECULE_RESOLVED_PROVIDER=gpt-5.5")}, "MOLECULE_RESOLVED_PROVIDER names", ""},
		"other-vendor":          {Input{Env: env("OPENAI_API_KEY=k"), Model: "anthropic:claude-opus-4-7"}, "no provider here serves models of anthropic", "gpt-5.5"},
		"no-key":                {Input{Env: env(), Model: "minimax-x"}, "minimax-token-plan (chosen by the model) has no key", "set MINIMAX_API_KEY"},
		"platform-without-own":  {Input{Env: env("MODEL_PROVIDER=platform", "OPENAI_API_KEY=k")}, "platform (chosen by MODEL_PROVIDER) has no key", "set MOLECULE_LLM_USAGE_TOKEN"},
		"blank-key":             {Input{Env: env("MODEL_PROVIDER=openai-api", "OPENAI_API_KEY= ")}, "has no key", "set OPENAI_API_KEY"},
		"minimax-base-no-key":   {Input{Env: env("MINIMAX_API_BASE=http://m/v1"), Model: "minimax-x"}, "has no key", ""},
		"no-url":                {Input{Env: env("OPENAI_API_KEY=k", "OPENAI_BASE_URL=nonsense")}, "has a base URL that is none", "correct OPENAI_BASE_URL"},
		"key-of-another-is-not": {Input{Env: env("MINIMAX_API_KEY=m"), Provider: "openai-api"}, "has no key", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Resolve(c.in)
			wrong, ok := errors.AsType[*Error](err)
			if !ok || !strings.Contains(wrong.What, c.what) || !strings.Contains(wrong.Fix, c.fix) {
				t.Errorf("%+v, %v; want %q and %q", got, err, c.what, c.fix)
			}
		})
	}
}

func TestKeysAreAllOfThem(t *testing.T) {
	keys := strings.Join(Keys([]Entry{own}), " ")
	for _, want := range []string{"OPENAI_API_KEY", "MINIMAX_API_KEY", "MOLECULE_LLM_USAGE_TOKEN", "HOUSE_KEY", "HOUSE_OLD_KEY"} {
		if !strings.Contains(keys, want) {
			t.Errorf("no %s in %s", want, keys)
		}
	}
}
