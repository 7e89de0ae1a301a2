package main

import (
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// A script plays what is to become of a message, and returns how the job ends;
// nil means that it asks for more.
type script func(*job) *agent.Ended

const hello = "Hello from TCK"

// scriptFor returns the script of the first prefix that fits. What the 1.0 suite
// does not name completes; what the 0.3.x suite sends goes on asking, so that
// its tasks can be continued and canceled.
func scriptFor(messageID string) script {
	for _, s := range []struct {
		prefix string
		play   script
	}{
		{"tck-input-required", asks},
		{"tck-reject-task", rejects},
		{"tck-artifact-file-url", produces(agent.Produced{ID: "file", Name: "output.txt", MediaType: "text/plain", URL: "https://example.com/output.txt"})},
		{"tck-artifact-file", produces(file())},
		{"tck-artifact-data", produces(agent.Produced{ID: "data", Name: "data", MediaType: "application/json",
			Data: map[string]any{"key": "value", "count": 42}})},
		{"tck-artifact-text", says("Generated text content")},
		{"tck-stream-artifact-chunked", says("chunk-1 ", "chunk-2")},
		{"tck-stream-artifact-file", produces(file())},
		{"tck-stream-artifact-text", says("Streamed text content")},
		{"test-resubscribe-message-id", works},
		{"tck-delayed-complete", works},
		{"tck-", says(hello)},
	} {
		if strings.HasPrefix(messageID, s.prefix) {
			return s.play
		}
	}
	return asks
}

func file() agent.Produced {
	return agent.Produced{ID: "file", Name: "output.txt", MediaType: "text/plain", Bytes: []byte("Generated file content")}
}

func asks(*job) *agent.Ended { return nil }

func rejects(*job) *agent.Ended {
	return &agent.Ended{Outcome: agent.Rejected, Failure: &agent.Failure{Kind: agent.FailModel, Message: "rejected"}}
}

// says writes a message in pieces.
func says(pieces ...string) script {
	return func(j *job) *agent.Ended {
		item, text := "message", strings.Join(pieces, "")
		j.observe(agent.ItemStarted{Item: agent.Item{Kind: agent.KindMessage, ID: item}})
		for _, piece := range pieces[:len(pieces)-1] {
			j.observe(agent.TextDelta{ItemID: item, Text: piece})
		}
		j.observe(agent.ItemCompleted{Item: agent.Item{Kind: agent.KindMessage, ID: item, Text: text}})
		return &agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: item, Text: text}}}
	}
}

func produces(p agent.Produced) script {
	return func(j *job) *agent.Ended {
		j.observe(p)
		return &agent.Ended{Outcome: agent.Completed}
	}
}

// works takes its time, so that somebody can subscribe meanwhile.
func works(j *job) *agent.Ended {
	timer := time.NewTimer(j.runner.hold)
	defer timer.Stop()
	select {
	case <-timer.C:
		return says(hello)(j)
	case <-j.ctx.Done():
		return j.canceled()
	}
}
