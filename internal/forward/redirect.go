package forward

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// stay answers for an endpoint that redirects. codex would follow, with the whole
// conversation, to wherever that leads, and without the key.
func stay(res *http.Response) error {
	location := res.Header.Get("Location")
	if res.StatusCode < 300 || res.StatusCode > 399 || location == "" {
		return nil
	}
	_ = res.Body.Close()
	where := "another path"
	if to, err := url.Parse(location); err == nil && to.Host != "" {
		where = strings.TrimPrefix(to.Scheme+"://"+to.Host, "://")
	}
	body, err := json.Marshal(map[string]any{"error": map[string]string{
		"message": "the model's endpoint redirects to " + where + ", which is not followed: set its base URL to where the model is",
	}})
	if err != nil {
		return err
	}
	res.StatusCode, res.Status = http.StatusBadRequest, "" // codex does not try that again
	res.Body, res.ContentLength, res.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	res.Header = http.Header{"Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(body))}}
	return nil
}
