package server

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A bodyError says why a body could not be read, and with which status.
type bodyError struct {
	status int
	text   string
}

// readBody reads a whole body within the bounds of the configuration. net/http
// lifts the read deadline when the body has been read, and watches the
// connection without one.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *bodyError) {
	rc := http.NewResponseController(w)
	if r.ContentLength > s.cfg.MaxBody {
		_ = rc.SetReadDeadline(time.Now()) // what comes is not read, by net/http neither
		w.Header().Set("Connection", "close")
		return nil, s.tooLarge()
	}
	_ = rc.SetReadDeadline(time.Now().Add(s.cfg.BodyTimeout)) // test recorders have none
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.cfg.MaxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, s.tooLarge()
	}
	if err != nil {
		return nil, &bodyError{http.StatusBadRequest, "the request body ended early or came too slowly"}
	}
	return body, nil
}

func (s *Server) tooLarge() *bodyError {
	return &bodyError{http.StatusRequestEntityTooLarge,
		fmt.Sprintf("the request body is larger than %d bytes; send large files by URL", s.cfg.MaxBody)}
}

// checkContentType accepts JSON, and a missing header, since nothing else can be
// meant. It also keeps out the requests that any web page may send unasked.
func checkContentType(r *http.Request) error {
	given := r.Header.Get("Content-Type")
	if given == "" {
		return nil
	}
	media, params, err := mime.ParseMediaType(given)
	switch charset, named := params["charset"]; {
	case err != nil || media != "application/json" && media != "application/a2a+json":
		return a2a.NewError(a2a.ErrUnsupportedContentType, "Content-Type is "+quote(given)+"; send application/json")
	case named && !strings.EqualFold(charset, "utf-8"):
		return a2a.NewError(a2a.ErrUnsupportedContentType, "the charset is "+quote(charset)+"; JSON is sent in utf-8")
	}
	return nil
}
