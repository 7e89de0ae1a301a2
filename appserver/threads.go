package appserver

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ThreadStart opens a thread. Its notifications are kept from the moment codex
// answers until [Client.Subscribe] or [Client.ThreadUnsubscribe]; one of the two
// must follow. Slow MCP servers can hold it up for 40 s and more; a call that
// was given up may leave a thread behind that nobody knows.
func (c *Client) ThreadStart(ctx context.Context, params ThreadStartParams) (ThreadSession, error) {
	return c.open(ctx, "thread/start", placedThread{params, environments{params.Environments}})
}

// ThreadFork opens a thread with the history of another one, which stays as it is and
// need not be loaded. Its notifications are kept as with [Client.ThreadStart]. It is on
// disk when codex answers.
func (c *Client) ThreadFork(ctx context.Context, params ThreadForkParams) (ThreadSession, error) {
	return c.open(ctx, "thread/fork", params)
}

func (c *Client) open(ctx context.Context, method string, params any) (ThreadSession, error) {
	var session ThreadSession
	var opened opening
	err := c.call(ctx, method, params, &session, func(result []byte) {
		opened.answered(c.router, string(scanPath(result, "thread", "id")))
	})
	if err == nil && session.Thread.ID == "" {
		err = fmt.Errorf("%s: the answer names no thread", method)
	}
	if err != nil {
		opened.giveUp(c.router)
	}
	return session, err
}

// An opening is a thread/start or thread/fork whose answer is seen by the reading goroutine
// and whose end is seen by the caller, in either order.
type opening struct {
	mu       sync.Mutex // guards the fields below
	threadID string
	givenUp  bool
}

func (o *opening) answered(r *router, threadID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.threadID = threadID; !o.givenUp && threadID != "" {
		r.hold(threadID)
	}
}

func (o *opening) giveUp(r *router) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.givenUp = true; o.threadID != "" {
		r.release(o.threadID)
	}
}

// ThreadResume loads a thread from disk, or subscribes to a loaded one again.
// Its notifications are kept as with [Client.ThreadStart], from before the call. One that
// a kill in [Client.ThreadUnload] has left archived is had back.
func (c *Client) ThreadResume(ctx context.Context, params ThreadResumeParams) (ThreadSession, error) {
	var session ThreadSession
	c.router.hold(params.ThreadID)
	err := c.Call(ctx, "thread/resume", params, &session)
	if isArchived(err) {
		if err = c.Call(ctx, "thread/unarchive", threadParams{ThreadID: params.ThreadID}, nil); err == nil {
			err = c.Call(ctx, "thread/resume", params, &session)
		}
	}
	if err != nil {
		c.router.release(params.ThreadID)
	}
	return session, err
}

// ThreadUnsubscribe tells codex that we no longer follow the thread. codex
// unloads it a minute later, with its background commands. Until then a turn
// can be started on it that sends us nothing: resume it first.
func (c *Client) ThreadUnsubscribe(ctx context.Context, threadID string) error {
	err := c.Call(ctx, "thread/unsubscribe", threadParams{ThreadID: threadID}, nil)
	if err == nil {
		c.router.release(threadID)
	}
	return err
}

type threadParams struct {
	ThreadID string `json:"threadId"`
}

// ThreadRead returns what codex knows of a thread, without its turns.
func (c *Client) ThreadRead(ctx context.Context, threadID string) (Thread, error) {
	var answer readAnswer
	err := c.Call(ctx, "thread/read", threadParams{ThreadID: threadID}, &answer)
	return answer.Thread, err
}

type readAnswer struct {
	Thread Thread `json:"thread"`
}

// ThreadsLoaded returns the ids of all threads that the child has loaded, those of
// subagents too.
func (c *Client) ThreadsLoaded(ctx context.Context) ([]string, error) {
	var answer loadedAnswer
	err := c.Call(ctx, "thread/loaded/list", struct{}{}, &answer)
	return answer.Data, err
}

