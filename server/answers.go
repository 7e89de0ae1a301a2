package server

import (
	"context"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// mostBuilt is how many answers that may be large are made at once. How large one is shows
// when it is made.
const mostBuilt = 4

// Answers bound the memory of what is being answered: a few are made at a time, and what
// is made and not yet read shares a room. A reader may take long.
type answers struct {
	room  room
	turns chan struct{} // of those that read what they answer
	quick chan struct{} // of those that have it: they wait for none that read
}

func newAnswers(size int64) answers {
	return answers{room: newRoom(size), turns: make(chan struct{}, mostBuilt), quick: make(chan struct{}, mostBuilt)}
}

// An answering is the part of one request in that. It is used by one goroutine, and waits for
// nothing but a turn while it holds the room; whose turn it is does not wait for room.
type answering struct {
	of   *answers
	turn chan struct{} // whose turn it has; nil without one
	held int64
}

// answer gives each request its part, and takes it back when the answer is written or its
// reader is gone.
func (s *Server) answer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		part := &answering{of: &s.answers}
		defer part.done()
		next.ServeHTTP(w, r.WithContext(context.WithValue(tasks.WithLoading(r.Context(), part), keyAnswering, part)))
	})
}

// answeringOf returns the part of a request; nil outside of one, for which nothing is
// bounded.
func answeringOf(ctx context.Context) *answering {
	part, _ := ctx.Value(keyAnswering).(*answering)
	return part
}

// Begin waits for a turn to read what is answered, unless the request has one.
func (a *answering) Begin(ctx context.Context) error {
	if a == nil {
		return nil
	}
	return a.begin(ctx, a.of.turns)
}

func (a *answering) begin(ctx context.Context, turns chan struct{}) error {
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
func (a *answering) made(n int) error {
	if a == nil {
		return nil
	}
	a.End()
	large := a.of.room.share(int64(n))
	if !a.of.room.take(large - a.held) {
		return a2a.NewError(a2a.ErrServerError, "too many large answers are being read at once; ask again in a second")
	}
	a.held = large
	return nil
}

// written gives back what n bytes that are still in memory do not need.
func (a *answering) written(n int) {
	if a == nil || a.held == 0 {
		return
	}
	large := min(a.of.room.share(int64(n)), a.held)
	a.of.room.give(a.held - large)
	a.held = large
}

// End ends the turn.
func (a *answering) End() {
	if a != nil && a.turn != nil {
		<-a.turn
		a.turn = nil
	}
}

// done gives back what the request has taken.
func (a *answering) done() {
	if a == nil {
		return
	}
	a.End()
	a.of.room.give(a.held)
	a.held = 0
}

// make encodes an answer in its turn. Beside it so many bytes are in memory until it is
// written.
func (a *answering) make(ctx context.Context, beside int, encode func() ([]byte, error)) ([]byte, error) {
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

// inTurn is a call whose result may be large and is read for its caller alone, so that it
// is read in the turn that it is encoded in.
func inTurn[Req, Res any](f func(context.Context, Req) (Res, error)) func(context.Context, Req) (Res, error) {
	return func(ctx context.Context, req Req) (res Res, err error) {
		if err := answeringOf(ctx).Begin(ctx); err != nil {
			return res, err
		}
		return f(ctx, req)
	}
}
