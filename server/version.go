package server

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// checkVersion refuses a call that names a version other than ours, in the
// header or in the query. The patch number does not count. Which of the two
// versions was named does not matter: names and shapes of methods tell them
// apart, and clients are known to send the one with the header of the other.
func checkVersion(r *http.Request) error {
	named := strings.TrimSpace(r.Header.Get(a2a.SvcParamVersion))
	if named == "" && r.URL.RawQuery != "" {
		named = versionQuery(r.URL.Query())
	}
	if named == "" || spoken(named) {
		return nil
	}
	return a2a.NewError(a2a.ErrVersionNotSupported, "A2A version "+quote(named)+" is not spoken here; 1.0 and 0.3 are").
		WithDetails(map[string]any{"supportedVersions": []string{"1.0", "0.3"}})
}

// versionQuery is the version that a query names; like a header, the name of the
// parameter may be written in any case.
func versionQuery(query url.Values) string {
	for name, values := range query {
		if strings.EqualFold(name, a2a.SvcParamVersion) && strings.TrimSpace(values[0]) != "" {
			return strings.TrimSpace(values[0])
		}
	}
	return ""
}

func spoken(version string) bool {
	for _, ours := range []string{"1.0", "0.3"} {
		rest, ok := strings.CutPrefix(version, ours)
		if ok && (rest == "" || rest[0] == '.' && digits(rest[1:])) {
			return true
		}
	}
	return false
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// serviceHeaders brings the headers that the handler sees as service parameters
// into one form: extensions are lists under their 1.0 name, one value an entry.
// Credentials of callers stop here.
func serviceHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := r.Header.Clone()
		var extensions []string
		for _, name := range []string{a2a.SvcParamExtensions, "X-" + a2a.SvcParamExtensions} {
			for _, line := range h.Values(name) {
				for uri := range strings.SplitSeq(line, ",") {
					if uri = strings.TrimSpace(uri); uri != "" {
						extensions = append(extensions, uri)
					}
				}
			}
			h.Del(name)
		}
		for _, uri := range extensions {
			h.Add(a2a.SvcParamExtensions, uri)
		}
		h.Del("Authorization")
		h.Del("Cookie")
		r2 := *r
		r2.Header = h
		next.ServeHTTP(w, &r2)
	})
}
