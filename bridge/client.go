package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/stayhttp"
)

// DefaultURL is where a runtime listens that nobody has told otherwise.
const DefaultURL = "http://127.0.0.1:8000"

// Config says which runtime a client talks to. All zero values work.
type Config struct {
	URL   string // empty means [DefaultURL]
	Token string // of the runtime; empty sends none
	// CodexHome is the home that a task may name as its codex_home: that of the
	// runtime's codex.
	CodexHome string
	HTTP      *http.Client // nil means one without a time limit; contexts bound calls
}

// A Client talks to one runtime. Create it with [New].
type Client struct {
	cfg  Config
	http *http.Client
}

// New returns a client. It does not connect.
func New(cfg Config) *Client {
	cfg.URL = strings.TrimRight(cfg.URL, "/")
	if cfg.URL == "" {
		cfg.URL = DefaultURL
	}
	c := &Client{cfg: cfg, http: cfg.HTTP}
	if c.http == nil {
		c.http = &http.Client{Transport: stayhttp.Transport{Via: http.DefaultTransport}}
	}
	direct := *c.http // a runtime sends nobody elsewhere, and the token is for it alone
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &direct
	return c
}

// An UnreachableError reports that nobody answers at the runtime's URL, or that the
// connection broke before there was an answer.
type UnreachableError struct {
	URL string
	Err error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no runtime answers at %s (%v); start one with runtime serve, or set RUNTIME_URL to where it listens", e.URL, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// A RefusedError is the answer of a runtime that does not do what it was asked for.
type RefusedError struct {
	Code    int // of JSON-RPC; 0 if it was refused at the door
	Message string
}

func (e *RefusedError) Error() string { return e.Message }

// The JSON-RPC codes that are told apart.
const (
	codeNoMethod = -32601
	codeNoTask   = -32001
	codeNotNow   = -32004 // the task has ended
	codeServer   = -32000 // the runtime stops, or has too much to do
	codeInternal = -32603
)

// passing reports whether it may be otherwise later: the connection broke, or the
// runtime is about to be gone.
func passing(err error) bool {
	if _, lost := errors.AsType[*UnreachableError](err); lost {
		return true
	}
	refused, ok := errors.AsType[*RefusedError](err)
	return ok && (refused.Code == codeServer || refused.Code == codeInternal)
}

// ended reports whether a task could not be subscribed to because it has ended.
func ended(err error) bool {
	refused, ok := errors.AsType[*RefusedError](err)
	return ok && refused.Code == codeNotNow
}

// refusedConnection reports whether nothing was sent: nobody listens.
func refusedConnection(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// callTimeout bounds a call that the runtime answers at once. A cancel may take
// longer: it waits for the commands of the turn to be gone.
const callTimeout = 30 * time.Second

// largestAnswer bounds what is read of one.
const largestAnswer = 64 << 20

type request struct {
	JSONRPC string `json:"jsonrpc"`
	ID      string `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

type response struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// result returns what a response says.
func (r *response) result() (json.RawMessage, error) {
	switch {
	case r.Error != nil:
		return nil, &RefusedError{Code: r.Error.Code, Message: r.Error.Message}
	case r.Result == nil:
		return nil, errors.New("the runtime's answer has neither a result nor an error")
	}
	return r.Result, nil
}

// call makes a JSON-RPC call that is answered at once.
func (c *Client) call(ctx context.Context, method string, params, result any) error {
	return c.callWithin(ctx, callTimeout, method, params, result)
}

func (c *Client) callWithin(ctx context.Context, limit time.Duration, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	res, err := c.post(ctx, method, params, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := c.read(res)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("read the runtime's answer to %s: %w", method, err)
	}
	return whole(result)
}

// read takes the one answer out of a body.
func (c *Client) read(res *http.Response) (json.RawMessage, error) {
	body, err := io.ReadAll(io.LimitReader(res.Body, largestAnswer))
	if err != nil {
		return nil, &UnreachableError{c.cfg.URL, err}
	}
	var r response
	if err := json.Unmarshal(body, &r); err != nil || r.Error == nil && (r.Result == nil || string(r.Result) == "null") {
		return nil, fmt.Errorf("what answers at %s is no runtime (HTTP %d); set RUNTIME_URL to where one listens", c.cfg.URL, res.StatusCode)
	}
	return r.result()
}

// post sends a request and returns the answer, whose body the caller closes.
func (c *Client) post(ctx context.Context, method string, params any, header http.Header) (*http.Response, error) {
	body, err := json.Marshal(request{JSONRPC: "2.0", ID: uuid.NewString(), Method: method, Params: params})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cfg.URL+"/", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("RUNTIME_URL: %w", err)
	}
	if header != nil {
		req.Header = header
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	if c.cfg.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, &UnreachableError{c.cfg.URL, cause(err)}
	}
	if err := c.door(res); err != nil {
		_ = res.Body.Close()
		return nil, err
	}
	return res, nil
}

// cause leaves out of an error what it repeats of the request.
func cause(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// door says what stands in the way of every call.
func (c *Client) door(res *http.Response) error {
	switch res.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		hint := "set RUNTIME_TOKEN to the token that it was started with"
		if c.cfg.Token != "" {
			hint = "RUNTIME_TOKEN is not the one that it was started with"
		}
		return &RefusedError{Message: fmt.Sprintf("the runtime at %s wants another token: %s", c.cfg.URL, hint)}
	}
	return nil
}

// streams reports whether an answer is a stream of events.
func streams(res *http.Response) bool {
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return media == "text/event-stream"
}
