package bounds

import (
	"context"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// MostBuilt is how many answers that may be large are made at once. How large one is shows
// when it is made.
const MostBuilt = 4

// Answers bound the memory of what is being answered: a few are made at a time, and what
// is made and not yet read shares a room. A reader may take long.
type Answers struct {
	Room  *Room
	Turns chan struct{} // of answers that are read from the journal
	quick chan struct{} // of those that are at hand: they wait for none that is read
}

// NewAnswers returns Answers with a room of size bytes.
func NewAnswers(size int64) *Answers {
	return &Answers{Room: newRoom(size), Turns: make(chan struct{}, MostBuilt), quick: make(chan struct{}, MostBuilt)}
}

// An Answering is the part of one request in [Answers]. It is used by one goroutine. While it
// holds room it waits for nothing but a turn, and while it has a turn it does not wait for room.
type Answering struct {
	of   *Answers
	turn chan struct{} // the turns of which it has one; nil without one
	held int64
}

type answeringKey struct{}

// Part gives a request its part, which is to be ended by [Answering.Done].
func (a *Answers) Part(ctx context.Context) (context.Context, *Answering) {
	part := &Answering{of: a}
	return context.WithValue(tasks.WithLoading(ctx, part), answeringKey{}, part), part
}

// Share gives each request its part, until the answer is written or its reader is gone.
func (a *Answers) Share(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, part := a.Part(r.Context())
		defer part.Done()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// AnsweringOf returns the part of a request; nil outside of one, for which nothing is
// bounded.
func AnsweringOf(ctx context.Context) *Answering {
	part, _ := ctx.Value(answeringKey{}).(*Answering)
	return part
}

// Begin waits for a turn to read what is answered, unless the request has one.
func (a *Answering) Begin(ctx context.Context) error {
	if a == nil {
		return nil
	}
	return a.begin(ctx, a.of.Turns)
}

func (a *Answering) begin(ctx context.Context, turns chan struct{}) error {
	if a.turn != nil {
		return nil
	}
	select {
	case turns <- struct{}{}:
		a.turn = turns
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// made has an answer take the room that it needs until it is written, with what is in memory
// for it meanwhile, of n bytes, and ends the turn. An answer larger than the room has it for
// itself.
func (a *Answering) made(n int) error {
	if a == nil {
		return nil
	}
	a.End()
	large := a.of.Room.share(int64(n))
	if !a.of.Room.take(large - a.held) {
		return a2a.NewError(a2a.ErrServerError, "too many large answers are being read at once; ask again in a second")
	}
	a.held = large
	return nil
}

// Written gives back what n bytes that are still in memory do not need.
func (a *Answering) Written(n int) {
	if a == nil || a.held == 0 {
		return
	}
	large := min(a.of.Room.share(int64(n)), a.held)
	a.of.Room.give(a.held - large)
	a.held = large
}

// End ends the turn.
func (a *Answering) End() {
	if a != nil && a.turn != nil {
		<-a.turn
		a.turn = nil
	}
}

// Done gives back what the request has taken.
func (a *Answering) Done() {
	if a == nil {
		return
	}
	a.End()
	a.of.Room.give(a.held)
	a.held = 0
}

// Make encodes an answer in its turn. Beside it so many bytes are in memory until it is
// written.
func (a *Answering) Make(ctx context.Context, beside int, encode func() ([]byte, error)) ([]byte, error) {
	if a != nil {
		if err := a.begin(ctx, a.of.quick); err != nil {
			return nil, err
		}
	}
	body, err := encode()
	if err == nil {
		err = a.made(len(body) + beside)
	}
	if err != nil {
		return nil, err
	}
	return body, nil
}

// InTurn is a call whose result may be large and is read for its caller alone, so that it
// is read in the turn that it is encoded in.
func InTurn[Req, Res any](f func(context.Context, Req) (Res, error)) func(context.Context, Req) (Res, error) {
	return func(ctx context.Context, req Req) (res Res, err error) {
		if err := AnsweringOf(ctx).Begin(ctx); err != nil {
			return res, err
		}
		return f(ctx, req)
	}
}
