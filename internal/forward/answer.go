package forward

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// answer makes an endpoint's answer one that codex may have.
func (f *Forwarder) answer(res *http.Response) error {
	if err := covering(res); err != nil {
		return err
	}
	f.bound(res)
	hear(res)
	return nil
}

// covering takes the key out of an answer: codex keeps what it is told, where its commands can
// read it.
func covering(res *http.Response) error {
	if location := res.Header.Get("Location"); 300 <= res.StatusCode && res.StatusCode <= 399 && location != "" {
		return stay(res, location)
	}
	success := 200 <= res.StatusCode && res.StatusCode <= 299
	secret := destinationOf(res.Request).secret
	if len(secret.forms) == 0 || success && !secret.telling {
		return nil
	}
	secret.header(res.Header)
	if packing := res.Header.Get("Content-Encoding"); res.Body != http.NoBody && packing != "" && !strings.EqualFold(packing, "identity") {
		return unread(res, packing, success)
	}
	res.Body = secret.body(res.Body, func() { secret.header(res.Trailer) })
	return nil
}

// stay answers for an endpoint that redirects. codex would follow, with the whole
// conversation, to wherever that leads, and without the key.
func stay(res *http.Response, location string) error {
	where := "another path"
	if to, err := url.Parse(location); err == nil && to.Host != "" {
		where = strings.TrimPrefix(to.Scheme+"://"+to.Host, "://")
	}
	res.Header = http.Header{}
	where = destinationOf(res.Request).secret.text(where)
	// codex does not try that again.
	return instead(res, http.StatusBadRequest, "the model's endpoint redirects to "+where+", which is not followed: set its base URL to where the model is")
}

// unread answers for an endpoint that packs its answer though it was asked not to: codex
// cannot read it, nor can the key be looked for in it.
func unread(res *http.Response, packing string, success bool) error {
	status := res.StatusCode
	if success {
		status = http.StatusBadGateway
	}
	for _, name := range []string{"Content-Encoding", "Etag", "Content-Md5", "Digest", "Content-Digest"} {
		res.Header.Del(name)
	}
	return instead(res, status, fmt.Sprintf(
		"the model's endpoint answers %d and packs what it says as %s, though it was asked not to: have what stands before it send answers as they are", res.StatusCode, packing))
}

// instead puts an error of ours into the place of an answer's body.
func instead(res *http.Response, status int, message string) error {
	body, err := json.Marshal(map[string]any{"error": map[string]string{"message": message}})
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	res.StatusCode, res.Status = status, ""
	res.Body, res.ContentLength, res.TransferEncoding, res.Trailer = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil, nil
	res.Header.Set("Content-Type", "application/json")
	res.Header.Set("Content-Length", strconv.Itoa(len(body)))
	res.Header.Del("Trailer")
	return nil
}
