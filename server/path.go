package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// plainPath brings a path into the one form that routes are written in. Clients
// build //v1/card and /a2a/ from a base URL that ends in a slash, escape what
// need not be, and may put a tenant in front of the paths of 1.0. There are no
// tenants here, so whatever name that is, it is the same agent.
func plainPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := r.URL.EscapedPath()
		if plain := plain(given); plain != given || r.URL.RawPath != "" {
			u := *r.URL
			if path, err := url.PathUnescape(plain); err == nil {
				u.Path = path
			}
			if u.RawPath = ""; u.EscapedPath() != plain {
				u.RawPath = plain // there is a slash in a name
			}
			r2 := *r
			r2.URL = &u
			r = &r2
		}
		next.ServeHTTP(w, r)
	})
}

func plain(path string) string {
	names := strings.Split(path, "/")
	last := names[len(names)-1]
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	for i, name := range names {
		if raw, err := url.PathUnescape(name); err == nil {
			names[i] = url.PathEscape(raw)
		}
	}
	if len(names) > 1 && !ofREST(names[0]) && ofRESTv1(names[1]) {
		names = names[1:]
	}
	path = "/" + strings.Join(names, "/")
	if n := len(names); last == "" && n > 0 && (names[n-1] == "tasks" || names[n-1] == "pushNotificationConfigs") {
		path += "/" // what is behind it is an id, and an empty one is not the list
	}
	return path
}

// routePath is the path that the router looks at.
func routePath(r *http.Request) string {
	if r.URL.RawPath != "" {
		return r.URL.RawPath
	}
	return r.URL.Path
}