type loadedAnswer struct {
	Data []string `json:"data"`
}

// ThreadUnload unloads a thread at once, and ends what runs there: background commands
// and scripts. There is no call for that, but archiving does it, which is taken back. One
// that was left archived is refused at first.
func (c *Client) ThreadUnload(ctx context.Context, threadID string) error {
	params := threadParams{ThreadID: threadID}
	err := c.Call(ctx, "thread/archive", params, nil)
	if _, refused := errors.AsType[*RPCError](err); refused && !IsThreadGone(err) {
		_ = c.Call(ctx, "thread/unarchive", params, nil) // if it was not that, the next call says so
		err = c.Call(ctx, "thread/archive", params, nil)
	}
	if err != nil {
		return err
	}
	c.router.release(threadID)
	return c.Call(ctx, "thread/unarchive", params, nil)
}

// ThreadDelete deletes a thread with its history: its files, and what codex's databases have of
// it. One of which there is nothing is refused, which is no error here.
func (c *Client) ThreadDelete(ctx context.Context, threadID string) error {
	err := c.Call(ctx, "thread/delete", threadParams{ThreadID: threadID}, nil)
	if IsNoRollout(err) || IsThreadGone(err) {
		return nil
	}
	return err
}

// Ping asks the child something that costs it nothing. It fails when the child
// is gone, and with ctx when the child answers nothing.
func (c *Client) Ping(ctx context.Context) error {
	_, err := c.ThreadsLoaded(ctx)
	return err
}

// BackgroundTerminals returns the commands of the thread that outlived their
// tool call.
func (c *Client) BackgroundTerminals(ctx context.Context, threadID string) ([]BackgroundTerminal, error) {
	var all []BackgroundTerminal
	params := terminalsParams{ThreadID: threadID}
	for {
		var page terminalsPage
		if err := c.Call(ctx, "thread/backgroundTerminals/list", params, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if page.NextCursor == "" || page.NextCursor == params.Cursor {
			return all, nil
		}
		params.Cursor = page.NextCursor
	}
}

type terminalsParams struct {
	ThreadID string `json:"threadId"`
	Cursor   string `json:"cursor,omitempty"`
}

type terminalsPage struct {
	Data       []BackgroundTerminal `json:"data"`
	NextCursor string               `json:"nextCursor"`
}

// TerminateTerminal ends a background command and reports whether there was one to end.
func (c *Client) TerminateTerminal(ctx context.Context, threadID, processID string) (bool, error) {
	var answer terminateAnswer
	params := terminateParams{ThreadID: threadID, ProcessID: processID}
	err := c.Call(ctx, "thread/backgroundTerminals/terminate", params, &answer)
	return answer.Terminated, err
}

type terminateParams struct {
	ThreadID  string `json:"threadId"`
	ProcessID string `json:"processId"`
}

type terminateAnswer struct {
	Terminated bool `json:"terminated"`
}

// ThreadRevert takes a turn, and all turns after it, out of the history of a
// thread. It changes nothing but the history, except that the thread's background
// commands end. The thread goes on in another file, which the answer names.
func (c *Client) ThreadRevert(ctx context.Context, threadID, turnID string) (Thread, error) {
	var answer revertAnswer
	err := c.Call(ctx, "thread/revert", revertParams{ThreadID: threadID, BeforeTurnID: turnID}, &answer)
	return answer.Thread, err
}

type revertParams struct {
	ThreadID     string `json:"threadId"`
	BeforeTurnID string `json:"beforeTurnId"`
}

type revertAnswer struct {
	Thread Thread `json:"thread"`
}

// ThreadCompact has codex put a summary in the place of the thread's history. It
// returns at once; the work is a turn of its own, with one item.
func (c *Client) ThreadCompact(ctx context.Context, threadID string) error {
	return c.Call(ctx, "thread/compact/start", threadParams{ThreadID: threadID}, nil)
}
