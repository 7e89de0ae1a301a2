package server

import (
	"context"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// mostBuilt is how many answers that may be large are made at once. How large one is shows
// when it is made.
const mostBuilt = 4

// Answers bound the memory of what is being answered: a few are made at a time, and what
// is made and not yet read shares a room. A reader may take long.
type answers struct {
	room  room
	turns chan struct{}
}

func newAnswers(size int64) answers {
	return answers{room: newRoom(size), turns: make(chan struct{}, mostBuilt)}
}

// An answering is the part of one request in that. It is used by one goroutine, and nothing
// is waited for while it holds the room.
type answering struct {
	of   *answers
	turn bool
	held int64
}

// answer gives each request its part, and takes it back when the answer is written or its
// reader is gone.
func (s *Server) answer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		part := &answering{of: &s.answers}
		defer part.done()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), keyAnswering, part)))
	})
}

// answeringOf returns the part of a request; nil outside of one, for which nothing is
// bounded.
func answeringOf(ctx context.Context) *answering {
	part, _ := ctx.Value(keyAnswering).(*answering)
	return part
}

// begin waits for a turn to make an answer, unless the request has one.
func (a *answering) begin(ctx context.Context) error {
	if a == nil || a.turn {
		return nil
	}
	select {
	case a.of.turns <- struct{}{}:
		a.turn = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// made has an answer of n bytes take the room that it needs until it is written, and ends
// the turn. An answer larger than the room has it for itself.
func (a *answering) made(n int) error {
	if a == nil {
		return nil
	}
	a.end()
	large := min(max(0, int64(n)-freeBody), a.of.room.size)
	if !a.of.room.take(large) {
		return a2a.NewError(a2a.ErrServerError, "too many large answers are being read at once; ask again in a second")
	}
	a.held += large
	return nil
}

// end ends the turn.
func (a *answering) end() {
	if a != nil && a.turn {
		a.turn = false
		<-a.of.turns
	}
}

// done gives back what the request has taken.
func (a *answering) done() {
	if a == nil {
		return
	}
	a.end()
	a.of.room.give(a.held)
	a.held = 0
}

// make encodes an answer in its turn.
func (a *answering) make(ctx context.Context, encode func() ([]byte, error)) ([]byte, error) {
	if err := a.begin(ctx); err != nil {
		return nil, err
	}
	body, err := encode()
	if err == nil {
		err = a.made(len(body))
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
		if err := answeringOf(ctx).begin(ctx); err != nil {
			return res, err
		}
		return f(ctx, req)
	}
}
