package forward

import (
	"net/http"
	"slices"
	"strings"
)

// meant reports whether a request was sent to the forwarder by a program that knows
// where it listens. A page in a browser gives itself away, and so does a name that was
// made to lead here.
func (f *Forwarder) meant(r *http.Request) bool {
	if r.Host != f.host || r.Header["Origin"] != nil {
		return false
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "Sec-Fetch-") {
			return false
		}
	}
	return true
}

// headers are those that codex (0.169.0) sends with what [asksTheModel] lets through.
// Others may mean something to an endpoint that goes by the key: an organization or a
// project that is charged, another way to log in, a method in the place of the request's.
var headers = []string{ //nolint:gochecknoglobals // a constant table
	"Accept", "Content-Encoding", "Content-Type", "User-Agent", // the length is the transport's to say
	"Originator", "Version", "Session-Id", "Session_id", "Thread-Id", "Conversation_id", "Traceparent", "Tracestate",
	"Openai-Beta", "X-Client-Request-Id", "X-Openai-Subagent", "X-Openai-Memgen-Request",
	"X-Openai-Encrypted-Tool-Arguments", "X-Openai-Tool-Output-Truncation-Policy", "X-Responsesapi-Include-Timing-Metrics",
}

// families begin the names of more of them.
var families = []string{"X-Codex-", "X-Openai-Internal-Codex-"} //nolint:gochecknoglobals // a constant table

// passing returns what of a request's header goes on.
func passing(header http.Header) http.Header {
	out := make(http.Header, len(header)+2)
	for name, values := range header {
		begins := func(family string) bool { return strings.HasPrefix(name, family) }
		if slices.Contains(headers, name) || slices.ContainsFunc(families, begins) {
			out[name] = values
		}
	}
	return out
}
