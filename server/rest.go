package server

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
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
		e := wire.ToREST(refused.err())
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
		if err := wire.CheckContentType(r.Header.Get("Content-Type")); err != nil {
			return err
		}
	}
	if err := spokenHere(r); err != nil {
		return err
	}
	if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
		return wire.InvalidParams("the query string is malformed; write what is special in it as %%XX")
	}
	if len(body) == 0 {
		return nil
	}
	weight, err := wire.ScanREST(body)
	if err != nil {
		return err
	}
	return weigh(r, weight)
}

func writeREST(w http.ResponseWriter, r *http.Request, status int, v any) {
	w.Header().Add("Vary", "Accept")
	writeAs(w, wire.AnswerMedia(r.Header.Values("Accept")), status, v)
}

func writeRESTError(w http.ResponseWriter, r *http.Request, err error) {
	e := wire.ToREST(err)
	if e.Error.Code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	writeREST(w, r, e.Error.Code, e)
}
