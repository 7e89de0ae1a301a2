package failure

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// providerURL is the part of codex's words that names the model's endpoint,
// which is the operator's business and not the caller's.
var providerURL = regexp.MustCompile(`,? ?\(?url: [^\s,)]+\)?`)

// sayable prepares an error text of codex for a caller, of which secrets were taken.
func sayable(message string) string {
	return strings.TrimRight(providerURL.ReplaceAllString(message, ""), ". ")
}

// endpointWords are the endpoint's own words where codex hands on the whole of a refusal, as it does with those of
// status 400: over HTTP the body, by a WebSocket the event (seen on 0.169.0).
func endpointWords(message string) string {
	var refusal struct{ Error struct{ Message string } }
	if !strings.HasPrefix(message, "{") || json.Unmarshal([]byte(message), &refusal) != nil || refusal.Error.Message == "" {
		return message
	}
	return refusal.Error.Message
}

// missingKey is how codex says that the variable of a provider's env_key is not set.
const missingKey = "Missing environment variable"

// missingName finds the variable in [missingKey]'s words.
var missingName = regexp.MustCompile(missingKey + ": `([^`]+)`")

// MissingVariable is the environment variable of a provider's key that is not set, as the words of an error
// have it; empty if they are about none.
func MissingVariable(words string) string {
	if m := missingName.FindStringSubmatch(words); m != nil {
		return m[1]
	}
	return ""
}

func kindOf(name string, status int, message string) agent.FailureKind {
	switch {
	case name == "unauthorized", status == 401, status == 403, strings.HasPrefix(message, missingKey):
		return agent.FailAuth
	case name == UsageLimit, name == "rateLimitExceeded", status == 429, rateLimited(message):
		return agent.FailLimit
	case name == "contextWindowExceeded", name == "other" && slices.ContainsFunc(fullContext, func(words string) bool { return strings.Contains(message, words) }):
		return agent.FailContext
	}
	return agent.FailModel
}

// fullContext is in what endpoints say of a full context that have no code for it: vLLM and those that
// go by it, and llama.cpp.
var fullContext = []string{"maximum context length", "exceeds the available context size"} //nolint:gochecknoglobals // a constant

// rateLimited reports whether words are codex's own about a rate limit that came
// in the stream: it has no name for it while it tries again.
func rateLimited(words string) bool {
	return strings.HasPrefix(words, "rate limit exceeded: ")
}

// UsageLimit is codex's name of the error where the account's allowance is used up.
const UsageLimit = "usageLimitExceeded"

// Status returns the status of HTTP that an error is about, or 0. One that codex has no name for only
// its words have (seen on 0.169.0).
func Status(failed *appserver.TurnError) int {
	name, status := failed.Code()
	if name == "other" {
		_, _ = fmt.Sscanf(failed.Message, "unexpected status %d", &status)
	}
	return status
}

// Unreadable reports whether the provider has refused to read what it was asked, and would do so again.
// codex calls a status 400 badRequest or other, and says no more of it than the provider does. A link that
// was cut is other, too (seen on 0.169.0).
func Unreadable(failed *appserver.TurnError) bool {
	status := Status(failed)
	if status == 0 {
		name, _ := failed.Code()
		cut := strings.HasPrefix(failed.Message, "stream disconnected")
		return !cut && slices.Contains([]string{"badRequest", "cyberPolicy", "other"}, name)
	}
	return slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}, status)
}
