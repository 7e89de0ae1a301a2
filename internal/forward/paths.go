package forward

import (
	"net/http"
	"slices"
)

// asksTheModel reports whether a request is one that codex makes of a model's endpoint
// (0.169.0). The key opens more there, such as the files and the stored responses of its
// account, and whoever finds codex's token is not to have that. A path is compared as a
// whole, so that none leads out of the endpoint's own.
func asksTheModel(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet:
		return r.URL.Path == "/models" || isUpgrade(r)
	case http.MethodPost:
		return slices.Contains([]string{
			"/responses", "/responses/compact", "/alpha/search", "/images/generations", "/images/edits", "/memories/trace_summarize",
		}, r.URL.Path)
	}
	return false
}
