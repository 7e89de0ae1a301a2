package binding

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/Molecule-AI/molecule-codex-runtime/server/bounds"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// restOpen checks version, query, content type and body, and returns the body. If
// it returns false, it has answered.
func (b *Bindings) restOpen(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	body, refused := b.readREST(w, r)
	var err error
	if refused == nil {
		err = checkREST(r, body)
		refused, _ = errors.AsType[*bounds.BodyError](err)
	}
	switch {
	case refused != nil:
		refused.Head(w)
		e := wire.ToREST(refused.Err())
		e.Error.Code = refused.Status
		respond.REST(w, r, refused.Status, e)
	case err != nil:
		respond.RESTError(w, r, err)
	default:
		return body, true
	}
	return nil, false
}

func (b *Bindings) readREST(w http.ResponseWriter, r *http.Request) ([]byte, *bounds.BodyError) {
	if r.Method != http.MethodPost {
		return nil, nil
	}
	return bounds.ReadBody(w, r, b.cfg.MaxBody)
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
	return bounds.Weigh(r, weight)
}
