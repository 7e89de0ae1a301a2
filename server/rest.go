package server

import (
	"cmp"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// restOpen checks version, query, content type and body, and returns the body. If
// it returns false, it has answered.
func (s *Server) restOpen(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	body, refused := s.readREST(w, r)
	var err error
	if refused == nil {
		err = checkREST(r, body)
		refused, _ = errors.AsType[*bodyError](err)
	}
	switch {
	case refused != nil:
		refused.head(w)
		e := toREST(refused.err())
		e.Error.Code = refused.status
		writeREST(w, r, refused.status, e)
	case err != nil:
		writeRESTError(w, r, err)
	default:
		return body, true
	}
	return nil, false
}

func (s *Server) readREST(w http.ResponseWriter, r *http.Request) ([]byte, *bodyError) {
	if r.Method != http.MethodPost {
		return nil, nil
	}
	return s.readBody(w, r)
}

func checkREST(r *http.Request, body []byte) error {
	if len(body) > 0 { // cancel and subscribe have none
		if err := checkContentType(r); err != nil {
			return err
		}
	}
	if err := checkVersion(r); err != nil {
		return err
	}
	if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
		return invalidParams("the query string is malformed; write what is special in it as %%XX")
	}
	if len(body) == 0 {
		return nil
	}
	s, err := scanBody(body, inRequest)
	if err = cmp.Or(err, s.fault); err != nil {
		return err
	}
	return weigh(r, s.weight)
}

// a2aJSON is the media type that the HTTP+JSON binding has of its own. Clients
// older than it want plain JSON, so whoever names it gets it.
const a2aJSON = "application/a2a+json"

func restMedia(r *http.Request) string {
	for _, line := range r.Header.Values("Accept") {
		for accepted := range strings.SplitSeq(line, ",") {
			media, params, err := mime.ParseMediaType(accepted)
			if err == nil && media == a2aJSON && wanted(params["q"]) {
				return a2aJSON
			}
		}
	}
	return plainJSON
}

// wanted reports whether a quality is not zero.
func wanted(q string) bool {
	n, err := strconv.ParseFloat(q, 64)
	return err != nil || n > 0
}

func writeREST(w http.ResponseWriter, r *http.Request, status int, v any) {
	w.Header().Add("Vary", "Accept")
	writeAs(w, restMedia(r), status, v)
}

func writeRESTError(w http.ResponseWriter, r *http.Request, err error) {
	e := toREST(err)
	if e.Error.Code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	writeREST(w, r, e.Error.Code, e)
}
