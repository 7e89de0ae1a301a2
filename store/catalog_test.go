package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// wantCatalog checks that lists show what is in the database, by every filter. It looks at
// both at once: retention takes tasks away when it is time.
func wantCatalog(t *testing.T, s *Store) {
	t.Helper()
	must(t, s.catalog(t.Context(), "look"))
	type selected struct {
		IDs   []string
		Total int
	}
	for _, q := range []Query{
		{}, {State: "completed"}, {State: "submitted"}, {Context: "context-1"}, {Context: "context-0", State: "completed"},
		{Since: time.Unix(50, 0)}, {Context: "context-2", Since: time.Unix(20, 0)},
	} {
		q.Limit = 1000
		both, err := view(t.Context(), s, "look", func(c *conn) (both [2]selected, err error) {
			page, err := c.tasks(q)
			if err != nil {
				return both, err
			}
			both[0].Total = page.Total
			for _, task := range page.Tasks {
				both[0].IDs = append(both[0].IDs, task.ID)
			}
			both[1].IDs, err = collect(c, only[string], `SELECT id FROM tasks WHERE at >= ?1 AND (?2 = '' OR context_id = ?2) AND (?3 = '' OR state = ?3)
				ORDER BY at DESC, id DESC`, nanos(q.Since), q.Context, q.State)
			both[1].Total = len(both[1].IDs)
			return both, err
		})
		must(t, err)
		equal(t, both[0], both[1])
	}
	ended, err := view(t.Context(), s, "count", func(c *conn) (ended [classes][2]int, err error) {
		for class := range classes {
			n, err := c.number("SELECT count(*) FROM tasks WHERE ended_at IS NOT NULL AND class = ?", int(class))
			if err != nil {
				return ended, err
			}
			ended[class] = [2]int{int(n), c.catalog.remaining(class)}
		}
		return ended, nil
	})
	must(t, err)
	for class, of := range ended {
		if of[0] != of[1] {
			t.Errorf("class %d has %d ended tasks, and %d in the catalog", class, of[0], of[1])
		}
	}
}

// TestCatalogFollowsWhatIsCommitted has tasks come, change, end, fail to, and go, alone and
// in groups of which some are rolled back.
func TestCatalogFollowsWhatIsCommitted(t *testing.T) {
	dir, clock := t.TempDir(), newClock()
	cfg := Config{Dir: dir, Now: clock.Now, Retention: Retention{Tasks: 15}}
	s := open(t, cfg)
	ctx, rng := t.Context(), rand.New(rand.NewPCG(3, 4))
	headOf := func(i int, state string) Head {
		return Head{
			ID: fmt.Sprintf("task-%d", i), Context: fmt.Sprintf("context-%d", i%3), State: state, Body: []byte("b"),
			At: time.Unix(rng.Int64N(100), 0), Ended: state == "completed", Class: Class(i % 2),
		}
	}
	for i := range 200 {
		m, _ := message(i, fmt.Sprintf("task-%d", i))
		h := headOf(i, "submitted")
		must(t, s.Accept(ctx, m, h))
		clock.advance(time.Minute)
		switch i % 5 {
		case 0:
			must(t, s.Withdraw(ctx, m.Job, nil))
		case 1: // is rolled back, and another in the same transaction is not
			refused, kept := headOf(1000+i, "submitted"), headOf(2000+i, "submitted")
			must(t, together(ctx, s, func(c *conn) error {
				_, _, err := c.newTask(&kept, 1)
				return err
			}, func(c *conn) error {
				if _, _, err := c.newTask(&refused, 1); err != nil {
					return err
				}
				return errRefused
			}))
			wantCatalog(t, s) // before the next takes the number of the refused one
		case 2: // so is a transaction
			h := headOf(i, "completed")
			err := s.do(ctx, "fail", relaxed, func(c *conn) error {
				row, err := c.taskRow(h.ID)
				return errors.Join(err, c.saveHead(row, &h, 0, 1), errRefused)
			})
			wantErr(t, err, errRefused)
		default:
			if i%5 == 4 {
				must(t, s.Begin(ctx, m.Job, 1, m.Conversation, "thread", "", ""))
			}
			h := headOf(i, "completed")
			must(t, s.Write(ctx, Change{Head: &h, Ended: []string{m.Job}}))
		}
		if i%40 == 39 {
			wantCatalog(t, s)
			must(t, s.Sweep(ctx))
			wantCatalog(t, s)
		}
		if i%80 == 79 {
			closeStore(t, s)
			s = open(t, cfg)
		}
	}
	wantCatalog(t, s)
	for class, want := range []int64{Unrun: 15, UnrunOfPeer: 15, Harmless: 0, ran: 15} {
		of := fmt.Sprint("tasks WHERE ended_at IS NOT NULL AND class = ", class)
		equal(t, rows(t, s, of)[of], want)
	}
}

