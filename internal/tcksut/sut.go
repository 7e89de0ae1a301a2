package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// The forms of the card.
const (
	cardV1    = "v1"
	cardUnion = "union"
)

type options struct {
	card      string
	publicURL string
	extension string // a required one
	mute      bool   // no streaming
	hold      time.Duration
	log       *slog.Logger
}

// A sut is the system under test. Whoever makes one closes it, or has it served.
type sut struct {
	runner *runner
	engine *tasks.Engine
	server *server.Server
}

func newSUT(opts options) (*sut, error) {
	ids := &messageIDs{Journal: tasks.NewMemory(tasks.Retention{}), byJob: map[string]string{}}
	s := &sut{runner: newRunner(ids.of, opts.hold)}
	var err error
	s.engine, err = tasks.New(tasks.Config{Runner: s.runner, Journal: ids, Instead: direct, Logger: opts.log})
	if err != nil {
		return nil, err
	}
	card := func(base string) *a2a.AgentCard { return opts.agentCard(base) }
	s.server, err = server.New(server.Config{
		Handler: s.engine, Card: card, ExtendedCard: card,
		PureCard: opts.card == cardV1, PublicURL: opts.publicURL, AnyHost: true, Logger: opts.log,
	})
	return s, err
}

// agentCard is the card of the product but for its skills: the 0.3.x suite takes
// the word "test" in front of a URL for a secret. It does not promise an extended
// card, and 0.3 gets one all the same: two tests of the 0.3.x suite contradict
// each other otherwise.
func (o options) agentCard(base string) *a2a.AgentCard {
	card := adapter.Card(adapter.Identity{Name: "conformance", Description: "The runtime's server and tasks, playing the scripts of the conformance suite."}, base)
	card.Skills = []a2a.AgentSkill{{ID: "play", Name: "Play scripts", Tags: []string{"conformance"},
		Description: "Does what the id of a message says."}}
	card.Capabilities.Streaming = !o.mute
	if o.extension != "" {
		card.Capabilities.Extensions = append(card.Capabilities.Extensions,
			a2a.AgentExtension{URI: o.extension, Required: true, Description: "Required, to see what is said to callers without it."})
	}
	return card
}

// serve serves ln until ctx ends.
func (s *sut) serve(ctx context.Context, ln net.Listener) error {
	err := s.server.Serve(ctx, ln)
	return errors.Join(err, s.close(context.WithoutCancel(ctx)))
}

// close ends what still runs.
func (s *sut) close(ctx context.Context) error {
	s.runner.close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := s.engine.Close(ctx); err != nil {
		return fmt.Errorf("close the engine: %w", err)
	}
	return nil
}

// direct answers the messages that are to be answered without a task.
func direct(m *a2a.Message) *a2a.Message {
	if !strings.HasPrefix(m.ID, "tck-message-response") {
		return nil
	}
	return a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart("Direct message response"))
}
