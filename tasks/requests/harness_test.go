package requests_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/requests"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A room is a journal, a platform and an engine, in simulated time.
type room struct {
	t     *testing.T
	start time.Time
	stop  func() // the board that runs
	board *requests.Board

	mu    sync.Mutex // guards the fields below
	rows  map[int64]*row
	asked map[string]bool
	ill   error // of the journal

	listed []requests.Listed // the newest last
	sends  bool              // the platform keeps no list
	takes  time.Duration     // each call of the platform
	hangs  time.Duration     // each request that is put up
	lost   int               // answers to so many requests are lost
	refuse error             // of every call
	puts   []time.Duration
	put    []string // the questions
	looks  []time.Duration
	closed []string

	unable error // of decisions
	given  []string
}

type row struct {
	store.Delivery
	dead bool
}

// in runs a test with a board that runs.
func in(t *testing.T, test func(r *room)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &room{t: t, start: time.Now(), rows: map[int64]*row{}, asked: map[string]bool{}}
		r.run()
		test(r)
		r.stop()
	})
}

// run starts a board, as a process does.
func (r *room) run() {
	r.board = requests.New(requests.Config{Journal: r, Platform: r, Decide: r.decide})
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.board.Run(ctx)
	}()
	r.stop = func() { cancel(); <-done }
	synctest.Wait()
}

func (r *room) set(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// ask has codex ask something.
func (r *room) ask(question string) {
	r.set(func() {
		r.asked[question] = true
		d := requests.Request{Question: question, Title: "title of " + question, Detail: "detail of " + question}.Delivery()
		d.ID, d.Task, d.Created = int64(len(r.rows)+1), "t", time.Now()
		r.rows[d.ID] = &row{Delivery: d}
	})
	r.board.Wake()
	synctest.Wait()
}

// pass lets time go by.
func (r *room) pass(d time.Duration) {
	r.set(func() {}) // what the test has read is behind it for those who write then
	time.Sleep(d)
	synctest.Wait()
}

// left are the targets of the rows that are not done.
func (r *room) left() (targets []string) {
	r.set(func() {
		for id := range int64(len(r.rows)) + 1 {
			if row := r.rows[id]; row != nil && row.Kind != "" && !row.dead {
				targets = append(targets, row.Target)
			}
		}
	})
	return targets
}

func (r *room) Deliveries(_ context.Context, kind string, after int64, limit int) (out []store.Delivery, err error) {
	r.set(func() {
		err = r.ill
		for id := after + 1; id <= int64(len(r.rows)) && len(out) < limit; id++ {
			if row := r.rows[id]; row.Kind == kind && !row.dead {
				d := row.Delivery
				d.Body = nil
				out = append(out, d)
			}
		}
	})
	return out, err
}

func (r *room) Delivery(_ context.Context, id int64) (d store.Delivery, err error) {
	r.set(func() { d, err = r.rows[id].Delivery, r.ill })
	return d, err
}

func (r *room) AimDelivery(_ context.Context, id int64, target string) (err error) {
	r.set(func() {
		if err = r.ill; err == nil {
			r.rows[id].Target = target
			if target != "" {
				r.rows[id].Tries++
			}
		}
	})
	return err
}

func (r *room) FinishDelivery(_ context.Context, id int64) (err error) {
	r.set(func() {
		if err = r.ill; err == nil {
			r.rows[id].Kind = ""
		}
	})
	return err
}

func (r *room) GiveUpDelivery(_ context.Context, id int64) (err error) {
	r.set(func() {
		if err = r.ill; err == nil {
			r.rows[id].dead = true
		}
	})
	return err
}

func (r *room) Asked(_ context.Context, _, question string) (asked bool, err error) {
	r.set(func() { asked, err = r.asked[question], r.ill })
	return asked, err
}

var errLost = errors.New("the answer is lost")

func (r *room) Put(ctx context.Context, q requests.Request) (id string, listed bool, err error) {
	r.set(func() {
		r.puts, r.put = append(r.puts, time.Since(r.start)), append(r.put, q.Question)
		if err = r.refuse; err != nil {
			return
		}
		id = fmt.Sprintf("id-%d", len(r.puts))
		if !r.sends {
			r.listed = append(r.listed, requests.Listed{ID: id, Question: q.Question})
		}
		if r.lost > 0 {
			r.lost--
			err = errLost
		}
	})
	if !sleep.For(ctx, r.takes+r.hangs) {
		return "", false, context.Cause(ctx)
	}
	return id, !r.sends, err
}

func (r *room) List(ctx context.Context) (all []requests.Listed, err error) {
	r.set(func() {
		r.looks = append(r.looks, time.Since(r.start))
		all, err = slices.Clone(r.listed), r.refuse
		slices.Reverse(all)
	})
	if !sleep.For(ctx, r.takes) {
		return nil, context.Cause(ctx)
	}
	return all, err
}

func (r *room) Close(_ context.Context, id string) (err error) {
	r.set(func() {
		if err = r.refuse; err == nil {
			r.closed = append(r.closed, id)
		}
	})
	return err
}

func (r *room) decide(_ context.Context, _, question, name string, accept bool) (err error) {
	r.set(func() {
		if err = r.unable; err == nil {
			r.given = append(r.given, fmt.Sprint(question, " ", name, " ", accept))
			delete(r.asked, question)
		}
	})
	return err
}

// decided has a listed request be in a state.
func (r *room) decided(id string, state requests.State) {
	r.set(func() {
		i := slices.IndexFunc(r.listed, func(l requests.Listed) bool { return l.ID == id })
		r.listed[i].State = state
	})
}