var errRefused = errors.New("refused by the test")

// together runs changes in one transaction. Errors of the test are none.
func together(ctx context.Context, s *Store, changes ...func(*conn) error) error {
	return s.do(ctx, "look", reads, func(c *conn) error { // outside a transaction
		ops := make([]*operation, len(changes))
		for i, run := range changes {
			ops[i] = &operation{level: relaxed, run: run}
		}
		outcomes, err := s.transact(ops)
		for _, outcome := range outcomes {
			if !errors.Is(outcome, errRefused) {
				err = errors.Join(err, outcome)
			}
		}
		return err
	})
}

// TestCatalogIsReadInSteps has changes between them, of tasks that have been read and of
// others.
func TestCatalogIsReadInSteps(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	const n = 2*catalogStep + 100
	write := func(i int, state string, at int64) {
		h := Head{ID: fmt.Sprintf("task-%04d", i), Context: fmt.Sprintf("context-%d", i%3), State: state, At: time.Unix(at, 0), Ended: state == "completed"}
		must(t, s.Write(t.Context(), Change{Head: &h}))
	}
	for i := range n {
		write(i, "submitted", int64(i%60))
	}
	closeStore(t, s)
	s = open(t, Config{Dir: dir})
	s.turn.Lock() // the writer does not read on by itself
	s.conn.catalog = newCatalog()
	more, err := s.conn.readCatalog()
	s.upkeep.sweep = time.Now().Add(time.Hour)
	s.cataloged.Store(false)
	s.turn.Unlock()
	if err != nil || !more {
		t.Fatalf("one step read everything: %v", err)
	}
	write(1, "completed", 70)   // has been read
	write(n-1, "completed", 80) // has not
	write(n, "submitted", 90)   // is new
	page, err := s.Tasks(t.Context(), Query{Limit: 3})
	must(t, err)
	var ids []string
	for _, task := range page.Tasks {
		ids = append(ids, task.ID)
	}
	equal(t, ids, []string{fmt.Sprintf("task-%04d", n), fmt.Sprintf("task-%04d", n-1), "task-0001"})
	equal(t, page.Total, n+1)
	wantCatalogTotals(t, s, n-1, 2)
}

func wantCatalogTotals(t *testing.T, s *Store, submitted, completed int) {
	t.Helper()
	for state, want := range map[string]int{"submitted": submitted, "completed": completed} {
		page, err := s.Tasks(t.Context(), Query{Limit: 1, State: state})
		must(t, err)
		equal(t, page.Total, want)
	}
}

// TestPageEndsEarly when its bodies are large, and never without a task.
func TestPageEndsEarly(t *testing.T) {
	s := open(t, Config{})
	for i := range 5 {
		h := Head{ID: fmt.Sprintf("task-%d", i), At: time.Unix(int64(i+1), 0), Body: make([]byte, 100)}
		must(t, s.Write(t.Context(), Change{Head: &h, Artifacts: [][]byte{make([]byte, 900)}}))
	}
	for most, want := range map[int]int{0: 5, 1: 1, 2999: 2, 3000: 3, 4000: 4, 5000: 5} {
		page, err := s.Tasks(t.Context(), Query{Limit: 5, Artifacts: true, Bytes: most})
		must(t, err)
		equal(t, []any{len(page.Tasks), page.More, page.Total}, []any{want, want < 5, 5})
	}
}
