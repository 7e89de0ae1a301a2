package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
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
	push      bool   // push notifications, also to loopback
	hold      time.Duration
	log       *slog.Logger
}

// A sut is the system under test. Whoever makes one closes it, or has it served.
type sut struct {
	runner *runner
	engine *tasks.Engine
	server *server.Server
	store  *store.Store
	pusher *push.Deliverer // nil without push notifications
	stop   func()          // ends the pusher, and waits for it
	dir    string          // of the store
}

func newSUT(opts options) (*sut, error) {
	s := &sut{}
	if err := s.open(opts); err != nil {
		return nil, errors.Join(err, s.discard())
	}
	return s, nil
}

func (s *sut) open(opts options) (err error) {
	if s.dir, err = os.MkdirTemp("", "tcksut-"); err != nil {
		return err
	}
	if s.store, err = store.Open(context.Background(), store.Config{Dir: s.dir, Logger: opts.log}); err != nil {
		return err
	}
	ids := &messageIDs{Journal: s.store, byJob: map[string]string{}}
	s.runner = newRunner(ids.of, opts.hold)
	s.engine, err = tasks.New(tasks.Config{Runner: s.runner, Journal: ids, Push: s.push(opts), Logger: opts.log})
	if err != nil {
		return err
	}
	card := func(base string) *a2a.AgentCard { return opts.agentCard(base) }
	s.server, err = server.New(server.Config{
		Handler: direct{s.engine}, Card: card, ExtendedCard: card,
		PureCard: opts.card == cardV1, PublicURL: opts.publicURL, AnyHost: true, Logger: opts.log,
	})
	return err
}

// push starts what sends push notifications: the suite receives them on loopback.
func (s *sut) push(opts options) *tasks.Push {
	if !opts.push {
		return nil
	}
	guard := netguard.New(netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"))
	s.pusher = push.New(push.Config{Outbox: s.store, Guard: guard, Logger: opts.log})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.pusher.Run(ctx) })
	s.stop = func() {
		cancel()
		running.Wait()
	}
	return &tasks.Push{Check: s.pusher.Check, TaskV0: wire.TaskV0, Wake: s.pusher.Wake}
}

// discard ends the store and removes it: nothing of a run is kept.
func (s *sut) discard() (err error) {
	if s.stop != nil {
		s.stop()
	}
	if s.store != nil {
		err = s.store.Close()
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// agentCard is the card of the product but for its skills: the 0.3.x suite takes
// the word "test" in front of a URL for a secret. It does not promise an extended
// card, and 0.3 gets one all the same: two tests of the 0.3.x suite contradict
// each other otherwise.
func (o options) agentCard(base string) *a2a.AgentCard {
	card := adapter.Card(adapter.Identity{Name: "conformance", Description: "The runtime's server and tasks, playing the scripts of the conformance suite."}, base)
	card.Skills = []a2a.AgentSkill{{ID: "play", Name: "Play scripts", Tags: []string{"conformance"},
		Description: "Does what the id of a message says."}}
	card.Capabilities.Streaming, card.Capabilities.PushNotifications = !o.mute, o.push
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
	if err := errors.Join(s.engine.Close(ctx), s.discard()); err != nil {
		return fmt.Errorf("close the engine: %w", err)
	}
	return nil
}
