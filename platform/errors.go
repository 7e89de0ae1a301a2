package platform

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
)

// Facts that callers act on. They are found with [errors.Is].
var (
	// ErrUnsupported says that this platform does not have what was asked for:
	// it is older than that. It is remembered; nothing is sent for the next call.
	ErrUnsupported = errors.New("this platform does not offer it")

	// ErrCursorGone says that the platform does not know the row that activity
	// was asked for after. Drop the cursor, and ask by time.
	ErrCursorGone = errors.New("the platform does not know the cursor")

	// ErrCursorIgnored says that the platform answered with its newest rows,
	// whatever the cursor. Ask by time, and drop what is known.
	ErrCursorIgnored = errors.New("the platform ignores cursors")

	// ErrUselessToken says that a registration has brought a token that the platform
	// refuses. It was not kept. Ask for the [State].
	ErrUselessToken = errors.New("the platform has given out a token that it refuses; the workspace may be deleted")

	// ErrNotUnderstood says that the platform has done what it was asked, and that its
	// answer has another form than is known.
	ErrNotUnderstood = errors.New("the platform's answer is not understood")

	// ErrTooMuch says that an answer is too large to be read. Ask for less.
	ErrTooMuch = errors.New("the platform's answer is too large")
)

// An Error is a refusal by the platform.
type Error struct {
	Op         string        // what was asked for
	Status     int           // of HTTP
	Head       string        // the beginning of the answer
	Reason     string        // what the answer says is wrong, "" if it does not say
	Hint       string        // what the answer says to do instead, "" if it does not say
	Code       string        // the answer's code for that, "" if it has none
	RetryAfter time.Duration // what the platform asks to wait, 0 if nothing

	// Waking says that the workspace asked for was asleep, did not get the message,
	// and is being started.
	Waking bool

	html    bool // the answer was a page
	foreign bool // it was no JSON, which is what the platform itself answers with
	deleted bool // it says that what was asked for is deleted
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s: the platform answers %d %s", e.Op, e.Status, http.StatusText(e.Status))
	if e.Head != "" {
		text += ": " + e.Head
	}
	return text
}

// Is reports whether the refusal is one of the facts above.
func (e *Error) Is(fact error) bool { return fact == ErrCursorGone && e.Status == http.StatusGone }

// Permanent reports whether the same request will be refused again. A page of HTML, or a redirect, is
// from what stands in front of the platform, and says nothing of that, and neither does a 404 of its
// own: the platform may be away. What is too large for it stays so.
func (e *Error) Permanent() bool {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	case http.StatusRequestEntityTooLarge:
		return true
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return !e.foreign
	}
	return e.Status >= 400 && e.Status < 500 && !e.html
}

// StatusOf returns the status of HTTP that the platform has refused with, or 0.
func StatusOf(err error) int {
	if refused, ok := errors.AsType[*Error](err); ok {
		return refused.Status
	}
	return 0
}

// ReasonOf returns what the platform said is wrong, or "".
func ReasonOf(err error) string {
	if refused, ok := errors.AsType[*Error](err); ok {
		return refused.Reason
	}
	return ""
}

// HintOf returns what the platform said to do instead, or "".
func HintOf(err error) string {
	if refused, ok := errors.AsType[*Error](err); ok {
		return refused.Hint
	}
	return ""
}

// refusal makes an error of an answer, without the secrets that may stand in it.
func refusal(op string, res *http.Response, answer []byte, secrets []string) *Error {
	e := &Error{Op: op, Status: res.StatusCode, foreign: true, RetryAfter: retryAfter(res.Header)}
	if len(answer) > mostRefusal {
		answer = answer[:mostRefusal]
	}
	text := strings.ToValidUTF8(strings.Join(strings.Fields(string(answer)), " "), "")
	e.html = isHTML(res.Header, []byte(text))
	var said struct {
		Error      any     `json:"error"`
		Hint       any     `json:"hint"`
		Code       string  `json:"code"`
		Waking     bool    `json:"waking"`
		Deleted    bool    `json:"deleted"`
		RetryAfter float64 `json:"retry_after"`
	}
	if json.Unmarshal([]byte(text), &said) == nil {
		e.foreign, e.Code, e.Waking, e.deleted = false, said.Code, said.Waking, said.Deleted
		reason, _ := said.Error.(string)
		hint, _ := said.Hint.(string)
		e.Reason, e.Hint = without(secrets, reason), without(secrets, hint)
		if e.RetryAfter == 0 && said.RetryAfter > 0 && said.RetryAfter < 1e6 {
			e.RetryAfter = time.Duration(math.Ceil(said.RetryAfter)) * time.Second // as the header has it
		}
	}
	e.Head = headOf(without(secrets, text))
	return e
}

// headOf is as much of a text as an error holds.
func headOf(text string) string {
	if len(text) > mostHead {
		text = strings.ToValidUTF8(text[:mostHead], "")
	}
	return text
}

func without(secrets []string, text string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[REDACTED]")
		}
	}
	return text
}
