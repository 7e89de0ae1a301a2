package codextools

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A Teller is the platform where it puts something before the user that is no reply to what they have
// sent. A short word of theirs may be meant for that then, and for nothing that codex asks.
type Teller struct {
	*platform.Client
	Say  func(ctx context.Context, message string, attachments ...platform.Attachment) error
	Said func() // called before that, and when it is done
}

// Notify implements what several parts call. The engine knows before the user reads it, and once
// they can.
func (t Teller) Notify(ctx context.Context, message string, attachments ...platform.Attachment) error {
	t.Said()
	defer t.Said()
	return t.Say(ctx, message, attachments...)
}

// CreateRequest implements [toolset.Platform].
func (t Teller) CreateRequest(ctx context.Context, ask platform.Ask) (platform.Asked, error) {
	t.Said()
	defer t.Said()
	return t.Client.CreateRequest(ctx, ask)
}

// An OwnCard is the platform as the tools see it. It remembers the card that the agent
// has given itself: each registration brings a card, and must not take that one back.
type OwnCard struct {
	Teller
	Remember func(card any)
}

// UpdateCard implements [toolset.Platform].
func (o OwnCard) UpdateCard(ctx context.Context, card any) error {
	err := o.Client.UpdateCard(ctx, card)
	if err == nil {
		o.Remember(card)
	}
	return err
}
