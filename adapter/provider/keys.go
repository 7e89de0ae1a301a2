package provider

import (
	"regexp"
	"slices"
)

// CodexLogin is the variable that codex itself takes a login from.
const CodexLogin = "CODEX_ACCESS_TOKEN"

// keyOfMaker matches the names of keys of those who sell models and nothing else that an
// agent may have business with: their name in front, as in ANTHROPIC_AUTH_TOKEN and
// OPENAI_API_KEY_2.
var keyOfMaker = regexp.MustCompile(`(?i)^(` +
	`AI21|ALEPH_ALPHA|ANTHROPIC|ANYSCALE|ARK|AZURE_OPENAI|BAICHUAN|BASETEN|CEREBRAS|CHUTES|CLAUDE|CODESTRAL|COHERE|` +
	`DASHSCOPE|DEEPINFRA|DEEPSEEK|DOUBAO|FEATHERLESS|FIREWORKS(_AI)?|FRIENDLI|GEMINI|GLM|GROK|GROQ|HUNYUAN|HYPERBOLIC|` +
	`JINA|KIMI|LITELLM|LLM|LM_?STUDIO|MINIMAX|MISTRAL|MOONSHOT|NEBIUS|NOVITA|OLLAMA|OPENAI|OPENCODE|OPENROUTER|` +
	`PERPLEXITY(AI)?|POE|PORTKEY|PPLX|QIANFAN|QWEN|REPLICATE|REQUESTY|SAMBANOVA|SILICONFLOW|STEPFUN|TOGETHER(_?AI)?|` +
	`UPSTAGE|VENICE|VLLM|VOYAGE|WATSONX|XAI|Z_?AI|ZHIPU(AI)?` +
	`)_([A-Z]+_)*(KEY|TOKEN)(_[0-9]+)?$`)

// keysForModels are those of others who sell models. What opens more than these, such as
// HF_TOKEN, AWS_SECRET_ACCESS_KEY and GITHUB_TOKEN, is the agent's to use.
func keysForModels() []string {
	return []string{
		"AI_GATEWAY_API_KEY", "AWS_BEARER_TOKEN_BEDROCK", "AZURE_AI_API_KEY", "AZURE_API_KEY", "CO_API_KEY",
		"CODEX_API_KEY", CodexLogin, "CURSOR_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY",
		"HUGGINGFACE_API_KEY", "LM_API_KEY", "NVIDIA_API_KEY", "NVIDIA_NIM_API_KEY",
	}
}

// Keys returns the variables of the registry that may hold a key, in use or not.
func Keys(own []Entry) []string {
	var names []string
	for _, e := range merged(own) {
		names = append(names, e.AuthEnv...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// IsKey reports whether a variable is one of a key for a model, going by its name.
func IsKey(name string) bool {
	return keyOfMaker.MatchString(name) || slices.Contains(keysForModels(), name)
}
