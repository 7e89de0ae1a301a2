package fakeplatform

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"

	"github.com/google/uuid"
)

// object is a JSON object to be sent.
type object map[string]any

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, status int, reason string) {
	answer(w, status, object{"error": reason})
}

// read decodes a request's body, or refuses it.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 16<<20)).Decode(into); err != nil {
		refuse(w, http.StatusBadRequest, invalidBody)
		return false
	}
	return true
}

// newToken is as long as the platform's.
func newToken() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	return base64.RawURLEncoding.EncodeToString(raw)
}

func newID() string { return uuid.NewString() }

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func rawOrNull(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	return raw
}

func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func maybe(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func cut(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n])
	}
	return text
}

func quote(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

// A Reply is the platform's answer to a message.
type Reply struct {
	Status int
	Body   json.RawMessage
	Header http.Header
}

func said(status int, body object) Reply {
	text, _ := json.Marshal(body)
	return Reply{Status: status, Body: text}
}

const invalidBody = "invalid request body"
