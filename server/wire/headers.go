package wire

import (
	"mime"
	"net/url"
	"strconv"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// CheckVersion refuses a call that names a version other than ours, in its header
// A2A-Version or in its query. The patch number does not count. Which of the two
// versions was named does not matter: names and shapes of methods tell them
// apart, and clients are known to send the one with the header of the other.
func CheckVersion(header, rawQuery string) error {
	named := strings.TrimSpace(header)
	if named == "" && rawQuery != "" {
		query, _ := url.ParseQuery(rawQuery) // what is malformed is said elsewhere
		named = versionQuery(query)
	}
	if named == "" || spoken(named) {
		return nil
	}
	return a2a.NewError(a2a.ErrVersionNotSupported, "A2A version "+Quote(named)+" is not spoken here; 1.0 and 0.3 are").
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

// CheckContentType accepts JSON, and a missing header, since nothing else can be
// meant. It also keeps out the requests that any web page may send unasked.
func CheckContentType(given string) error {
	if given == "" {
		return nil
	}
	media, params, err := mime.ParseMediaType(given)
	switch charset, named := params["charset"]; {
	case err != nil || media != JSON && media != A2aJSON:
		return a2a.NewError(a2a.ErrUnsupportedContentType, "Content-Type is "+Quote(given)+"; send application/json")
	case named && !strings.EqualFold(charset, "utf-8"):
		return a2a.NewError(a2a.ErrUnsupportedContentType, "the charset is "+Quote(charset)+"; JSON is sent in utf-8")
	}
	return nil
}

// a2aJSON is the media type that the HTTP+JSON binding has of its own. Clients
// older than it want plain JSON.
const (
	JSON    = "application/json"
	A2aJSON = "application/a2a+json"
)

// AnswerMedia is the media type of an answer over HTTP+JSON: its own, if the headers
// Accept name it.
func AnswerMedia(accept []string) string {
	for _, line := range accept {
		for accepted := range strings.SplitSeq(line, ",") {
			media, params, err := mime.ParseMediaType(accepted)
			if err == nil && media == A2aJSON && wanted(params["q"]) {
				return A2aJSON
			}
		}
	}
	return JSON
}

// wanted reports whether a quality is not zero.
func wanted(q string) bool {
	n, err := strconv.ParseFloat(q, 64)
	return err != nil || n > 0
}
