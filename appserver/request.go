package appserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"
)

// Codes of JSON-RPC for refusing a request.
const (
	CodeMethodNotFound = -32601
	CodeInternal       = -32603
)

// Bounds of the requests of the child that are open at a time. A script of the model's makes
// calls of tools by the hundred, and they leave places to what people are asked.
const (
	maxRequests  = 1024
	maxToolCalls = 768
)

// A Request is a question of the child. Its thread stands still until it is
// answered, so it must be, with Reply or Refuse, exactly once.
type Request struct {
	ID       json.RawMessage // as the child wrote it; serverRequest/resolved names it
	Method   string
	ThreadID string // empty for what belongs to no thread
	Params   json.RawMessage

	number   uint64 // the library's name for it
	answered atomic.Bool
	client   *Client
}

// Seq counts the requests of a child, in the order in which they were read.
func (r *Request) Seq() uint64 { return r.number }

func (r *Request) isToolCall() bool { return r.Method == MethodToolCall }

// Reply answers with the JSON of v. It does not wait until the child has read it.
func (r *Request) Reply(v any) error {
	result, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("reply to %s: %w", r.Method, err)
	}
	return r.answer(func(id jsonrpc2.ID) error {
		return r.client.conn.Reply(context.Background(), id, json.RawMessage(result))
	})
}

// Refuse answers with an error, which codex takes for a no.
func (r *Request) Refuse(code int, message string) error {
	return r.answer(func(id jsonrpc2.ID) error {
		refusal := &jsonrpc2.Error{Code: int64(code), Message: message}
		return r.client.conn.ReplyWithError(context.Background(), id, refusal)
	})
}

func (r *Request) answer(send func(jsonrpc2.ID) error) error {
	if !r.answered.CompareAndSwap(false, true) {
		return fmt.Errorf("answer %s: %w", r.Method, ErrAnswered)
	}
	err := send(jsonrpc2.ID{Num: r.number})
	if errors.Is(err, jsonrpc2.ErrClosed) {
		err = r.client.exit()
	}
	if err != nil {
		return fmt.Errorf("answer %s: %w", r.Method, err)
	}
	return nil
}

// requests are the requests of the child that have not been answered. The
// library knows them by numbers of ours, because it changes negative ids, and
// by nothing else, because it rewrites params.
type requests struct {
	mu    sync.Mutex // guards the fields below
	last  uint64
	open  map[uint64]*Request
	calls int  // of tools, among them
	full  bool // set by a refusal, and cleared when half of the places are free
}

// add numbers a request; ok is false when too many are open, and first then says that it is
// the first one in a while.
func (q *requests) add(r *Request) (ok, first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.open) >= maxRequests || r.isToolCall() && q.calls >= maxToolCalls {
		first, q.full = !q.full, true
		return false, first
	}
	if r.isToolCall() {
		q.calls++
	}
	if q.open == nil {
		q.open = map[uint64]*Request{}
	}
	q.last++
	r.number = q.last
	q.open[r.number] = r
	return true, false
}

func (q *requests) get(number uint64) *Request {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.open[number]
}

// answer returns the child's own id of a request and forgets it.
func (q *requests) answer(number uint64) (id []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.open[number]
	delete(q.open, number)
	if r == nil {
		return []byte("null")
	}
	if r.isToolCall() {
		q.calls--
	}
	q.full = q.full && len(q.open) > maxRequests/2
	return r.ID
}

// ask passes a request on to the library, which hands it to Handle.
func (c *Client) ask(e envelope) {
	r := &Request{
		ID:       bytes.Clone(e.id),
		Method:   string(e.method),
		ThreadID: string(e.threadID),
		Params:   bytes.Clone(e.params),
		client:   c,
	}
	if ok, first := c.requests.add(r); !ok {
		if first {
			c.log.Warn("codex asks too much at once; what is more is refused", "method", r.Method, "thread_id", r.ThreadID)
		}
		c.refuse(e.id, codeOverloaded, "too many requests are open")
		return
	}
	method, err := json.Marshal(r.Method)
	if err != nil {
		method = []byte(`""`) // cannot be: any string can be encoded
	}
	c.stream.put(fmt.Appendf(nil, `{"id":%d,"method":%s}`, r.number, method))
}

// refuse answers a request that never became a [Request].
func (c *Client) refuse(id []byte, code int, message string) {
	e := envelope{id: id, err: fmt.Appendf(nil, `{"code":%d,"message":%q}`, code, message)}
	if err := c.stream.out.add(outgoing{text: e.line()}); err != nil {
		c.log.Debug("a request of codex could not be refused", "err", err)
	}
}

// Handle implements [jsonrpc2.Handler]. It runs on a goroutine of the library,
// which must not be held up.
func (c *Client) Handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	r := c.requests.get(req.ID.Num)
	if r == nil {
		return // cannot be: only ask makes requests
	}
	c.handlers.Go(func() {
		c.cfg.OnRequest(c.life, r)
		err := r.Refuse(CodeMethodNotFound, "not answered by this client: "+r.Method)
		if err == nil {
			c.log.Warn("a request of codex was left open and has been refused", "method", r.Method)
		}
	})
}
