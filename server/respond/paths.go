package respond

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// AtJSONRPC reports whether a path is one of the JSON-RPC door.
func AtJSONRPC(path string) bool { return path == "/" || path == "/a2a" }

// OfREST reports whether a path is one of the HTTP+JSON bindings, or would be one
// if there were something at it.
func OfREST(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first == "v1" || first == "agent" || ofRESTv1(first)
}

// ofRESTv1 reports whether a path that begins so is one of 1.0.
func ofRESTv1(segment string) bool {
	return segment == "tasks" || segment == "extendedAgentCard" || strings.HasPrefix(segment, "message:")
}

// Plain brings a path into the one form that routes are written in. Clients build //v1/card
// and /a2a/ from a base URL that ends in a slash, escape what need not be, and may put a
// tenant in front of the paths of 1.0. There are no tenants here: every name is that of the
// same agent.
func Plain(path string) string {
	names := strings.Split(path, "/")
	last := names[len(names)-1]
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	for i, name := range names {
		if raw, err := url.PathUnescape(name); err == nil {
			names[i] = url.PathEscape(raw)
		}
	}
	if len(names) > 1 && !OfREST(names[0]) && ofRESTv1(names[1]) {
		names = names[1:]
	}
	path = "/" + strings.Join(names, "/")
	if n := len(names); last == "" && n > 0 && (names[n-1] == "tasks" || names[n-1] == "pushNotificationConfigs") {
		path += "/" // what is behind it is an id, and an empty one is not the list
	}
	return path
}

// RoutePath is the path that the router looks at.
func RoutePath(r *http.Request) string {
	if r.URL.RawPath != "" {
		return r.URL.RawPath
	}
	return r.URL.Path
}

// FilesPath is where the copies of files that tasks hand out are served.
const FilesPath = "/files/"

// IsCard reports whether the agent card is served at a path.
func IsCard(path string) bool { return slices.Contains(CardPaths, path) }

// CardPaths are where the agent card is served.
var CardPaths = []string{"/", a2asrv.WellKnownAgentCardPath, "/.well-known/agent.json", "/agent-card"} //nolint:gochecknoglobals // a constant table

// BaseURL is where the caller reached us. Forwarding headers are not believed:
// behind a proxy, the public URL says it, if there is one.
func BaseURL(r *http.Request, publicURL string) string {
	if publicURL != "" {
		return strings.TrimSuffix(publicURL, "/")
	}
	host := r.Host
	if host == "" { // HTTP/1.0
		if a, ok := r.Context().Value(http.LocalAddrContextKey).(fmt.Stringer); ok {
			host = a.String()
		}
	}
	if r.TLS != nil {
		return "https://" + host
	}
	return "http://" + host
}
