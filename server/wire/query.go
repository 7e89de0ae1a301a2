package wire

import (
	"net/url"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2apb/v0/pbjson"
)

// ListQuery reads the query of a list of 1.0.
func ListQuery(values url.Values) (*a2a.ListTasksRequest, error) {
	return readList(query{values}, "statusTimestampAfter")
}

// V0ListQuery reads the query of a list of 0.3.
func V0ListQuery(values url.Values) (*a2a.ListTasksRequest, error) {
	req, err := readList(query{values}, "lastUpdatedAfter")
	if err != nil {
		return nil, err
	}
	req.Status = pbjson.DecodeTaskState(pbjson.TaskState(req.Status)) // which has two l in canceled
	return req, nil
}

// HistoryQuery reads how much of its history a task is shown with; nil if the query does not say.
func HistoryQuery(values url.Values) (*int, error) { return query{values}.number("historyLength") }

// readList reads the query of a list, in which after is the name of the time.
func readList(q query, after string) (*a2a.ListTasksRequest, error) {
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
		return false, InvalidParams("%s is %s; true or false can stand there", name, Quote(text))
	}
}

func (q query) time(name string) (*time.Time, error) {
	text := q.text(name)
	if text == "" {
		return nil, nil //nolint:nilnil // not given
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, InvalidParams("%s is %s; it must be a time like 2006-01-02T15:04:05Z", name, Quote(text))
	}
	return &at, nil
}
