package appserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// calls are the calls that wait for their answers. An entry is taken out
// exactly once, by whoever settles the call: the reading goroutine with an
// answer, or the caller who stops waiting.
type calls struct {
	mu      sync.Mutex // guards the fields below
	last    uint64     // the id of the last call; the first is 1, as the library takes 0 for none
	pending map[uint64]*pendingCall
}

type pendingCall struct {
	onResult func(result []byte) // called on the reading goroutine; or nil
	err      error               // what the library cannot carry; set before it settles the call
}

func (c *calls) add(p *pendingCall) (id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	if c.pending == nil {
		c.pending = map[uint64]*pendingCall{}
	}
	c.pending[c.last] = p
	return c.last
}

func (c *calls) take(id uint64) *pendingCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[id]
	delete(c.pending, id)
	return p
}

// parseID returns the number of one of our calls. A child that answers with
// the number as a string is understood.
func parseID(raw []byte) (id uint64, ok bool) {
	raw = bytes.Trim(raw, `"`)
	id, err := strconv.ParseUint(string(raw), 10, 64)
	return id, err == nil
}

// Call calls a method of the child and decodes the answer into result, which
// may be nil. It returns as soon as ctx ends, with its cause, unless the answer has
// been read by then; whether the child has seen or will carry out the call is then
// open. It fails with an [RPCError] if the child refuses, and with an [ExitError] if the
// child ends.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	return c.call(ctx, method, params, result, nil)
}

// call is Call; onResult sees the result on the reading goroutine, before
// anything that follows it on the wire is routed.
func (c *Client) call(ctx context.Context, method string, params, result any, onResult func([]byte), opts ...jsonrpc2.CallOption) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
	p := &pendingCall{onResult: onResult}
	id := c.calls.add(p)
	waiter, err := c.conn.DispatchCall(ctx, method, params, append(opts, jsonrpc2.PickID(jsonrpc2.ID{Num: id}))...)
	if err != nil {
		c.calls.take(id)
		return c.callError(ctx, method, p, err)
	}
	if err = waiter.Wait(ctx, result); err == nil {
		return nil
	}
	switch {
	case c.calls.take(id) != nil: // nobody has settled it, so nobody else will
		c.stream.out.drop(id)
		c.stream.put(madeUpAnswer(id, "given up"))
	case ctx.Err() != nil && errors.Is(err, ctx.Err()): // its answer has been read, and is about to be here
		if err = waiter.Wait(context.WithoutCancel(ctx), result); err == nil {
			return nil
		}
	}
	return c.callError(ctx, method, p, err)
}

// callError puts the true cause in the place of what the library says.
func (c *Client) callError(ctx context.Context, method string, p *pendingCall, err error) error {
	var refusal *jsonrpc2.Error
	switch {
	case errors.Is(err, jsonrpc2.ErrClosed):
		err = c.exit() // set before the library's connection is closed
	case errors.As(err, &refusal) && p.err != nil:
		err = p.err
	case errors.As(err, &refusal):
		refused := &RPCError{Method: method, Code: int(refusal.Code), Message: refusal.Message}
		if refusal.Data != nil {
			refused.Data = *refusal.Data
		}
		return refused
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		err = context.Cause(ctx)
	}
	return fmt.Errorf("%s: %w", method, err)
}

// madeUpAnswer is an answer that the child did not give.
func madeUpAnswer(id uint64, message string) []byte {
	return fmt.Appendf(nil, `{"id":%d,"error":{"code":0,"message":%q}}`, id, message)
}

// settle passes the child's answer on. What the library could not read would
// leave its call waiting for ever, so the answer is checked here.
func (c *Client) settle(e envelope) {
	id, ok := parseID(e.id)
	p := c.calls.take(id)
	if !ok || p == nil {
		c.stats.late.Add(1)
		c.log.Debug("codex answered a call that nobody waits for", "id", string(e.id))
		return
	}
	answer := envelope{id: strconv.AppendUint(nil, id, 10)}
	switch {
	case e.err != nil:
		answer.err = readableError(e.err)
	case json.Valid(e.result):
		answer.result = e.result
		if p.onResult != nil {
			p.onResult(e.result)
		}
	default:
		p.err = errors.New("the answer was no JSON")
		answer = envelope{id: answer.id, err: readableError(nil)}
	}
	c.stream.put(answer.line())
}

// readableError returns an error object that the library can decode, whatever
// the child sent.
func readableError(raw []byte) []byte {
	var refusal jsonrpc2.Error
	if err := json.Unmarshal(raw, &refusal); err == nil {
		return bytes.Clone(raw)
	}
	refusal = jsonrpc2.Error{Message: "an error that could not be read: " + string(raw[:min(len(raw), 500)])}
	text, err := json.Marshal(&refusal)
	if err != nil {
		return []byte(`{"code":0,"message":"an error that could not be read"}`)
	}
	return text
}
