package server

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

func (s *Server) restList(ctx context.Context, r *http.Request, _ json.RawMessage) (any, error) {
	req, err := listQuery(query{r.URL.Query()}, "statusTimestampAfter")
	if err != nil {
		return nil, err
	}
	return s.guard.ListTasks(ctx, req)
}

// listQuery reads the query of a list, in which after is the name of the time.
func listQuery(q query, after string) (*a2a.ListTasksRequest, error) {
	req := &a2a.ListTasksRequest{
		ContextID: q.text("contextId"), Status: stateNamed(q.text("status")), PageToken: q.text("pageToken"),
	}
	size, err := q.number("pageSize")
	if err != nil {
		return nil, err
	}
	if size != nil {
		req.PageSize = *size
	}
	if req.HistoryLength, err = q.number("historyLength"); err != nil {
		return nil, err
	}
	if req.IncludeArtifacts, err = q.flag("includeArtifacts"); err != nil {
		return nil, err
	}
	req.StatusTimestampAfter, err = q.time(after)
	return req, err
}

// A query is that of a URL. Its names are those of the specification; the names
// of the protocol buffers are taken, too.
type query struct{ url.Values }

func (q query) text(name string) string {
	if q.Has(name) {
		return q.Get(name)
	}
	return q.Get(snakeName(name))
}

func snakeName(name string) string {
	var b strings.Builder
	for _, c := range name {
		if c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

func (q query) number(name string) (*int, error) {
	text := q.text(name)
	if text == "" {
		return nil, nil //nolint:nilnil // not given, which is not zero
	}
	n, err := wholeNumber(name, text)
	return &n, err
}

func (q query) flag(name string) (bool, error) {
	switch text := q.text(name); text {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	default:
		return false, invalidParams("%s is %s; true or false can stand there", name, quote(text))
	}
}

func (q query) time(name string) (*time.Time, error) {
	text := q.text(name)
	if text == "" {
		return nil, nil //nolint:nilnil // not given
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, invalidParams("%s is %s; it must be a time like 2006-01-02T15:04:05Z", name, quote(text))
	}
	return &at, nil
}
